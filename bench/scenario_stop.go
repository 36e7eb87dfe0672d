package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
)

// repeats is how often a sample does what it measures; its figures are those of them all.
const repeats = 5

// times adds the median and the longest of what was measured, in milliseconds.
func (v *sample) times(all []time.Duration) {
	if v.Extra == nil {
		v.Extra = map[string]float64{}
	}
	ms := make([]float64, len(all))
	for i, d := range all {
		ms[i] = float64(max(d, 0).Microseconds()) / 1000
	}
	v.Extra["p50 ms"], v.Extra["max ms"] = quantile(ms, 0.5), quantile(ms, 1)
	v.Value = v.Extra["p50 ms"]
}

func stopPostgres(ctx context.Context, l *testbed) (*sqlBox, error) {
	box, s, err := l.box(ctx)
	if err != nil {
		return nil, err
	}
	p, err := postbag.NewPublisher(s, postbag.PublisherOptions{Box: box})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &sqlBox{store: s, box: box, append: inTx[pgx.Tx](p), close: s.Close}, nil
}

// stopping stops a relay in the middle, again and again, and has the next one deliver
// what is left. A message is rejected, and one is for a topic that does not work, as
// long as no relay has been stopped with it in hand.
func stopping(open openBox) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (v sample, err error) {
		b, err := open(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, b.close()) }()
		to := &stopSink{}
		to.Destination = membroker.New(membroker.Options{Decide: to.decide})
		var took []time.Duration
		for i := range repeats {
			d, err := b.stopOnce(ctx, to, i)
			if err != nil {
				return sample{}, err
			}
			took = append(took, d)
		}
		v.times(took)
		v.Extra["duplicates"] = float64(to.Repeats())
		return v, nil
	}
}

// stopSink takes ten milliseconds for an answer, and does not take what is bad.
type stopSink struct {
	*membroker.Destination

	bad bool // set while no relay runs
}

func (s *stopSink) decide(m broker.Delivery, _ int) membroker.Act {
	switch n, _ := strconv.Atoi(string(m.Payload)); {
	case s.bad && n%stopMessages == badMessage:
		return membroker.Fail(broker.Rejected, "too large")
	case s.bad && n%stopMessages == badTopic:
		return membroker.Act{Err: &broker.Error{Outcome: broker.Misconfigured, Scope: broker.ScopeTopic, Err: errors.New("no stream stores it")}}
	}
	return membroker.Act{Delay: 10 * time.Millisecond}
}

// How many messages there are for each stop, and which of them are bad.
const (
	stopMessages = 20_000
	badMessage   = 30
	badTopic     = 77
)

// stopOnce measures one stop, with about 1,000 messages in flight.
func (b *sqlBox) stopOnce(ctx context.Context, to *stopSink, n int) (time.Duration, error) {
	msgs := make([]postbag.Message, stopMessages)
	for i := range msgs {
		msgs[i] = newMessage(i % 5000)
		msgs[i].Payload = strconv.AppendInt(nil, int64(n*stopMessages+i), 10)
		if i == badTopic {
			msgs[i].Topic = "bench.b"
		}
	}
	if err := b.append(ctx, msgs); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	to.bad = true
	r, stop, err := b.deliver(ctx, relay.Subscription{To: to})
	if err != nil {
		return 0, err
	}
	if err := to.WaitFor(ctx, n*stopMessages+stopMessages/5); err != nil {
		return 0, errors.Join(err, stop())
	}
	begun := time.Now()
	err = stop()
	took := time.Since(begun)
	if err == nil && !r.Stats().Graceful {
		err = errors.New("the relay has not given its leases back")
	}
	if err == nil && to.Len() >= (n+1)*stopMessages-2 {
		err = errors.New("all was delivered before the stop")
	}
	if err != nil {
		return 0, err
	}
	to.bad = false
	if _, stop, err = b.deliver(ctx, relay.Subscription{To: to}); err != nil {
		return 0, err
	}
	return took, errors.Join(to.WaitFor(ctx, (n+1)*stopMessages), stop())
}

// deliver starts a relay of a subscription; stop ends it gracefully, and returns when it
// has ended.
func (b *sqlBox) deliver(ctx context.Context, sub relay.Subscription) (r *relay.Relay, stop func() error, err error) {
	sub.Box, sub.Retry = b.box, relay.Retry{Min: 100 * time.Millisecond, Max: time.Second}
	return runRelay(ctx, b.store, sub, relay.Options{NoMaintenance: true})
}

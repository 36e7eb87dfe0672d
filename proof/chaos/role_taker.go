package chaos

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/proof/history"
)

// beConsumer takes messages in until ctx ends.
func beConsumer(ctx context.Context, job *Job, s Store, b Broker, log io.Writer) error {
	applier, applies := s.(Applier)
	taker, taken := b.(Taker)
	if !applies || !taken {
		return fmt.Errorf("chaos: %s has no method Consume, or %s no method Take; add them", s.Name(), b.Name())
	}
	opening, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	from, err := taker.Take(opening, job.To)
	if err != nil && ctx.Err() != nil {
		return nil // it was told to end before it had begun
	}
	if err != nil {
		return fmt.Errorf("chaos: the source is not opened: %w", err)
	}
	logger := slog.New(slog.NewTextHandler(log, nil))
	err = applier.Consume(ctx, job.From, &Consumption{Source: from, Logger: logger, clock: history.NewClock(job.Origin)})
	if err != nil && ctx.Err() != nil {
		logger.Warn("the end was not told to all", "err", err) // servers may be away: what they do not know comes again
		err = nil
	}
	return err
}

// sender is a process that publishes straight to the broker.
type sender struct {
	job    *Job
	to     broker.Destination
	events *events
}

// beSender publishes until ctx ends.
func beSender(ctx context.Context, job *Job, b Broker) (err error) {
	events, err := newEvents(job.History, job.Origin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, events.Close()) }()
	opening, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	to, err := b.Open(opening, job.To)
	if err != nil {
		return fmt.Errorf("chaos: the broker is not opened: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, to.Close(ctx))
	}()
	s := &sender{job: job, to: to, events: events}
	var all sync.WaitGroup
	for i := range writersOfAProducer {
		stream := uint64(job.Number*writersOfAProducer+i)<<32 | uint64(job.Life)
		all.Go(func() {
			s.send(ctx, fmt.Sprintf("p%dw%d-%d", job.Number, i, job.Life), rand.New(rand.NewPCG(job.Seed, stream)))
		})
	}
	all.Wait()
	return nil
}

// send publishes one message after another, numbered within their keys, which no other process uses: what a process that was killed
// had on its way may come at any time.
func (s *sender) send(ctx context.Context, name string, r *rand.Rand) {
	pace := time.Second * writersOfAProducer / time.Duration(s.job.Rate)
	next := map[string]int{}
	for at := time.Now(); ctx.Err() == nil; {
		key := fmt.Sprintf("%s-k%d", name, r.IntN(keysOfAWriter))
		if !s.one(ctx, fmt.Sprintf("%s/%d", key, next[key]), key, next[key]) {
			return
		}
		next[key]++
		if at = at.Add(pace); time.Since(at) > time.Second {
			at = time.Now() // what an outage kept back does not come in one rush
		}
		if Pause(ctx, time.Until(at)) != nil {
			return
		}
	}
}

// sendPatience is how long a message is tried that was begun before the end of the run.
const sendPatience = 40 * time.Second

// one publishes a message until the broker says that it has it, as a sender does that gets no answer: it may be there more than once,
// and always before the next one of its key. It returns false if the broker never said so.
func (s *sender) one(ctx context.Context, tx, key string, n int) bool {
	end := context.WithoutCancel(ctx)
	m := newMessage(s.job.Topic, key, n, tx, "")
	begin := s.events.clock.Now()
	s.events.intendOne(txOf(tx), 0, &m, begin, false)
	seq := int64(binary.BigEndian.Uint64(m.ID[8:]) >> 1) // no other message has it
	out := []broker.Delivery{{Message: m, Box: "chaos", Seq: seq, Attempt: 1, At: time.Now()}}
	for until := time.Now().Add(sendPatience); ; {
		attempt, cancel := context.WithTimeout(end, 10*time.Second)
		result := broker.Publish(attempt, s.to, out)[0]
		cancel()
		if result.Outcome == broker.Accepted {
			s.events.End(history.Outcome{Tx: txOf(tx), Fate: history.Committed, Begin: begin, End: s.events.clock.Now()})
			return true
		}
		if ctx.Err() != nil && time.Now().After(until) {
			return false
		}
		_ = Pause(end, 50*time.Millisecond) // it does not end
	}
}

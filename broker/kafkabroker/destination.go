package kafkabroker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/gate"
)

// Destination delivers to Kafka. It is safe for concurrent use.
type Destination struct {
	brokers []string
	options Options
	control *kgo.Client // asks, and sends nothing
	seen    *trouble
	topics  *topics
	pool    *pool
	calls   gate.Calls[*call]
	gather  gatherer
	lanes   lanes
}

var (
	_ broker.Destination   = (*Destination)(nil)
	_ broker.Prober        = (*Destination)(nil)
	_ broker.Transactional = (*Destination)(nil)
)

// Dial returns a destination over connections of its own, which Close closes.
// brokers is the address of one broker, or of several of one cluster with commas
// between ("kafka-1:9092,kafka-2:9092"); the others are found through them.
//
// A broker that is not there is no error: messages are Unavailable until it is. So
// is a login that is refused, with Misconfigured. An error means that brokers or
// options cannot be used, or that ctx is over.
func Dial(ctx context.Context, brokers string, o Options) (*Destination, error) {
	if err := errors.Join(o.Validate(), ValidBrokers(brokers)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d := &Destination{brokers: split(brokers), options: o.withDefaults(), seen: new(trouble)}
	var err error
	if d.control, err = kgo.NewClient(d.options.controlOptions(d.brokers, d.seen)...); err != nil {
		return nil, fmt.Errorf("kafkabroker: the client refuses the options: %w; check them", err)
	}
	d.pool = &pool{seen: d.seen, make: func() (*kgo.Client, error) {
		return kgo.NewClient(d.options.producerOptions(d.brokers, d.seen)...)
	}}
	ask := asking{d.control, d.seen}
	d.topics = &topics{ask: ask, create: d.options.Create, recheck: d.options.Recheck, renew: d.pool.renew}
	d.lanes = lanes{topics: topics{ask: ask, create: d.options.laneTopic(), recheck: d.options.Recheck, renew: func() {}}}
	d.gather = gatherer{d: d}
	return d, nil
}

// Publish implements broker.Destination. Messages are looked at here; the sending is
// done by a goroutine of its own, which ends with the call.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if len(msgs) == 0 {
		return
	}
	c := newCall(ctx, len(msgs), report)
	if ctx.Err() != nil {
		c.end(nil, errNotInTime())
		return
	}
	number, ok := d.calls.Begin(c)
	if !ok {
		c.end(nil, errClosed())
		return
	}
	defer d.calls.End(number)
	defer c.finish()
	items := d.prepare(ctx, c, msgs)
	over := c.over.Done()
	if len(items) > 0 {
		over = d.gather.send(c, items) // so that the next call finds the producer in the pool
	}
	select {
	case <-over:
	case <-ctx.Done():
		if c.end(d.errNoAnswer(), errNotInTime()) {
			d.suspect(items)
		}
	}
}

// prepare makes the records of a call. What cannot be sent gets its fate.
func (d *Destination) prepare(ctx context.Context, c *call, msgs []broker.Delivery) []*item {
	now := time.Now()
	made := newRecords(msgs)
	slab := make([]item, len(msgs))
	items := make([]*item, 0, len(msgs))
	look := lookup{d: d, now: now, nowhere: map[string]*broker.Error{}}
	failed := map[string]bool{} // keys
	for i := range msgs {
		m := &msgs[i]
		f := errBehind(failed, m.Key)
		if f == nil {
			f = look.aim(ctx, m)
		}
		var r *kgo.Record
		if f == nil {
			r = made.build(i, m, look.target, now, d.options.SendTime)
			f = look.fit(ctx, r, m)
		}
		if f != nil {
			if ctx.Err() != nil && f.Outcome != broker.Rejected {
				f = errNotInTime()
			}
			failed[m.Key] = m.Key != ""
			c.settle(i, result(f))
			continue
		}
		if m.Key == "" {
			r.Partition = look.anyPartition()
		}
		slab[i] = item{call: c, i: i, key: m.Key, record: r, target: look.target, size: recordSize(r)}
		items = append(items, &slab[i])
	}
	return items
}

// errBehind holds back what is behind an earlier failure of its key.
func errBehind(failed map[string]bool, key string) *broker.Error {
	if key == "" || !failed[key] {
		return nil
	}
	return failure(broker.NotSent, "an earlier message of its key was not accepted", "send it again after that one")
}

// lookup finds the topics of one call's messages.
type lookup struct {
	d       *Destination
	now     time.Time
	target  *target // of the last message
	spread  int32   // the partition of messages without a key, of target
	nowhere map[string]*broker.Error
	away    *broker.Error // no broker answered: they are not asked again by this call
}

// aim makes target the topic of m.
func (l *lookup) aim(ctx context.Context, m *broker.Delivery) *broker.Error {
	name, f := l.d.options.topic(m)
	if f != nil {
		return f
	}
	if l.target != nil && l.target.name == name {
		return nil
	}
	if f := l.nowhere[name]; f != nil {
		return f
	}
	if l.away != nil {
		return l.away
	}
	f = l.d.acquit(ctx, name)
	var t *target
	if f == nil {
		t, f = l.d.topics.find(ctx, name, l.now, l.d.options.Recheck)
	}
	if f != nil {
		if f.Scope == broker.ScopeDestination {
			l.away = f
		} else {
			l.nowhere[name] = f
		}
		return f
	}
	l.target, l.spread = t, -1
	return nil
}

// fit says why the topic would not take a record, by what is known of the topic
// since a moment ago; for a message that was refused before, since now: somebody
// may just have raised the limit for it.
func (l *lookup) fit(ctx context.Context, r *kgo.Record, m *broker.Delivery) *broker.Error {
	f := unfit(r, l.target)
	if f == nil {
		return nil
	}
	trust := min(refusalTrust, l.d.options.Recheck)
	if m.Attempt > 1 {
		trust = 0
	}
	t, f2 := l.d.topics.find(ctx, l.target.name, time.Now(), trust)
	if f2 != nil {
		l.target = nil
		return f2
	}
	if t.partitions != l.target.partitions && m.Key != "" {
		r.Partition = partitionOf(m.Key, t.partitions)
	}
	l.target = t
	return unfit(r, t)
}

// anyPartition is that of the call's messages without a key: one, so that they
// share batches.
func (l *lookup) anyPartition() int32 {
	if l.spread < 0 {
		l.spread = l.target.anyPartition()
	}
	return l.spread
}

// Features implements broker.Destination.
func (d *Destination) Features() broker.Features {
	return broker.Features{Ordered: true, Binding: broker.BindingKafka, Transactions: d.options.Transactions != nil}
}

// Close implements broker.Destination.
func (d *Destination) Close(ctx context.Context) error {
	return d.calls.Close(ctx, d.abandon, func() {
		d.gather.wait()
		d.lanes.closeAll()
		d.pool.close()
		d.pool.dying.Wait()
		d.control.Close()
	})
}

// abandon ends what a Close could not wait for.
func (d *Destination) abandon(calls []*call) {
	unknown := failure(broker.Unknown, "the destination was closed before the answer came", "send the message again")
	for _, c := range calls {
		c.end(unknown, errClosed())
	}
	d.pool.close()
}

// errNoAnswer is for messages that were sent; it says what is known to be wrong.
func (d *Destination) errNoAnswer() *broker.Error {
	if words := d.seen.words(); words != "" {
		return &broker.Error{Outcome: broker.Unknown, Err: fmt.Errorf("kafkabroker: no answer came before the context ended, for %s", words)}
	}
	return failure(broker.Unknown, "no answer came before the context ended", "look whether the partition has a leader and enough in-sync replicas")
}

// acquit looks at a topic whose messages had no answer: what is sent to a partition
// without a leader, or without enough replicas, waits with the client, and every
// message of its producer with it.
func (d *Destination) acquit(ctx context.Context, name string) *broker.Error {
	if !d.topics.suspected(name) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	f := d.topics.usable(ctx, name)
	if f == nil {
		d.topics.clear(name)
	}
	return f
}

// suspect has the topics of messages that had no answer looked at before the next.
func (d *Destination) suspect(items []*item) {
	last := ""
	for _, it := range items {
		if it.record.Topic != last {
			last = it.record.Topic
			d.topics.suspect(last)
		}
	}
}

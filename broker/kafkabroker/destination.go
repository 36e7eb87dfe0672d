package kafkabroker

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Destination delivers to Kafka. It is safe for concurrent use.
type Destination struct {
	brokers []string
	options Options
	control *kgo.Client // asks, and sends nothing
	seen    *trouble
	topics  *topics
	pool    *pool
	calls   brokerkit.Calls[*call]
	gather  gatherer
	lanes   lanes
}

var (
	_ broker.Destination   = (*Destination)(nil)
	_ broker.Prober        = (*Destination)(nil)
	_ broker.Transactional = (*Destination)(nil)
)

// Publish implements broker.Destination. Messages are looked at here; the sending is
// done by a goroutine of its own, which ends with the call.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if len(msgs) == 0 {
		return
	}
	c := newCall(ctx, msgs, report)
	if ctx.Err() != nil {
		c.End(nil, adapter.NotInTime())
		return
	}
	number, ok := d.calls.Begin(c)
	if !ok {
		c.End(nil, brokerkit.Closed())
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
		if c.End(d.errNoAnswer(), adapter.NotInTime()) {
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
			f = adapter.CheckProperties(properties, m.Headers)
		}
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
				f = adapter.NotInTime()
			}
			failed[m.Key] = m.Key != ""
			c.Answer(i, brokerkit.Result(f))
			continue
		}
		if _, named := partition(m); !named && m.Key == "" {
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
	return adapter.Failure(broker.NotSent, "an earlier message of its key was not accepted", "send it again after that one")
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
	unknown := adapter.Abandoned()
	for _, c := range calls {
		c.End(unknown, brokerkit.Closed())
	}
	d.pool.close()
}

// errNoAnswer is for messages that were sent; it says what is known to be wrong.
func (d *Destination) errNoAnswer() *broker.Error {
	if words := d.seen.words(); words != "" {
		return &broker.Error{Outcome: broker.Unknown, Err: fmt.Errorf("kafkabroker: no answer came before the context ended, for %s", words)}
	}
	if size := d.seen.size(); size > 0 {
		return adapter.Failure(broker.Unknown, fmt.Sprintf("brokers close the connection on requests of %d bytes", size),
			"raise their socket.request.max.bytes, send less, or lower Options.BatchBytes; with DescribeConfigs on the cluster this user is told the limit")
	}
	return adapter.Failure(broker.Unknown, "no answer came before the context ended", "look whether the partition has a leader and enough in-sync replicas")
}

// checkTopic looks at a topic whose messages had no answer: what is sent to a partition
// without a leader, or without enough replicas, waits with the client, and every
// message of its producer with it.
func (d *Destination) checkTopic(ctx context.Context, name string) *broker.Error {
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

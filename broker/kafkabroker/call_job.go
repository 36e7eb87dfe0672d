package kafkabroker

import (
	"context"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// job sends the messages of a call, or of some that share batches, with a producer
// of its own.
type job struct {
	d      *Destination
	ctx    context.Context //nolint:containedctx // done when all of its calls are over
	items  []*item
	calls  []*call
	done   chan struct{} // closed when it is over
	unwait func()        // ends its waiting for others

	// What failed for good: messages behind it are held back.
	keys   map[string]bool
	topics map[string]*broker.Error
}

// item is a message of a job.
type item struct {
	call   *call // nil in a transaction
	i      int   // in the call
	key    string
	record *kgo.Record
	target *target
	size   int
	err    error // of the record's promise
	done   bool  // accepted
}

// place is a partition of a topic.
type place struct {
	topic     string
	partition int32
}

func (i *item) place() place { return place{i.record.Topic, i.record.Partition} }

// run sends round after round. A job that was given up, since nobody waits for it
// any more, gives up its producer too.
func (j *job) run() {
	defer close(j.done)
	p, f := j.d.pool.take(j.ctx)
	if f != nil {
		j.end(f)
		return
	}
	j.keys, j.topics = map[string]bool{}, map[string]*broker.Error{}
	rest, healthy := j.items, true
	for len(rest) > 0 && healthy {
		var round []*item
		if round, rest = j.pick(rest, p); len(round) == 0 {
			continue // all of it was held back
		}
		var whole bool
		whole, healthy = j.round(p, round)
		if !whole {
			j.d.pool.drop(p)
			return
		}
	}
	if !healthy {
		j.d.pool.drop(p)
		j.end(adapter.Failure(broker.NotSent, "the producer failed before the message was sent", "send it again"))
		return
	}
	j.d.pool.give(p)
}

// end gives every message of the job that was not sent its fate.
func (j *job) end(f *broker.Error) {
	if j.ctx.Err() != nil {
		f = adapter.NotInTime()
	}
	for _, it := range j.items {
		it.call.Answer(it.i, brokerkit.Result(f))
	}
}

// pick takes what may go next: for each partition no more than one batch, and of
// each key nothing that would travel beside an earlier one in another batch. What
// is behind a failure is held back.
func (j *job) pick(queue []*item, p *producer) (round, rest []*item) {
	const later = -1
	load := map[place]int{}
	seen := make(map[string]place, len(queue))
	fresh := map[string]bool{} // topics the producer meets for the first time
	for _, it := range queue {
		if f := j.heldBack(it); f != nil {
			it.call.Answer(it.i, brokerkit.Result(f))
			continue
		}
		at := it.place()
		before, again := seen[it.key]
		full := load[at] > 0 && load[at]+it.size > min(j.d.seen.batch(j.d.options.BatchBytes), it.target.limit())
		if it.key != "" && again && before != at || full || fresh[at.topic] {
			if it.key != "" {
				seen[it.key] = place{partition: later}
			}
			rest = append(rest, it)
			continue
		}
		// Of a topic that it does not know the client sends records as they come.
		if !p.topics[at.topic] {
			fresh[at.topic] = true
		}
		if load[at] == 0 {
			load[at] = batchFrame
		}
		load[at] += it.size
		if it.key != "" {
			seen[it.key] = at
		}
		round = append(round, it)
	}
	return round, rest
}

// heldBack says why a message must not be sent after what failed.
func (j *job) heldBack(it *item) *broker.Error {
	if it.key != "" && j.keys[it.key] {
		return adapter.Failure(broker.NotSent, "an earlier message of its key was not accepted", "send it again after that one")
	}
	if j.topics[it.record.Topic] != nil {
		return adapter.Failure(broker.NotSent, "an earlier message of its topic showed that the topic is not usable", "send it again after that one")
	}
	return nil
}

// round sends messages, one batch a partition, and waits for the answers. It is not
// whole if nobody waits for them any more; the producer is not healthy if it must
// not be used again.
func (j *job) round(p *producer, round []*item) (whole, healthy bool) {
	if !j.send(p, round) {
		return false, false
	}
	healthy = true
	var again []*item
	for _, failed := range failures(round) {
		f := translateError(failed[0].err)
		switch {
		case f.Outcome == broker.Rejected && len(failed) > 1:
			again = append(again, failed...)
		case f.Outcome == broker.Rejected:
			j.fail(failed, f)
		default:
			healthy = false
			j.fail(failed, f)
			j.d.topics.forget(failed[0].record.Topic)
			if f.Outcome == broker.Misconfigured {
				j.topics[failed[0].record.Topic] = f
			}
		}
	}
	for _, it := range again {
		if f := j.heldBack(it); f != nil {
			it.call.Answer(it.i, brokerkit.Result(f))
			continue
		}
		if !healthy {
			it.call.Answer(it.i, brokerkit.Result(adapter.Failure(broker.NotSent, "the producer failed before the message was sent again", "send it again")))
			continue
		}
		if whole, healthy = j.round(p, []*item{it}); !whole {
			return false, false
		}
	}
	return true, healthy
}

// fail gives messages of one partition their fate.
func (j *job) fail(failed []*item, f *broker.Error) {
	for _, it := range failed {
		if it.key != "" {
			j.keys[it.key] = true
		}
		it.call.Answer(it.i, brokerkit.Result(f))
	}
}

// send sends messages and waits until each is answered, not if nobody waits for
// them any more.
func (j *job) send(p *producer, round []*item) bool {
	var out atomic.Int64 // not answered
	for _, it := range round {
		it.err = nil
		if it.call != nil && !it.call.Sending(it.i) {
			it.done = true
			continue // its call is over
		}
		out.Add(1)
		p.client.Produce(context.Background(), it.record, func(_ *kgo.Record, err error) {
			it.err, it.done = err, err == nil
			out.Add(-1)
			if err == nil && it.call != nil {
				it.call.Answer(it.i, broker.Result{Outcome: broker.Accepted})
			}
		})
	}
	// The job's context may be over because this round's last answer has come.
	if err := p.client.Flush(j.ctx); err != nil && out.Load() > 0 {
		return false
	}
	for _, it := range round {
		if it.done {
			p.topics[it.record.Topic] = true
		}
	}
	return true
}

// failures are the messages whose promise was an error, in order, by partition.
func failures(round []*item) [][]*item {
	var all [][]*item
	at := map[place]int{}
	for _, it := range round {
		if it.err == nil {
			continue
		}
		where := it.place()
		n, ok := at[where]
		if !ok {
			n = len(all)
			at[where] = n
			all = append(all, nil)
		}
		all[n] = append(all[n], it)
	}
	return all
}

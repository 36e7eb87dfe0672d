package kafkabroker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// lane implements broker.Lane: a transactional producer and its place in the topic
// of records.
type lane struct {
	d      *Destination
	name   string
	p      *producer
	target *target // of the topic of records
	at     place
	record []byte

	mu       sync.Mutex
	finished bool
}

// lanes are those that are open. The zero lanes is ready but for its topics.
type lanes struct {
	topics topics

	mu   sync.Mutex
	open map[*lane]bool
}

func (s *lanes) add(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*lane]bool{}
	}
	s.open[l] = true
}

func (s *lanes) remove(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, l)
}

func (s *lanes) closeAll() {
	s.mu.Lock()
	all := make([]*lane, 0, len(s.open))
	for l := range s.open {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		l.finish()
	}
}

// laneTopic is how the topic of records is created: in segments so small that they
// are soon compacted.
func (o Options) laneTopic() *Create {
	if o.Transactions == nil {
		return nil
	}
	return &Create{Partitions: 16, Replicas: o.Transactions.Replicas, Config: map[string]string{
		"cleanup.policy": "compact", "segment.bytes": strconv.Itoa(16 << 20), "min.cleanable.dirty.ratio": "0.1",
		"max.message.bytes": strconv.Itoa(broker.MaxRecord + 64<<10),
	}}
}

// OpenLane implements broker.Transactional. The name is the transactional id: the
// brokers fence and end what was begun under it before. A transaction of our own,
// which is aborted, then marks how far the topic of records must be read.
func (d *Destination) OpenLane(ctx context.Context, name broker.LaneName) (broker.Lane, error) {
	if !d.calls.Enter() {
		return nil, &broker.Error{Outcome: broker.Unavailable, Err: broker.ErrClosed}
	}
	defer d.calls.Leave()
	if d.options.Transactions == nil {
		return nil, adapter.Failure(broker.Misconfigured, "the destination has no transactions", "set Options.Transactions")
	}
	l, f := d.openLane(ctx, name.String())
	if f != nil { // the topic of records is that of the lane, and of no message
		return nil, &broker.Error{Outcome: brokerkit.NotSent(f).Outcome, Err: f.Err}
	}
	return l, nil
}

func (d *Destination) openLane(ctx context.Context, name string) (*lane, *broker.Error) {
	t, f := d.lanes.topics.find(ctx, d.options.Transactions.Topic, time.Now(), d.options.Recheck)
	switch {
	case f != nil:
		return nil, f
	case t.known && !t.compacted:
		return nil, adapter.Failure(broker.Misconfigured, "the topic of Options.Transactions is not compacted: it would forget", "set its cleanup.policy to compact")
	}
	client, err := kgo.NewClient(d.options.laneOptions(d.brokers, d.seen, min(d.topics.largestRequest(), d.lanes.topics.largestRequest()), name)...)
	if err != nil {
		return nil, adapter.Failure(broker.Misconfigured, "no client can be made ("+short(err)+")", "check the options")
	}
	l := &lane{
		d: d, name: name, target: t, at: place{t.name, partitionOf(name, t.partitions)},
		p: &producer{client: client, topics: map[string]bool{}},
	}
	d.lanes.add(l)
	if f := l.enter(ctx); f != nil {
		l.finish()
		return nil, l.ofRecords(f)
	}
	return l, nil
}

// ofRecords names the topic of records in an error about a record, and has it looked at
// again: it may have been deleted.
func (l *lane) ofRecords(f *broker.Error) *broker.Error {
	l.d.lanes.topics.forget(l.at.topic)
	return &broker.Error{Outcome: f.Outcome, Err: fmt.Errorf("%w (topic %q, which Options.Transactions names)", f.Err, l.at.topic)}
}

// enter fences predecessors and reads the record that the last of them left.
func (l *lane) enter(ctx context.Context) *broker.Error {
	if err := l.d.seen.ping(ctx, l.p.client); err != nil {
		return unanswered(err)
	}
	if _, _, err := l.p.client.ProducerID(ctx); err != nil {
		return unanswered(err)
	}
	end, f := l.mark(ctx)
	if f != nil {
		return f
	}
	record, f := l.readRecord(ctx, end)
	l.record = record
	return f
}

// mark writes a record and aborts it, and returns its offset.
func (l *lane) mark(ctx context.Context) (int64, *broker.Error) {
	if err := l.p.client.BeginTransaction(); err != nil {
		return 0, unanswered(err)
	}
	it := l.item([]byte{})
	if f := l.send(ctx, []*item{it}); f != nil {
		return 0, f
	}
	if it.err != nil {
		return 0, unanswered(it.err)
	}
	if err := l.p.client.EndTransaction(ctx, kgo.TryAbort); err != nil {
		return 0, unanswered(err)
	}
	return it.record.Offset, nil
}

// item makes a record of the lane's.
func (l *lane) item(value []byte) *item {
	r := &kgo.Record{Topic: l.at.topic, Partition: l.at.partition, Key: []byte(l.name), Value: value, Timestamp: time.Now()}
	return &item{key: "", record: r, target: l.target, size: recordSize(r)}
}

// readRecord returns the last committed record of the lane before an offset, nil if
// there is none. The record is mostly among the last of its partition: more and
// more of it is read until it is found.
func (l *lane) readRecord(ctx context.Context, end int64) ([]byte, *broker.Error) {
	for span := int64(64); ; span *= 16 {
		from := max(end-span, 0)
		record, found, err := l.readFrom(ctx, from, end)
		if err != nil {
			return nil, unanswered(err)
		}
		if found || from == 0 {
			return record, nil
		}
	}
}

// readFrom reads committed records from an offset up to the mark at end, and waits
// for transactions before it to be over.
func (l *lane) readFrom(ctx context.Context, from, end int64) (record []byte, found bool, err error) {
	reader, err := kgo.NewClient(l.d.options.readerOptions(l.d.brokers, l.d.seen, l.at.topic, l.at.partition, from)...)
	if err != nil {
		return nil, false, err
	}
	defer reader.Close()
	for reached := false; !reached; {
		fetched := reader.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil, false, errors.Join(ctx.Err(), fetched.Err())
		}
		fetched.EachRecord(func(r *kgo.Record) {
			reached = reached || r.Offset > end // the mark of the abort
			if r.Offset < end && !r.Attrs.IsControl() && string(r.Key) == l.name {
				record, found = r.Value, true
			}
		})
	}
	return record, found, nil
}

// Record implements broker.Lane.
func (l *lane) Record() []byte { return l.record }

// Close implements broker.Lane.
func (l *lane) Close(context.Context) error {
	l.finish()
	return nil
}

// finish gives up the lane and what is not committed on it, which the brokers abort
// when the lane is opened again, or after Options.Transactions.Timeout.
func (l *lane) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.finished {
		l.finished = true
		l.d.lanes.remove(l)
		l.d.pool.drop(l.p)
	}
}

func (l *lane) isFinished() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finished
}

// Commit implements broker.Lane.
func (l *lane) Commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, error) {
	if l.isFinished() || !l.d.calls.Enter() {
		return withhold(results, broker.ErrLane), broker.ErrLane
	}
	defer l.d.calls.Leave()
	outcome, f := l.commit(ctx, msgs, record, results)
	if f == nil {
		return outcome, nil
	}
	l.finish()
	return outcome, f
}

// withhold answers that nothing was sent.
func withhold(results []broker.Result, err error) broker.TxOutcome {
	for i := range results {
		results[i] = broker.Result{Outcome: broker.NotSent, Err: err}
	}
	return broker.Aborted
}

func (l *lane) commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, *broker.Error) {
	if ctx.Err() != nil {
		f := adapter.NotInTime()
		return withhold(results, f), f
	}
	if len(record) > broker.MaxRecord {
		f := adapter.Failure(broker.Misconfigured, "the lane's record has "+strconv.Itoa(len(record))+" bytes", "make smaller calls")
		return withhold(results, f), f
	}
	x := transaction{lane: l, results: results}
	c := newCall(ctx, msgs, func(i int, r broker.Result) { results[i] = r })
	defer c.finish()
	x.items = l.d.prepare(ctx, c, msgs)
	if len(x.items) < len(msgs) {
		return x.refused()
	}
	for _, it := range x.items {
		it.call = nil // what an answer says of a message counts only with the commit
	}
	x.record = l.item(append([]byte{}, record...))
	return x.run(ctx)
}

// send sends records within the open transaction, one batch a partition at a time,
// and none after a round in which one failed; the fate of each is with it. An error
// means that not all are answered.
func (l *lane) send(ctx context.Context, items []*item) *broker.Error {
	j := job{d: l.d, ctx: ctx}
	failed := func(it *item) bool { return it.err != nil }
	for rest := items; len(rest) > 0 && !slices.ContainsFunc(items, failed); {
		var round []*item
		round, rest = j.pick(rest, l.p)
		if !j.send(l.p, round) {
			return adapter.Failure(broker.Unavailable, "no answer came before the context ended", "look whether the partition has a leader and enough in-sync replicas")
		}
	}
	return nil
}

// fencedBy says that an error comes of somebody who opened the lane later.
func fencedBy(err error) bool { return errors.Is(err, kerr.ProducerFenced) }

package kafkabroker

import (
	"context"
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// transaction is one Commit at work.
type transaction struct {
	lane    *lane
	items   []*item // of the messages
	record  *item
	results []broker.Result
}

func errAbortedFor() *broker.Error {
	return adapter.Failure(broker.NotSent, "another message of the transaction was refused", "send this one again")
}

// run is the transaction.
func (x *transaction) run(ctx context.Context) (broker.TxOutcome, *broker.Error) {
	client := x.lane.p.client
	if err := client.BeginTransaction(); err != nil {
		return x.aborted(unanswered(err))
	}
	all := slices.Concat(x.items, []*item{x.record})
	if f := x.lane.send(ctx, all); f != nil {
		return x.aborted(f)
	}
	for _, it := range all {
		if it.err != nil {
			return x.abort(ctx, failures(all), it.err)
		}
	}
	// From here on the outcome may be known to the brokers alone.
	switch err := client.EndTransaction(ctx, kgo.TryCommit); {
	case err == nil:
		for i := range x.results {
			x.results[i] = broker.Result{Outcome: broker.Accepted}
		}
		return broker.Committed, nil
	case fencedBy(err):
		return broker.Fenced, errFenced()
	default:
		return broker.Unresolved, adapter.Failure(broker.Unknown, "whether the transaction was committed is not known ("+short(err)+")",
			"open the lane again and look at its record")
	}
}

func errFenced() *broker.Error {
	return adapter.Failure(broker.Unavailable, "somebody opened the lane later", "look whether the lease is still yours, and open it again")
}

// refused is for messages that were found to be unfit before anything was sent.
func (x *transaction) refused() (broker.TxOutcome, *broker.Error) {
	var fault, down *broker.Error
	for i := range x.results {
		var f *broker.Error
		if !errors.As(x.results[i].Err, &f) {
			continue
		}
		switch f.Outcome {
		case broker.Rejected, broker.Misconfigured:
			fault = f
		default:
			down = f
		}
	}
	if fault == nil {
		if down.Outcome == broker.NotSent {
			return withhold(x.results, down), down
		}
		return x.aborted(down)
	}
	for i := range x.results {
		if o := x.results[i].Outcome; o != broker.Rejected && o != broker.Misconfigured {
			x.results[i] = brokerkit.Result(errAbortedFor())
		}
	}
	return broker.Aborted, fault
}

// aborted is for a transaction that failed without the fault of a message: it was
// not committed, and is aborted at the latest when the lane is opened again.
func (x *transaction) aborted(f *broker.Error) (broker.TxOutcome, *broker.Error) {
	f = &broker.Error{Outcome: broker.Unavailable, Err: f.Err}
	for i := range x.results {
		x.results[i] = brokerkit.Result(f)
	}
	return broker.Aborted, f
}

// abort ends a transaction in which records failed, err being why the first of them
// did, and finds out whose fault it was.
func (x *transaction) abort(ctx context.Context, failed [][]*item, err error) (broker.TxOutcome, *broker.Error) {
	if fencedBy(err) {
		return broker.Fenced, errFenced()
	}
	abortErr := x.lane.p.client.EndTransaction(ctx, kgo.TryAbort)
	switch {
	case fencedBy(abortErr), errors.Is(err, kerr.InvalidProducerEpoch) && abortErr != nil:
		return broker.Fenced, errFenced()
	case abortErr != nil:
		return x.aborted(unanswered(abortErr))
	}
	faults := map[*item]*broker.Error{}
	for _, group := range failed {
		f := translateError(group[0].err)
		switch {
		case slices.Contains(group, x.record):
			return x.aborted(x.lane.ofRecords(f))
		case f.Outcome != broker.Rejected && f.Outcome != broker.Misconfigured:
			return x.aborted(f)
		case f.Outcome == broker.Misconfigured, len(group) == 1:
			for _, it := range group {
				faults[it] = f
			}
		default:
			if f := x.isolate(ctx, group, faults); f != nil {
				return x.aborted(f)
			}
		}
	}
	return x.blame(faults)
}

// isolate sends the records of a refused batch one by one, in a transaction that is
// aborted, to learn which of them the broker refuses.
func (x *transaction) isolate(ctx context.Context, group []*item, faults map[*item]*broker.Error) *broker.Error {
	client := x.lane.p.client
	if err := client.BeginTransaction(); err != nil {
		return unanswered(err)
	}
	for _, it := range group {
		it.err, it.done = nil, false
		if f := x.lane.send(ctx, []*item{it}); f != nil {
			return f
		}
		if it.err == nil {
			continue
		}
		f := translateError(it.err)
		if f.Outcome != broker.Rejected && f.Outcome != broker.Misconfigured {
			return f
		}
		faults[it] = f
	}
	if err := client.EndTransaction(ctx, kgo.TryAbort); err != nil {
		return unanswered(err)
	}
	if len(faults) == 0 {
		return adapter.Failure(broker.Unavailable, "the broker refused messages together that it takes one by one", "send them again")
	}
	return nil
}

// blame gives the messages at fault their answer, and the others theirs.
func (x *transaction) blame(faults map[*item]*broker.Error) (broker.TxOutcome, *broker.Error) {
	var first *broker.Error
	for _, it := range x.items {
		f := faults[it]
		if f == nil {
			x.results[it.i] = brokerkit.Result(errAbortedFor())
			continue
		}
		x.results[it.i] = brokerkit.Result(f)
		if first == nil {
			first = f
		}
		x.lane.d.topics.forget(it.record.Topic)
	}
	return broker.Aborted, first
}

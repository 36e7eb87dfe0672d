package brokertest_test

import (
	"context"
	"maps"

	"github.com/postbag/postbag/broker"
)

// spoiltLane is a lane whose methods can be replaced.
type spoiltLane struct {
	broker.Lane

	record func(broker.Lane) []byte
	commit func(l broker.Lane, ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, error)
}

func (l *spoiltLane) Record() []byte {
	if l.record != nil {
		return l.record(l.Lane)
	}
	return l.Lane.Record()
}

func (l *spoiltLane) Commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, error) {
	if l.commit != nil {
		return l.commit(l.Lane, ctx, msgs, record, results)
	}
	return l.Lane.Commit(ctx, msgs, record, results)
}

// wrongLanes are wrong in what they do with transactions.
func wrongLanes() map[string]wrong {
	all := map[string]wrong{}
	add := func(name string, l func(s *spoilt) spoiltLane, caught ...string) {
		all[name] = wrong{lanes: true, caught: caught, spoil: func(s *spoilt) {
			s.lane = func(inner broker.Lane) broker.Lane {
				out := l(s)
				out.Lane = inner
				return &out
			}
		}}
	}
	committing := func(change func(s *spoilt, msgs []broker.Delivery, results []broker.Result, o broker.TxOutcome, err error) (broker.TxOutcome, error)) func(s *spoilt) spoiltLane {
		return func(s *spoilt) spoiltLane {
			return spoiltLane{commit: func(l broker.Lane, ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, error) {
				o, err := l.Commit(ctx, msgs, record, results)
				return change(s, msgs, results, o, err)
			}}
		}
	}
	add("lets who was fenced commit", committing(func(s *spoilt, msgs []broker.Delivery, results []broker.Result, o broker.TxOutcome, err error) (broker.TxOutcome, error) {
		if o != broker.Fenced {
			return o, err
		}
		s.publish(context.Background(), msgs, results)
		return broker.Committed, nil
	}), "who opened a lane before cannot commit on it any more", "a lane is opened again and again, and the last one commits")
	add("stores some of what it aborts", committing(func(s *spoilt, msgs []broker.Delivery, _ []broker.Result, o broker.TxOutcome, err error) (broker.TxOutcome, error) {
		if o == broker.Aborted {
			s.publish(context.Background(), msgs, make([]broker.Result, len(msgs)))
		}
		return o, err
	}), "a message that is refused aborts the transaction, and is named", "a lane is finished once a transaction was not committed")
	add("does not name the message that it refused", committing(func(_ *spoilt, _ []broker.Delivery, results []broker.Result, o broker.TxOutcome, err error) (broker.TxOutcome, error) {
		for i := range results {
			if o == broker.Aborted {
				results[i].Outcome = broker.NotSent
			}
		}
		return o, err
	}), "a message that is refused aborts the transaction, and is named")
	add("says aborted where it does not know", committing(func(_ *spoilt, _ []broker.Delivery, results []broker.Result, o broker.TxOutcome, err error) (broker.TxOutcome, error) {
		if o == broker.Unresolved {
			for i := range results {
				results[i] = broker.Result{Outcome: broker.Unavailable, Err: err}
			}
			return broker.Aborted, err
		}
		return o, err
	}), "a commit whose answer is lost tells the truth by the next record")
	add("has no record", func(*spoilt) spoiltLane {
		return spoiltLane{record: func(broker.Lane) []byte { return nil }}
	}, "the last record is found by who opens the lane next", "a record alone can be committed")
	add("cuts a record", func(*spoilt) spoiltLane {
		return spoiltLane{record: func(l broker.Lane) []byte { return l.Record()[:min(len(l.Record()), 4096)] }}
	}, "a large record comes back as it was")
	return all
}

func allWrongs() map[string]wrong {
	all := wrongs()
	maps.Copy(all, wrongLanes())
	return all
}

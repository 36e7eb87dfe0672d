package membroker

import (
	"context"
	"errors"

	"github.com/postbag/postbag/broker"
)

// transaction is one Commit at work.
type transaction struct {
	lane    *txLane
	msgs    []broker.Delivery
	record  []byte
	call    int
	results []broker.Result
	tries   []int
	silence <-chan struct{} // after the commit; nil: none
}

var (
	errFenced  = errors.New("membroker: the lane was opened again by another; see whether the lease is still yours")
	errAborted = errors.New("membroker: another message of the transaction was refused; send this one again")
)

// decide asks what to do with each message, and waits where it is told to. It says
// whether ctx let it.
func (t *transaction) decide(ctx context.Context) bool {
	for i, m := range t.msgs {
		act, try := t.lane.d.state.decide(m)
		t.tries = append(t.tries, try)
		if !act.before(ctx) {
			return false
		}
		if act.Silence != nil {
			t.silence = act.Silence
		}
		if act.Err != nil {
			t.results[i] = broker.Result{Outcome: broker.OutcomeOf(act.Err), Scope: broker.ScopeOf(act.Err), Err: act.Err, After: act.After}
		}
	}
	return true
}

// ask counts the transaction and asks what to do with it.
func (t *transaction) ask() TxAct {
	s := t.lane.d.state
	tx := Tx{Lane: t.lane.name, Messages: len(t.msgs)}
	s.locked(func() {
		at := s.lanes[tx.Lane]
		at.sent++
		tx.Number = at.sent
	})
	if s.options.Transact == nil {
		return TxAct{}
	}
	return s.options.Transact(tx)
}

// end commits the transaction or aborts it.
func (t *transaction) end() (outcome broker.TxOutcome, err error) {
	s := t.lane.d.state
	s.locked(func() { outcome, err = t.store(s) })
	for i, m := range t.msgs {
		if outcome == broker.Committed || outcome == broker.Aborted {
			s.answered(m, t.tries[i], t.results[i])
		}
	}
	return outcome, err
}

// store is end, under the broker's lock.
func (t *transaction) store(s *state) (broker.TxOutcome, error) {
	at := s.lanes[t.lane.name]
	if at.epoch != t.lane.epoch && !s.options.Unfenced {
		return broker.Fenced, errFenced
	}
	if err := t.refusal(s); err != nil {
		return broker.Aborted, err
	}
	for i, m := range t.msgs {
		s.store(m, t.call)
		t.results[i] = broker.Result{Outcome: broker.Accepted}
	}
	at.record = t.record
	return broker.Committed, nil
}

// refusal says why the transaction is aborted, in all results; nil if it is not.
func (t *transaction) refusal(s *state) error {
	var fault, down error
	for i, m := range t.msgs {
		r := &t.results[i]
		if err := s.refusal(m); err != nil {
			*r = broker.Result{Outcome: err.Outcome, Scope: err.Scope, Err: err}
		}
		switch {
		case ownFault(r):
			fault = r.Err
		case r.Err != nil:
			down = r.Err
		}
	}
	if s.down {
		down = errDown
	}
	for i := range t.results {
		r := &t.results[i]
		switch {
		case ownFault(r):
		case fault != nil:
			*r = broker.Result{Outcome: broker.NotSent, Err: errAborted}
		case down != nil:
			*r = broker.Result{Outcome: broker.Unavailable, Err: down, After: r.After}
		}
	}
	return errors.Join(fault, down)
}

// ownFault says that a message failed for itself, or for its topic: the others of its
// transaction are sent again.
func ownFault(r *broker.Result) bool {
	return r.Outcome == broker.Rejected || r.Outcome == broker.Misconfigured || r.Scope == broker.ScopeTopic
}

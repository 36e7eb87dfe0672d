package membroker

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/postbag/postbag/broker"
)

// TxAct is what the broker does with one transaction. The zero TxAct commits it
// and says so. Its parts happen in this order: Hold, Drop or the commit, Silence or
// Lose, then the answer.
type TxAct struct {
	// Hold, unless nil, is waited for first. A transaction whose context ends
	// meanwhile is Unresolved, and still on its way: it is committed when Hold
	// closes, unless its lane was opened again by then.
	Hold <-chan struct{}
	// Drop loses the transaction on its way: Unresolved, not committed.
	Drop bool
	// Silence, unless nil, is waited for after the commit. A transaction whose
	// context ends in it is Unresolved, and committed.
	Silence <-chan struct{}
	// Lose loses the answer at once: Unresolved, and committed.
	Lose bool
}

// Tx is a transaction that Options.Transact is asked about.
type Tx struct {
	Lane broker.LaneName
	// Number counts, from one, the transactions that were sent on the lane.
	Number int
	// Messages is how many it has; none is a record alone.
	Messages int
}

// laneState is a lane at the broker.
type laneState struct {
	epoch  int // of who may commit
	sent   int
	record []byte
}

// txLane is a client's right to commit on a lane.
type txLane struct {
	d      *Destination
	name   broker.LaneName
	epoch  int
	record []byte

	mu       sync.Mutex
	finished bool
}

var errDropped = errors.New("membroker: the answer was lost; open the lane again and look at its record")

// OpenLane implements broker.Transactional.
func (d *Destination) OpenLane(ctx context.Context, name broker.LaneName) (broker.Lane, error) {
	if err := d.Probe(ctx); err != nil {
		return nil, err
	}
	if !d.state.options.Transactions {
		return nil, &broker.Error{Outcome: broker.Misconfigured, Err: errors.New("membroker: it has no transactions; set Options.Transactions")}
	}
	l := &txLane{d: d, name: name}
	d.state.locked(func() {
		at := d.state.lanes[name]
		if at == nil {
			at = &laneState{}
			d.state.lanes[name] = at
		}
		at.epoch++
		l.epoch, l.record = at.epoch, at.record
	})
	return l, nil
}

// Record implements broker.Lane.
func (l *txLane) Record() []byte { return l.record }

// Close implements broker.Lane.
func (l *txLane) Close(context.Context) error {
	l.finish()
	return nil
}

func (l *txLane) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished = true
}

func (l *txLane) isFinished() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finished
}

// Commit implements broker.Lane.
func (l *txLane) Commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, error) {
	if l.isFinished() || !l.d.guard.Enter() {
		return withhold(results, broker.ErrLane), broker.ErrLane
	}
	defer l.d.guard.Leave()
	outcome, err := l.commit(ctx, msgs, record, results)
	if outcome != broker.Committed {
		l.finish()
	}
	return outcome, err
}

// withhold answers that nothing was sent.
func withhold(results []broker.Result, err error) broker.TxOutcome {
	for i := range results {
		results[i] = broker.Result{Outcome: broker.NotSent, Err: err}
	}
	return broker.Aborted
}

func (l *txLane) commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, error) {
	if ctx.Err() != nil {
		return withhold(results, errLate), errLate
	}
	s := l.d.state
	t := transaction{lane: l, msgs: copied(msgs), record: bytes.Clone(record), call: s.begin(), results: make([]broker.Result, len(msgs))}
	if !t.decide(ctx) {
		return withhold(results, errLate), errLate
	}
	act := t.ask()
	if !await(ctx, act.Hold) {
		go func() { // it is on its way, whatever became of its sender
			<-act.Hold
			_, _ = t.end() // nobody hears of it
		}()
		return broker.Unresolved, errNoReply
	}
	if act.Drop {
		return broker.Unresolved, errDropped
	}
	outcome, err := t.end()
	if outcome == broker.Committed && (act.Lose || !await(ctx, act.Silence) || !await(ctx, t.silence)) {
		return broker.Unresolved, errDropped
	}
	copy(results, t.results)
	return outcome, err
}

// copied returns messages that share nothing with those of the caller.
func copied(msgs []broker.Delivery) []broker.Delivery {
	out := make([]broker.Delivery, len(msgs))
	for i := range msgs {
		out[i] = record(msgs[i], msgs[i].At, 0).Delivery
	}
	return out
}

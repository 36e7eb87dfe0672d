package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/failpoint"
	"github.com/postbag/postbag/store"
)

// entry is the way into a lane, made by one goroutine at a time: see step 2 to 5
// of docs/design/030-exactly-once.md.
type entry struct {
	store store.Store
	to    broker.Transactional
	name  broker.LaneName
	ctx   context.Context //nolint:containedctx // of this life of the lane

	lane    broker.Lane
	known   marks
	shards  []store.ShardState
	blocked [][]uint64
	behind  bool // the database lost settlements
	trouble *atomic.Pointer[error]
}

// errStore marks an error of the store.
var errStore = errors.New("the store failed")

// enter makes us the only one who can commit on the lane, and learns what is in the
// broker and not settled. expected is the record of a transaction whose fate is
// unknown: it was committed if the lane has it; nil otherwise. A lane in hand is
// kept: then only the blocked keys are read.
func (e *entry) enter(expected []byte) error {
	if e.lane == nil {
		if err := e.ask(); err != nil {
			return err
		}
		if err := e.open(); err != nil {
			return err
		}
		err := e.ask()
		if err == nil {
			err = e.learn(expected)
		}
		if err != nil {
			e.drop()
		}
		return err
	}
	return e.ask()
}

// ask makes sure that the leases stand, and reads the blocked keys.
func (e *entry) ask() error {
	ctx, cancel := context.WithTimeout(e.ctx, storeTimeout)
	defer cancel()
	blocked, errs := blockedKeys(ctx, e.store, e.shards)
	for _, err := range errs {
		switch {
		case errors.Is(err, store.ErrLeaseLost):
			return err
		case err != nil:
			return fmt.Errorf("%w: %w", errStore, err)
		}
	}
	e.blocked = blocked
	return nil
}

func (e *entry) open() (err error) {
	ctx, cancel := context.WithTimeout(e.ctx, storeTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = errPanic(v)
		}
	}()
	e.lane, err = e.to.OpenLane(ctx, e.name)
	if err != nil {
		e.lane = nil
	}
	return err
}

// drop closes the lane: it is finished, or not ours.
func (e *entry) drop() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), laneCloseTimeout)
	defer cancel()
	_ = e.lane.Close(ctx) // whoever opens it next ends what is left
	e.lane, e.known = nil, nil
}

// learn reads the record. What is not settled as far as versions say is written
// into a record that holds whatever they say, before anything is settled.
func (e *entry) learn(expected []byte) error {
	raw := e.lane.Record()
	r, err := decodeLaneRecord(raw)
	if err != nil {
		return &broker.Error{Outcome: broker.Misconfigured, Err: err}
	}
	if expected != nil && bytes.Equal(raw, expected) {
		e.known = r.carried
		return nil
	}
	leases := make([]store.Lease, len(e.shards))
	for i := range e.shards {
		leases[i] = e.shards[i].Lease
	}
	known, carry, behind := r.recall(leases)
	known.trim()
	e.known, e.behind = known, behind
	if !carry {
		return nil
	}
	carried := laneRecord{carried: known}
	ctx, cancel := context.WithTimeout(e.ctx, storeTimeout)
	defer cancel()
	outcome, err := e.commit(ctx, nil, carried.encode(), nil)
	if outcome == broker.Committed {
		return nil
	}
	if err == nil {
		err = errors.New("relay: the record of an exactly-once lane was not written: " + outcome.String())
	}
	return err
}

// commit is the lane's Commit; one that panics is Unresolved.
func (e *entry) commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (outcome broker.TxOutcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			outcome, err = broker.Unresolved, errPanic(v)
		}
	}()
	if err := failpoint.Hit("relay/publish/before"); err != nil {
		return broker.Unresolved, err
	}
	outcome, err = e.lane.Commit(ctx, msgs, record, results)
	if hit := failpoint.Hit("relay/publish/after"); hit != nil {
		return broker.Unresolved, hit // as if the answer were lost
	}
	return outcome, err
}

// transaction is a call to the destination at work.
type transaction struct {
	*entry

	leases  []engine.Lease
	items   []engine.Item
	timeout time.Duration
}

// run brings the call to its results. An error says that the lane is not ours any
// more, so that all in hand must be dropped.
func (t *transaction) run(room *callRoom) error {
	if t.lane == nil {
		err := t.enter(nil)
		switch {
		case errors.Is(err, store.ErrLeaseLost):
			all(room.results, broker.NotSent, err)
			return err
		case err != nil:
			all(room.results, outcomeOf(err), err)
			return nil
		}
	}
	record := newLaneRecord(t.leases, t.items, t.known)
	encoded := record.encode()
	send, results, at := t.unknown(room)
	ctx, cancel := context.WithTimeout(t.ctx, t.timeout)
	defer cancel()
	outcome, err := t.commit(ctx, send, encoded, results)
	switch outcome {
	case broker.Committed:
		t.committed(room, record.carried)
		return nil
	case broker.Aborted:
		t.drop()
		aborted(room, results, at, err)
		return nil
	default:
		return t.resolve(room, encoded, err)
	}
}

// outcomeOf classes an error of entering a lane: nothing was sent.
func outcomeOf(err error) broker.Outcome {
	if broker.OutcomeOf(err) == broker.Misconfigured {
		return broker.Misconfigured
	}
	return broker.Unavailable
}

func all(results []broker.Result, outcome broker.Outcome, err error) {
	for i := range results {
		results[i] = broker.Result{Outcome: outcome, Err: err}
	}
}

// unknown returns the messages that are not known to be in the broker, and where
// each stands in the call.
func (t *transaction) unknown(room *callRoom) (send []broker.Delivery, results []broker.Result, at []int) {
	for i := range room.msgs {
		m := t.items[i].Tag.(*store.Record) //nolint:forcetypeassert,errcheck // put there by message
		if sum, known := t.known[t.items[i].Seq]; !known || sum != sumOf(m) {
			send, at = append(send, room.msgs[i]), append(at, i)
		}
	}
	return send, make([]broker.Result, len(send)), at
}

func (t *transaction) committed(room *callRoom, known marks) {
	t.known = known
	all(room.results, broker.Accepted, nil)
}

// aborted takes the results of a transaction of which nothing was stored.
func aborted(room *callRoom, results []broker.Result, at []int, err error) {
	all(room.results, broker.NotSent, err)
	for k, i := range at {
		switch r := results[k]; r.Outcome {
		case broker.Rejected, broker.Misconfigured, broker.Unavailable:
			room.results[i] = r
		case broker.Unknown, broker.Accepted, broker.NotSent:
		}
	}
}

// resolve finds out what became of a transaction: the lane is entered again, and
// its record tells. The call stays out until then, so that nothing is settled.
func (t *transaction) resolve(room *callRoom, record []byte, cause error) error {
	t.drop()
	if cause == nil {
		cause = errors.New("relay: the fate of a transaction is unknown")
	}
	for attempt := 1; ; attempt++ {
		err := t.enter(record)
		switch {
		case errors.Is(err, store.ErrLeaseLost):
			all(room.results, broker.Unknown, err)
			return err
		case err == nil && bytes.Equal(t.lane.Record(), record):
			t.committed(room, t.known)
			return nil
		case err == nil:
			all(room.results, broker.Unavailable, cause)
			return nil
		}
		t.trouble.Store(&err)
		select {
		case <-t.ctx.Done():
			all(room.results, broker.Unknown, cause)
			return t.ctx.Err()
		case <-time.After(storeBackoff(attempt)):
		}
	}
}

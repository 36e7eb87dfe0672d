package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/failpoint"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// entry is the way into a lane, made by one goroutine at a time: lane.Entry says
// step by step what is to be done.
type entry struct {
	way lane.Entry

	store store.Store
	to    broker.Transactional
	name  broker.LaneName
	ctx   context.Context //nolint:containedctx // of this life of the lane

	lane    broker.Lane
	shards  []store.ShardState
	blocked []store.Blocks
	err     error // of the last step that failed
	trouble *atomic.Pointer[error]
}

// errStore marks an error of the store.
var errStore = errors.New("the store failed")

// enter makes us the only one who can commit on the lane, and learns what is in the
// broker and not settled.
func (e *entry) enter() error {
	for do := e.way.Enter(nil); ; {
		switch do {
		case lane.Commit:
			do = e.way.Committed(e.carry(e.way.Record()))
		case lane.Over, lane.Pause:
			if e.way.Entered {
				return nil
			}
			return e.failed()
		default:
			do = e.step(&e.way, do)
		}
	}
}

// course is what both a lane.Entry and a lane.Transaction are told.
type course interface {
	Asked(l lane.Leases) lane.Do
	Opened(record []byte, ok bool) lane.Do
	Dropped() lane.Do
}

// step does one of the steps that entries and transactions have in common.
func (e *entry) step(way course, do lane.Do) lane.Do {
	switch do {
	case lane.Ask:
		return way.Asked(e.ask())
	case lane.Open:
		if e.err = e.open(); e.err != nil {
			return way.Opened(nil, false)
		}
		return way.Opened(e.lane.Record(), true)
	default:
		e.drop()
		return way.Dropped()
	}
}

// failed is why a try failed.
func (e *entry) failed() error {
	if err := e.way.Err; err != nil {
		return &broker.Error{Outcome: broker.Misconfigured, Err: err}
	}
	return e.err
}

// ask makes sure that the leases stand, and reads the blocked keys.
func (e *entry) ask() lane.Leases {
	ctx, cancel := context.WithTimeout(e.ctx, storeTimeout)
	defer cancel()
	blocked, errs := blockedKeys(ctx, e.store, e.shards)
	for _, err := range errs {
		switch {
		case errors.Is(err, store.ErrLeaseLost):
			e.err = err
			return lane.Gone
		case err != nil:
			e.err = fmt.Errorf("%w: %w", errStore, err)
			return lane.NoAnswer
		}
	}
	e.blocked = blocked
	return lane.Valid
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
	_ = e.lane.Close(ctx) // the next owner ends what is left
	e.lane = nil
}

// carry writes a record alone.
func (e *entry) carry(record []byte) broker.TxOutcome {
	ctx, cancel := context.WithTimeout(e.ctx, storeTimeout)
	defer cancel()
	outcome, err := e.commit(ctx, nil, record, nil)
	if outcome != broker.Committed && err == nil {
		err = errors.New("relay: the record of an exactly-once lane was not written: " + outcome.String())
	}
	e.err = err
	return outcome
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

	course  *lane.Transaction
	timeout time.Duration
	cause   error // of a commit that did not stand
	at      []int // which items were sent
	results []broker.Result
}

func newTransaction(e *entry, items []engine.Item, timeout time.Duration) *transaction {
	marked := make([]lane.Item, len(items))
	for i, item := range items {
		marked[i] = lane.Item{Seq: item.Seq, Slot: item.Slot, Sum: binary.BigEndian.Uint64(item.ID[8:])}
	}
	return &transaction{entry: e, course: lane.NewTransaction(&e.way, marked), timeout: timeout}
}

// run brings the call to its results. lost: the lane is not ours any more, so that
// all in hand must be dropped.
func (t *transaction) run(room *callRoom) (lost bool) {
	c := t.course
	attempt := 0
	for do := c.Start(); do != lane.Over; {
		switch do {
		case lane.Commit:
			if c.Messages() {
				do = c.Committed(t.send(room))
			} else {
				do = c.Committed(t.carry(c.Record()))
			}
		case lane.Pause:
			attempt++
			do = c.Paused(t.pause(attempt))
		default:
			do = t.step(c, do)
		}
	}
	t.answer(room)
	return c.Dropping()
}

// answer fills in the results.
func (t *transaction) answer(room *callRoom) {
	switch t.course.End {
	case lane.Answered:
		all(room.results, broker.Accepted, nil)
	case lane.Refused:
		aborted(room, t.results, t.at, t.cause)
	case lane.Undone:
		all(room.results, broker.Unavailable, t.cause)
	case lane.NotEntered:
		err := t.failed()
		all(room.results, outcomeOf(err), err)
	case lane.Disowned:
		all(room.results, broker.NotSent, t.failed())
	case lane.Lost:
		all(room.results, broker.Unknown, t.cause)
	}
}

// send commits the messages that are not known to be in the broker.
func (t *transaction) send(room *callRoom) broker.TxOutcome {
	var msgs []broker.Delivery
	for i := range room.msgs {
		if t.course.Sends(i) {
			msgs, t.at = append(msgs, room.msgs[i]), append(t.at, i)
		}
	}
	t.results = make([]broker.Result, len(msgs))
	ctx, cancel := context.WithTimeout(t.ctx, t.timeout)
	defer cancel()
	outcome, err := t.commit(ctx, msgs, t.course.Record(), t.results)
	t.cause = err
	if err == nil && outcome != broker.Aborted {
		t.cause = errors.New("relay: the fate of a transaction is unknown")
	}
	return outcome
}

// pause waits before the lane is entered again; over: nobody waits for it any more.
func (t *transaction) pause(attempt int) (over bool) {
	if err := t.failed(); !gaveUp(t.ctx) {
		t.trouble.Store(&err)
	}
	select {
	case <-t.ctx.Done():
		return true
	case <-time.After(core.Backoff(attempt, rand.Float64())):
		return false
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

package relay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/failpoint"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// laneWork makes the steps of a course on a real store and a real lane, in one goroutine at
// a time.
type laneWork struct {
	course *core.Course

	store store.Store
	to    broker.Transactional
	name  broker.LaneName
	ctx   context.Context //nolint:containedctx // of this life of the lane

	lane    broker.Lane
	blocked []store.Blocks
	err     error // of the last step that failed
	trouble *atomic.Pointer[error]

	// Of a call to the destination.
	timeout time.Duration
	room    *callRoom
	spent   spent
	cause   error // of a commit that did not stand
	at      []int // which messages were sent
	results []broker.Result
}

// run makes the steps, to the end.
func (w *laneWork) run() {
	c := w.course
	for do := c.Start(); do != lane.Over; {
		switch do {
		case lane.Ask:
			w.err = w.ask()
			do = c.Asked(w.err)
		case lane.Open:
			if w.err = w.open(); w.err != nil {
				do = c.Opened(nil, false)
			} else {
				do = c.Opened(w.lane.Record(), true)
			}
		case lane.Commit:
			if c.Messages() {
				do = c.Committed(w.send())
			} else {
				do = c.Committed(w.carry())
			}
		case lane.Drop:
			w.drop()
			do = c.Dropped()
		case lane.Pause:
			do = c.Paused(w.pause())
		case lane.Over:
		}
	}
}

// ask makes sure that the leases stand, and reads the blocked keys.
func (w *laneWork) ask() error {
	ctx, cancel := context.WithTimeout(w.ctx, storeTimeout)
	defer cancel()
	leases := w.course.Leases()
	shards := make([]store.ShardState, len(leases))
	for i := range leases {
		shards[i].Lease = leases[i]
	}
	blocked, errs := blockedKeys(ctx, w.store, shards)
	for _, err := range errs {
		switch {
		case errors.Is(err, store.ErrLeaseLost):
			return err
		case err != nil:
			return fmt.Errorf("the store failed: %w", err)
		}
	}
	w.blocked = blocked
	return nil
}

func (w *laneWork) open() (err error) {
	ctx, cancel := context.WithTimeout(w.ctx, storeTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = errPanic(v)
		}
	}()
	w.lane, err = w.to.OpenLane(ctx, w.name)
	if err != nil {
		w.lane = nil
	}
	return err
}

// drop closes the lane: it is finished, or not ours.
func (w *laneWork) drop() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), laneCloseTimeout)
	defer cancel()
	_ = w.lane.Close(ctx) // the next owner ends what is left
	w.lane = nil
}

// carry writes a record alone.
func (w *laneWork) carry() broker.TxOutcome {
	ctx, cancel := context.WithTimeout(w.ctx, storeTimeout)
	defer cancel()
	outcome, err := w.commit(ctx, nil, w.course.Record(), nil)
	if outcome != broker.Committed && err == nil {
		err = errors.New("relay: the record of an exactly-once lane was not written: " + outcome.String())
	}
	w.err = err
	return outcome
}

// send commits the messages that are not known to be in the broker.
func (w *laneWork) send() broker.TxOutcome {
	w.at = w.course.Sends()
	msgs := make([]broker.Delivery, len(w.at))
	for k, i := range w.at {
		msgs[k] = w.room.msgs[i]
	}
	w.results = make([]broker.Result, len(msgs))
	ctx, cancel := context.WithTimeout(w.ctx, w.timeout)
	defer cancel()
	outcome, err := w.commit(ctx, msgs, w.course.Record(), w.results)
	w.cause = err
	if err == nil && outcome != broker.Aborted {
		w.cause = errors.New("relay: the fate of a transaction is unknown")
	}
	return outcome
}

// commit is the lane's Commit; one that panics is Unresolved.
func (w *laneWork) commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (outcome broker.TxOutcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			outcome, err = broker.Unresolved, errPanic(v)
		}
	}()
	if err := failpoint.Hit("relay/publish/before"); err != nil {
		return broker.Unresolved, err
	}
	outcome, err = w.lane.Commit(ctx, msgs, record, results)
	if hit := failpoint.Hit("relay/publish/after"); hit != nil {
		return broker.Unresolved, hit // as if the answer were lost
	}
	return outcome, err
}

// pause waits before the lane is entered again; over: nobody waits for it any more.
func (w *laneWork) pause() (over bool) {
	if err := w.course.Why(w.err); !gaveUp(w.ctx) {
		w.trouble.Store(&err)
	}
	select {
	case <-w.ctx.Done():
		return true
	case <-time.After(w.course.Pause(rand.Float64())):
		return false
	}
}

// answer fills in the results of a call.
func (w *laneWork) answer() {
	why := w.cause
	if !w.course.Sent() {
		why = w.course.Why(w.err)
	}
	outcome := w.course.Outcome(why)
	if outcome == broker.Accepted {
		why = nil
	}
	for i := range w.room.results {
		w.room.results[i] = broker.Result{Outcome: outcome, Err: why}
	}
	for k, i := range w.at {
		if w.course.Own(w.results[k].Outcome) {
			w.room.results[i] = w.results[k]
		}
	}
}

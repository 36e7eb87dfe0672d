package operations

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

const (
	// operationLease is how long a worker has an operation without a sign of life.
	operationLease = 30 * time.Second
	// renewAfter is how long a worker waits until it makes the lease longer.
	renewAfter = 10 * time.Second
	// lookAgain is how often a worker looks whether a pause is over.
	lookAgain = 500 * time.Millisecond
	// callTime is how long a call of the store may take.
	callTime = time.Minute
	// lastWords is how long a worker tries to leave an operation in good order.
	lastWords = 5 * time.Second
)

// Work works a long operation in this process, under its lease. It is safe for concurrent use, except that you call Do once.
type Work struct {
	store  Store
	id     store.OperationID
	audit  store.Audit
	worker string
	// OnProgress hears of each step, and of the begin and the end of each pause and wait, in the goroutine of Do. Optional; set it
	// before Do.
	OnProgress func(Progress)
	// Stays: the operation goes on to run when the context of Do ends, for another process, and Do ends in a pause. False: it is paused
	// when the context ends, and Do waits for the end of a pause. Set it before Do.
	Stays bool

	looks   chan struct{} // has a value if the record may have changed
	mu      sync.Mutex
	at      Progress
	claim   store.OperationClaim
	renewed time.Time
	trouble trouble
}

// Work prepares to work an operation. a says who does it, and why. worker names the process.
func (s Store) Work(id store.OperationID, a store.Audit, worker string) *Work {
	return &Work{store: s, id: id, audit: a, worker: worker, looks: make(chan struct{}, 1)}
}

// Toggle pauses the operation, or ends its pause, and says how it is then.
func (w *Work) Toggle(ctx context.Context) (Progress, error) {
	o, err := w.store.Bookkeeper.Operation(ctx, w.id)
	if err != nil {
		return Progress{}, err
	}
	to := store.OperationPaused
	if o.State == store.OperationPaused {
		to = store.OperationRunning
	}
	if err := w.store.setOperation(ctx, w.audit, w.id, to); err != nil {
		return progressOf(&o), err
	}
	select {
	case w.looks <- struct{}{}:
	default:
	}
	o, err = w.store.Bookkeeper.Operation(ctx, w.id)
	return progressOf(&o), err
}

func progressOf(o *store.Operation) Progress {
	p := Progress{Chosen: int(o.Matched), Handled: int(o.At), Changed: int(o.Changed), Paused: o.State == store.OperationPaused}
	if o.Of == store.StateScheduled {
		p.Done = int(o.Given)
	} else {
		p.Queued = int(o.Given)
	}
	return p
}

// Do gives the command to the messages that are left, some at a time, until the last one, or until somebody cancels the operation. An
// operation that another process works is store.ErrOperationHeld. If ctx ends, the operation is paused, unless Stays is set. Do tries
// again after an error of the store that may pass by itself: see Progress.Trouble.
func (w *Work) Do(ctx context.Context) (Progress, error) {
	if err := ValidAudit(w.audit); err != nil {
		return Progress{}, err
	}
	if w.store.Bookkeeper == nil {
		return Progress{}, errNoBookkeeper()
	}
	o, err := w.take(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil && !w.Stays && passes(err) && !errors.Is(err, store.ErrOperationHeld):
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		return Progress{}, w.pause(ctx, err)
	default:
		return Progress{}, noOperation(w.id, err)
	}
	w.claim, w.renewed = store.OperationClaim{ID: w.id, Token: o.Token, Lease: operationLease, Of: o.Of}, time.Now()
	w.tell(&o, false)
	o, err = w.steps(ctx, o)
	at := progressOf(&o)
	if err != nil {
		return at, w.leave(ctx, &o, err)
	}
	v := operationOf(&o, time.Now())
	return at, v.Err()
}

// steps works until the operation is over. It returns the record as it saw it last.
func (w *Work) steps(ctx context.Context, o store.Operation) (store.Operation, error) {
	pace := &Run{Rate: o.Rate, preview: &Preview{Choice: Choice{Query: store.Query{State: o.Of}}}}
	next := pace.pace()
	for {
		seen := o
		var err error
		switch {
		case o.State == store.OperationPaused && w.Stays:
			return o, w.release(ctx, "")
		case o.State == store.OperationRunning:
			n := pace.size(int(o.Matched - o.At))
			if err = sleep(ctx, next(n)); err == nil {
				seen, err = w.step(ctx, o, n)
			}
		case o.State == store.OperationPaused:
			seen, err = w.wait(ctx, o)
		default:
			return o, nil
		}
		switch err {
		case nil:
			w.trouble.over()
		default:
			seen, err = w.again(ctx, o, err)
		}
		if o = seen; err != nil {
			return o, err
		}
	}
}

// step makes one step. While too many commands wait for relays, it waits too.
func (w *Work) step(ctx context.Context, o store.Operation, n int) (store.Operation, error) {
	seen, err := w.give(ctx, o.At, n, "")
	if err == nil {
		w.tell(&seen, false)
		return seen, nil
	}
	if !errors.Is(err, store.ErrTooManyCommands) {
		return o, err
	}
	w.tell(&o, true)
	if err := sleep(ctx, askAgain); err != nil {
		return o, err
	}
	return w.renew(ctx, o, "it waits until relays have carried out what is queued")
}

// wait waits a little in a pause, and looks whether it is over.
func (w *Work) wait(ctx context.Context, o store.Operation) (store.Operation, error) {
	select {
	case <-ctx.Done():
		return o, ctx.Err()
	case <-w.looks:
	case <-time.After(lookAgain):
	}
	call, done := context.WithTimeout(ctx, callTime)
	defer done()
	seen, err := w.store.Bookkeeper.Operation(call, w.id)
	if err != nil {
		return o, err
	}
	if seen, err = w.renew(ctx, seen, ""); err == nil {
		w.tell(&seen, false)
	}
	return seen, err
}

// renew makes the lease longer, when it is time to.
func (w *Work) renew(ctx context.Context, o store.Operation, trouble string) (store.Operation, error) {
	if time.Since(w.renewed) < renewAfter {
		return o, nil
	}
	seen, err := w.give(ctx, o.At, 0, trouble)
	if err != nil {
		return o, err
	}
	return seen, nil
}

// give is a step of the store. It has a bounded time: a connection that hangs must not keep the operation from another process.
func (w *Work) give(ctx context.Context, from int64, n int, trouble string) (store.Operation, error) {
	ctx, done := context.WithTimeout(ctx, callTime)
	defer done()
	claim := w.claim
	claim.Trouble = trouble
	o, err := w.store.Bookkeeper.StepOperation(ctx, claim, from, n)
	if err == nil {
		w.renewed = time.Now()
	}
	return o, err
}

// release gives the lease back. If the store does not answer, the lease ends by itself.
func (w *Work) release(ctx context.Context, failed string) error {
	ctx, done := context.WithTimeout(ctx, callTime)
	defer done()
	err := w.store.Bookkeeper.ReleaseOperation(ctx, w.claim, failed)
	if err != nil && passes(err) {
		return nil
	}
	return err
}

// tell tells what is new.
func (w *Work) tell(o *store.Operation, waits bool) {
	at := progressOf(o)
	at.Waits = waits
	w.report(at)
}

func (w *Work) report(at Progress) {
	w.mu.Lock()
	same := at == w.at
	w.at = at
	w.mu.Unlock()
	if !same && w.OnProgress != nil {
		w.OnProgress(at)
	}
}

// pause pauses an operation that err has interrupted.
func (w *Work) pause(ctx context.Context, err error) error {
	if paused := w.store.Bookkeeper.SetOperation(ctx, Interrupted(w.audit), w.id, store.OperationPaused); !errors.Is(paused, store.ErrOperationState) {
		err = errors.Join(err, paused)
	}
	return err
}

// leave leaves an operation that err has ended in good order, as far as the store answers, and says what becomes of it.
func (w *Work) leave(ctx context.Context, o *store.Operation, err error) error {
	ended := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	switch {
	case errors.Is(err, store.ErrOperationLost):
		return fmt.Errorf("operation %d, with %d of %d messages behind it: %w", o.ID, o.At, o.Matched, err)
	case errors.Is(err, store.ErrNoOperation):
		return noOperation(o.ID, err)
	case ended && w.Stays:
		return errors.Join(err, w.store.Bookkeeper.ReleaseOperation(ctx, w.claim, ""))
	case ended:
		// The lease is given back behind the pause, so that nobody else begins before it. If another worker has it, that one goes on.
		if _, lost := w.give(ctx, o.At, 0, ""); errors.Is(lost, store.ErrOperationLost) {
			return errors.Join(err, lost)
		}
		return errors.Join(w.pause(ctx, err), w.store.Bookkeeper.ReleaseOperation(ctx, w.claim, ""))
	}
	// An error of this is that of the store once more. The lease ends by itself then, and the operation can be resumed.
	_ = w.store.Bookkeeper.ReleaseOperation(ctx, w.claim, err.Error())
	if errors.Is(err, store.ErrNoSubscription) || errors.Is(err, store.ErrNoBox) || errors.Is(err, store.ErrOperationDamaged) {
		return fmt.Errorf("operation %d has failed with %d of %d messages behind it, and cannot go on: %w", o.ID, o.At, o.Matched, err)
	}
	return fmt.Errorf("operation %d has %d of %d messages behind it; postbag operations resume %d goes on once the cause is gone: %w", o.ID, o.At, o.Matched, o.ID, err)
}

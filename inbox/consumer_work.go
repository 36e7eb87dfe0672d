package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store"
)

// work applies messages, one after another, until begin ends. What it is at then goes on
// until ctx ends.
func (c *Consumer[Tx]) work(begin, ctx context.Context) {
	for {
		q, t := c.hand.next(begin)
		if t == nil {
			return
		}
		wait, over := c.attempt(begin, ctx, t)
		switch {
		case over:
			c.hand.done(q)
			c.acks.add(t)
		case c.hand.rest(q, wait):
			c.dropped.Add(1)
		}
	}
}

// attempt works on a message once. over says that it is applied or stored. If not, it is to
// be tried again after wait.
func (c *Consumer[Tx]) attempt(begin, ctx context.Context, t *task) (wait time.Duration, over bool) {
	if t.fault != nil || t.failed != nil {
		return 0, c.park(begin, t)
	}
	fresh, began, err := c.apply(ctx, t)
	switch {
	case err == nil:
		c.db.over()
		c.count(t, fresh || t.unsure)
		return 0, true
	case ctx.Err() != nil: // the grace is over
		return 0, false
	case !began && errors.Is(err, store.ErrOtherBytes):
		t.part()
		return 0, c.park(begin, t)
	case storeFails(c.o.Store, err):
		return c.wait(begin, t, began, err), false
	case errors.Is(err, postbag.ErrCommitUnknown): // the mark tells
		t.unsure = t.unsure || began
		return c.again(t, err), false
	case meetsAnother(c.o.Store, err) && (t.again < maxInARow || !began):
		return c.again(t, err), false
	}
	if !began && !errors.Is(err, context.DeadlineExceeded) {
		c.db.met(begin, fmt.Errorf("inbox: consume: %w", err))
		return 0, false
	}
	if down := c.probe(ctx); down != nil {
		c.db.met(begin, down)
		return 0, false
	}
	c.db.over() // the wait for the next attempt may be long, and is no outage
	if !began { // somebody has held its mark for all that time
		return c.again(t, err), false
	}
	if _, late := errors.AsType[*lateError](err); !late && errors.Is(err, ErrRejected) {
		return 0, c.reject(begin, t, err)
	}
	return c.fail(begin, t, err)
}

// wait notes that the store fails with an error of its own, and returns how much longer this
// message waits for it: the store may work for others.
func (c *Consumer[Tx]) wait(begin context.Context, t *task, began bool, err error) time.Duration {
	t.unsure = t.unsure || began && errors.Is(err, postbag.ErrCommitUnknown)
	t.failures++
	if began { // it is named: with others the store may work
		err = c.about(t.from, err)
	} else {
		err = fmt.Errorf("inbox: consume: %w", err)
	}
	c.db.met(begin, err)
	back := Retry{Min: firstReceive, Max: maxReceive, Factor: 2}
	return back.after(t.failures)
}

// apply calls the handler in a transaction that marks the message. began says that it came
// to call it.
func (c *Consumer[Tx]) apply(ctx context.Context, t *task) (fresh, began bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	err = c.tx.InTx(ctx, func(ctx context.Context, tx Tx) error {
		marked, err := c.marks.OnceBatch(ctx, tx, c.o.Consumer, []Mark{t.mark})
		if err != nil {
			return err
		}
		if fresh = marked[0]; !fresh {
			return nil
		}
		began = true
		return c.handle(ctx, tx, t)
	})
	return fresh, began, err
}

// handle calls the handler. A panic is an error, and so is an answer that comes too late.
func (c *Consumer[Tx]) handle(ctx context.Context, tx Tx, t *task) error {
	t.skipped = false
	m := &Message{Message: t.out, From: t.from, Attempt: t.attempts + 1, skipped: &t.skipped}
	err := guarded(func() error { return c.call(ctx, tx, m) }, func(p any) error {
		err := panicError("the handler", p)
		c.log.Error("a handler panicked", "topic", t.from.Topic, "place", t.from.Place, "error", err, "stack", string(debug.Stack()))
		return err
	})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = &lateError{fmt.Errorf("the handler took longer than ConsumerOptions.Timeout (%s): %w", c.o.Timeout, cmp.Or(err, ctx.Err()))}
	}
	return err
}

// lateError is what a handler returned when its time was over. Its own error may be a mere
// consequence of that.
type lateError struct{ error }

func (e *lateError) Unwrap() error { return e.error }

// meetsAnother says whether a transaction is only to be run again, because it met another one.
func meetsAnother[Tx any](in Store[Tx], err error) bool {
	if errors.Is(err, store.ErrAgain) {
		return true
	}
	if s, knows := in.(store.Rerunner); knows && s.RunAgain(err) {
		return true
	}
	state, has := errors.AsType[interface {
		error
		SQLState() string
	}](err)
	return has && (state.SQLState() == "40001" || state.SQLState() == "40P01") // PostgreSQL: serialization failure, deadlock
}

// storeFails says whether an error, of a handler or of a commit, is one by which the database
// itself fails. That a database answers tells nothing: with a full disk it also runs
// transactions, as long as they do not write.
func storeFails[Tx any](in Store[Tx], err error) bool {
	if errors.Is(err, store.ErrStandby) {
		return true
	}
	s, knows := in.(store.OutageTeller)
	return knows && s.Outage(err)
}

// How long a transaction waits that met another one, at first and at most, and how often in
// a row that is not counted. A handler that waits for a lock of its own transaction, through
// another connection, would else be called for ever.
const (
	firstAgain = 5 * time.Millisecond
	maxAgain   = time.Second
	maxInARow  = 50
)

// again returns the wait before an attempt that does not count.
func (c *Consumer[Tx]) again(t *task, err error) time.Duration {
	c.o.OnError(c.about(t.from, err))
	t.again++
	back := Retry{Min: firstAgain, Max: maxAgain, Factor: 2}
	return back.after(t.again)
}

// about is an error that names a message.
func (c *Consumer[Tx]) about(m *source.Message, err error) error {
	return fmt.Errorf("inbox: consume: the message of topic %q at %s: %w", m.Topic, m.Place, err)
}

// reject parks a message that will never be applied.
func (c *Consumer[Tx]) reject(begin context.Context, t *task, err error) (stored bool) {
	t.attempts++
	c.failed.Add(1)
	return c.parkFailed(begin, t, fmt.Errorf("it was rejected in attempt %d: %w", t.attempts, err))
}

// fail counts an attempt.
func (c *Consumer[Tx]) fail(begin context.Context, t *task, err error) (wait time.Duration, over bool) {
	t.attempts++
	t.again = 0
	t.failures = 0
	c.failed.Add(1)
	if t.attempts >= c.o.Retry.MaxAttempts {
		return 0, c.parkFailed(begin, t, fmt.Errorf("it failed in %d attempts, at last: %w", t.attempts, err))
	}
	c.o.OnError(c.about(t.from, err))
	wait = c.o.Retry.after(t.attempts)
	if t.attempts == 1 {
		c.log.Warn("a message failed; it is tried again", "id", t.out.ID, "topic", t.from.Topic, "place", t.from.Place,
			"after", wait.Round(time.Millisecond), "error", err)
	}
	return wait, false
}

func (c *Consumer[Tx]) count(t *task, fresh bool) {
	if !fresh {
		c.repeated.Add(1)
		return
	}
	if t.skipped {
		c.skipped.Add(1)
		return
	}
	c.applied.Add(1)
	if t.attempts > 0 {
		c.log.Info("a message that had failed is applied", "id", t.out.ID, "topic", t.from.Topic, "attempts", t.attempts+1)
	}
}

// parkFailed parks a message that its handler did not apply. It stays whole, so that a relay of
// the box can have it applied later.
func (c *Consumer[Tx]) parkFailed(begin context.Context, t *task, why error) (stored bool) {
	t.out.Topic = cmp.Or(t.out.Topic, c.o.Box)
	t.keep(why, func(m postbag.Message) error { return c.rules.Publish(context.WithoutCancel(begin), 0, m) })
	return c.park(begin, t)
}

// park stores a message in the box, with its fault if it has one, or ends Run if there is none.
func (c *Consumer[Tx]) park(begin context.Context, t *task) (stored bool) {
	if _, has := t.out.Headers[store.FaultHeader]; t.fault != nil && !has {
		t.blame(t.fault)
	}
	t.out.Topic = cmp.Or(t.out.Topic, c.o.Box)
	items := []item{t.item}
	err := c.stower.refuse(begin, items, 0, t.why())
	if err == nil {
		err = c.stower.stow(begin, items)
	}
	if err != nil && begin.Err() == nil {
		c.end(err)
	}
	return err == nil
}

// refused says what a fault means: an error ends Run.
func (c *Consumer[Tx]) refused(fault error, it *item) error {
	err := c.about(it.from, fault)
	c.o.OnError(err)
	if c.o.Box == "" {
		return fmt.Errorf("%w; fix it, or set ConsumerOptions.Box to have such messages parked", err)
	}
	if stop := c.o.TooLarge.stops(it, "ConsumerOptions"); stop != nil {
		return fmt.Errorf("%w; it cannot be parked: %w", err, stop)
	}
	return nil
}

// stowed counts what is parked.
func (c *Consumer[Tx]) stowed(_ context.Context, items []item, fresh []bool) error {
	for i := range items {
		if !fresh[i] {
			c.repeated.Add(1)
			continue
		}
		c.parked.Add(1)
		c.log.Warn("a message was parked", "box", c.o.Box, "id", items[i].out.ID, "topic", items[i].out.Topic, "place", items[i].from.Place,
			"fault", items[i].why())
	}
	return nil
}

// maxProbe is how long the store may take for nothing.
const maxProbe = 5 * time.Second

// probe finds out whether the store works: it runs a transaction that does nothing.
func (c *Consumer[Tx]) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxProbe)
	defer cancel()
	if err := c.o.Store.InTx(ctx, func(context.Context, Tx) error { return nil }); err != nil {
		return fmt.Errorf("inbox: consume: %w", err)
	}
	return nil
}

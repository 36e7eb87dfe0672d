package storetest

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// The box and the subscription that most cases work with.
const box = "outbox"

var ref = store.Ref{Box: box, Subscription: "default"}

// env is one case at work on its database.
type env struct {
	testing.TB
	*Database[any]
	ctx        context.Context //nolint:containedctx // it lives as long as the case
	features   store.Features
	writers    int
	rounds     int
	largeRows  int
	largeBytes int
	patience   time.Duration
	drawn      atomic.Int64
	observer   *relay
	ongoing    *pager
	second     store.Store
}

func newEnv[Tx any](t testing.TB, h Harness[Tx]) *env {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*h.Patience)
	t.Cleanup(cancel)
	return &env{
		TB:         t,
		Database:   erase(h.New(t)),
		ctx:        ctx,
		features:   h.Features,
		writers:    h.Writers,
		rounds:     h.Rounds,
		largeRows:  h.LargeRows,
		largeBytes: h.LargeBytes,
		patience:   h.Patience,
	}
}

// check ends the case if err is one.
func (e *env) check(err error, doing string) {
	e.Helper()
	if err != nil {
		e.Fatalf("%s: %v", doing, err)
	}
}

// open makes the box and its default subscription, which begins at the first
// message.
func (e *env) open(shards int) {
	e.Helper()
	e.check(e.Create(e.ctx, box), "create the box")
	e.declare(store.Spec{Ref: ref, Shards: shards})
}

func (e *env) declare(specs ...store.Spec) {
	e.Helper()
	e.check(e.Store.Declare(e.ctx, specs), "declare")
}

// other returns a store of another process, or e.Store where there is none.
func (e *env) other() store.Store {
	switch {
	case e.Second == nil:
		return e.Store
	case e.second == nil:
		e.second = e.Second(e.TB)
	}
	return e.second
}

// now returns the database's time.
func (e *env) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

// tick is how far the clock moves while a case waits, and pause how long the case
// leaves the machine to others where it moves the clock itself.
const (
	tick  = 5 * time.Millisecond
	pause = 500 * time.Microsecond
)

// eventually waits until cond holds.
func (e *env) eventually(what string, cond func() bool) {
	e.Helper()
	for end := time.Now().Add(e.patience); !cond(); {
		if time.Now().After(end) {
			e.Fatalf("not within %s: %s", e.patience, what)
		}
		e.tick()
	}
}

func (e *env) tick() {
	wait := tick
	if e.Advance != nil {
		e.Advance(tick)
		wait = pause
	}
	select {
	case <-time.After(wait):
	case <-e.ctx.Done():
	}
}

// pass waits until the database's clock has moved on by d.
func (e *env) pass(d time.Duration) {
	e.Helper()
	if e.Advance != nil {
		e.Advance(d)
		return
	}
	until := e.now().Add(d)
	e.eventually("the clock moves on", func() bool { return !e.now().Before(until) })
}

// message makes a message of a key, with a payload that no other has.
func (e *env) message(key string) postbag.Message {
	n := e.drawn.Add(1)
	return postbag.Message{
		ID:      e.id(n),
		Topic:   "orders",
		Key:     key,
		Type:    "order.created",
		Headers: map[string]string{"n": strconv.FormatInt(n, 10)},
		Payload: fmt.Appendf(nil, `{"n":%d}`, n),
	}
}

// id makes the n-th id: a version 7 UUID in form.
func (e *env) id(n int64) postbag.ID {
	id := postbag.ID{0x01, 0x90, 0, 0, 0, 0, 0x70, 0, 0x80}
	for i := range 7 {
		id[15-i] = byte(n >> (8 * i))
	}
	return id
}

// messages makes n messages whose keys take turns.
func (e *env) messages(n int, keys ...string) []postbag.Message {
	out := make([]postbag.Message, n)
	for i := range out {
		key := ""
		if len(keys) > 0 {
			key = keys[i%len(keys)]
		}
		out[i] = e.message(key)
	}
	return out
}

// begin opens a transaction. One that a failed case leaves open ends with it: what
// closes the database would wait for it.
func (e *env) begin() any {
	e.Helper()
	tx, err := e.Begin(e.ctx)
	e.check(err, "begin")
	e.Cleanup(func() {
		if e.Failed() {
			ctx, cancel := context.WithTimeout(context.Background(), e.patience)
			defer cancel()
			_ = e.Rollback(ctx, tx) // an error where it has ended
		}
	})
	return tx
}

func (e *env) append(tx any, msgs ...postbag.Message) []postbag.Message {
	e.Helper()
	e.check(e.Appender.Append(e.ctx, tx, box, msgs), "append")
	return msgs
}

func (e *env) commit(tx any) {
	e.Helper()
	e.check(e.Commit(e.ctx, tx), "commit")
}

func (e *env) rollback(tx any) {
	e.Helper()
	e.check(e.Rollback(e.ctx, tx), "roll back")
}

// publish commits msgs in one transaction.
func (e *env) publish(msgs ...postbag.Message) []postbag.Message {
	e.Helper()
	tx := e.begin()
	e.append(tx, msgs...)
	e.commit(tx)
	return msgs
}

// turn makes a turn that must succeed, reads included.
func (e *env) turn(t store.Turn) store.TurnResult {
	e.Helper()
	res, err := e.Store.Turn(e.ctx, t)
	e.check(err, "turn")
	if len(res.Verdicts) != len(t.Settle) || len(res.Batches) != len(t.Read) {
		e.Fatalf("turn of %d settlements and %d reads: %d verdicts and %d batches",
			len(t.Settle), len(t.Read), len(res.Verdicts), len(res.Batches))
	}
	for _, b := range res.Batches {
		e.check(b.Err, "read")
	}
	return res
}

package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// contextCases are about calls whose context ends.
func contextCases() []scenario {
	return []scenario{
		{name: "A call whose context has ended returns at once and does nothing", run: endedContext},
		{name: "A read of a long log ends when its context does", run: endedRead},
	}
}

func endedContext(e *env) {
	l := e.parked("a")
	u := e.upkeep()
	ended, cancel := context.WithCancel(e.ctx)
	cancel()
	st := l.full()
	st.Lease = l.lease
	for what, call := range map[string]func() error{
		"Check": func() error { _, err := e.Store.Check(ended); return err },
		"Declare": func() error {
			return e.Store.Declare(ended, []store.Spec{{Ref: store.Ref{Box: box, Subscription: "x"}}})
		},
		"Beat": func() error {
			_, err := e.Store.Beat(ended, store.Beat{Relay: "ended", Name: "ended", New: true, TTL: time.Hour})
			return err
		},
		"Turn":    func() error { _, err := e.Store.Turn(ended, store.Turn{Settle: []store.Settlement{st}}); return err },
		"Blocked": func() error { _, err := e.Store.Blocked(ended, l.lease); return err },
		"Due": func() error {
			_, err := e.Store.Due(ended, store.Due{Ref: ref, Slots: []store.Slots{store.AllSlots}, Limit: 1, Bytes: 1})
			return err
		},
		"Maintain": func() error {
			_, err := e.Store.Maintain(ended, store.Retention{Lease: u.lease, Keep: time.Hour})
			return err
		},
		"InTx": func() error {
			return e.Appender.InTx(ended, func(ctx context.Context, tx any) error {
				return e.Appender.Append(ctx, tx, box, []postbag.Message{e.message("k")})
			})
		},
	} {
		begun := time.Now()
		if err := call(); !errors.Is(err, context.Canceled) {
			e.Errorf("%s with a context that has ended: %v, not context.Canceled", what, err)
		}
		if took := time.Since(begun); took > e.patience/2 {
			e.Errorf("%s with a context that has ended took %s", what, took)
		}
	}
	if n := len(e.relay("alive").beat(store.Beat{}).Relays); n != 3 {
		e.Errorf("%d relays live, not 3: a beat with an ended context made one", n)
	}
	if n := len(e.look(store.Ref{Box: box, Subscription: "x"}).Shards); n != 0 {
		e.Error("a declaration with an ended context was carried out")
	}
	l.untouched("the context had ended")
	e.pager().expect(l.msgs...)
}

func endedRead(e *env) {
	e.open(1)
	e.publish(e.messages(2000, "a", "")...)
	for d := 50 * time.Microsecond; d < 20*time.Millisecond; d *= 3 {
		ctx, cancel := context.WithTimeout(e.ctx, d)
		begun := time.Now()
		_, err := e.Store.Turn(ctx, store.Turn{Read: []store.Request{e.pager().req}})
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			e.Errorf("a read whose context ends after %s: %v, not context.DeadlineExceeded", d, err)
		}
		if took := time.Since(begun); took > e.patience/2 {
			e.Errorf("a read whose context ends after %s took %s", d, took)
		}
	}
	e.pager().await(2000)
}

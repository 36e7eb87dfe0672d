package storetest

import (
	"errors"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// crashCases are about a server that ends without warning.
func crashCases() []scenario {
	return []scenario{
		{name: "After a crash the settled position goes on, and one that was only read is refused or goes on too", run: crashed},
		{name: "A prepared transaction survives a crash", needs: prepared, run: crashedPrepared},
	}
}

// needCrash skips the case if the harness cannot end the server. A case asks before it leaves anything that outlives it.
func (e *env) needCrash() {
	e.Helper()
	if e.Crash == nil {
		e.Skip("the harness cannot end the server")
	}
}

// crash ends the server, or skips the case.
func (e *env) crash() {
	e.Helper()
	e.needCrash()
	e.check(e.Crash(e.ctx), "crash")
	e.eventually("the store answers after the crash", func() bool {
		_, err := e.Store.Check(e.ctx)
		return err == nil || errors.Is(err, store.ErrMoved)
	})
}

func crashed(e *env) {
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	c := e.pager()
	c.expect(e.publish(e.messages(5, "a", "b")...)...)
	e.settle(&lease, store.Settlement{To: c.req.From})
	var doomed any
	if e.features.ConcurrentWriters {
		doomed = e.begin()
		e.append(doomed, e.messages(3, "doomed")...)
	}
	read := e.publish(e.messages(5, "a", "b")...)
	// What rolled back leaves no trace that survives: its id is given out again.
	for range 3 {
		tx := e.begin()
		e.append(tx, e.message("a"))
		e.rollback(tx)
	}
	c.expect(read...)
	unsettled := c.req.From
	e.crash()
	if doomed != nil {
		_ = e.Rollback(e.ctx, doomed)
	}
	after := e.publish(e.messages(5, "a", "b")...)
	e.goOnOrRefuse(unsettled, after)
	st := store.Settlement{Lease: lease, To: unsettled}
	res, err := e.Store.Turn(e.ctx, store.Turn{Settle: []store.Settlement{st}})
	switch {
	case errors.Is(err, store.ErrRestarted):
		e.pager().from(e.positions(ref)[0]).expect(append(read, after...)...)
	case err != nil || !res.Verdicts[0].Applied:
		e.Errorf("a settlement at a position from before the crash: error %v, or lost", err)
	default:
		e.pager().from(e.positions(ref)[0]).expect(after...)
	}
}

// goOnOrRefuse fails the case unless p is refused, or the chain from it is whole.
func (e *env) goOnOrRefuse(p store.Position, want []postbag.Message) {
	e.Helper()
	c := e.pager().from(p)
	_, err := e.Store.Turn(e.ctx, store.Turn{Read: []store.Request{c.req}})
	switch {
	case errors.Is(err, store.ErrRestarted):
	case err != nil:
		e.Errorf("a read from a position from before the crash: %v, not ErrRestarted", err)
	default:
		c.expect(want...)
	}
}

func crashedPrepared(e *env) {
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	tx := e.begin()
	late := e.append(tx, e.messages(2, "late")...)
	e.check(e.Prepare(e.ctx, tx, "survivor"), "prepare")
	c := e.pager()
	c.expect(e.publish(e.messages(5, "a", "b")...)...)
	e.settle(&lease, store.Settlement{To: c.req.From})
	e.crash()
	after := e.publish(e.messages(2, "a")...)
	next := e.pager().from(e.positions(ref)[0])
	next.expect(after...)
	e.check(e.CommitPrepared(e.ctx, "survivor"), "commit the prepared transaction")
	next.expect(late...)
}

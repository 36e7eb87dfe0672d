package storetest

import (
	"errors"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// lateCases are about commits in another order than their seqs.
func lateCases() []scenario {
	return []scenario{
		{name: "A commit below a settled position is read", needs: concurrentWriters, run: lateBelow},
		{name: "Of two writers that were open at the first read both are read", needs: concurrentWriters, run: twoOpen},
		{name: "Four writers' commits are read in every order they may have", needs: concurrentWriters, run: everyOrder},
		{name: "Transactions that began before a read and write after it are read", needs: concurrentWriters, run: writesLater},
		{name: "A commit in the middle of a window is read, once", needs: concurrentWriters, run: midWindow},
		{name: "A transaction that commits while the log is read comes in its own order", needs: concurrentWriters, run: commitWhileRead},
		{name: "Another program's open transaction delays nothing, and nothing is repeated after it", needs: concurrentWriters, run: stranger},
		{name: "An application's open transaction holds up nothing that relays and operators do", needs: concurrentWriters, run: applicationOpen},
		{name: "A position stays small while many transactions are open, and loses none", needs: concurrentWriters, run: manyOpen},
	}
}

func lateBelow(e *env) {
	e.open(1)
	l := e.relay("r").take(ref)[0]
	tx := e.begin()
	late := e.append(tx, e.message("late"))
	c := e.pager()
	for range 4 {
		c.expect(e.publish(e.message("k"))...)
		e.settle(&l, store.Settlement{To: c.req.From})
	}
	e.commit(tx)
	e.pager().from(e.positions(ref)[0]).expect(late...)
}

// twoOpen is the smallest case in which a reader loses messages that takes "all
// seqs up to now" for a bound: neither transaction is in the snapshot's list,
// since nothing with a higher id has ended.
func twoOpen(e *env) {
	e.open(1)
	l := e.relay("r").take(ref)[0]
	a, b := e.begin(), e.begin()
	first := e.append(a, e.message("a"))
	second := e.append(b, e.message("b"))
	c := e.pager()
	for range 3 {
		if got := c.all(); len(got) > 0 {
			e.Fatalf("%d messages of open transactions were read", len(got))
		}
		e.settle(&l, store.Settlement{To: c.req.From})
	}
	e.commit(b)
	c.expect(second...)
	e.settle(&l, store.Settlement{To: c.req.From})
	e.commit(a)
	c.expect(first...)
}

func everyOrder(e *env) {
	e.open(1)
	l := e.relay("r").take(ref)[0]
	settled, unsettled := e.pager(), e.pager()
	for _, order := range permutations(4) {
		var txs [4]any
		var msgs [4][]postbag.Message
		for i := range txs {
			txs[i] = e.begin()
			msgs[i] = e.append(txs[i], e.messages(2, name("k", i))...)
		}
		var all []postbag.Message
		for _, i := range order {
			e.commit(txs[i])
			settled.expect(msgs[i]...)
			e.settle(&l, store.Settlement{To: settled.req.From})
			all = append(all, msgs[i]...)
		}
		unsettled.expect(all...)
	}
}

// permutations returns every order of 0 to n-1.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return out
}

func writesLater(e *env) {
	e.open(1)
	a, b := e.begin(), e.begin()
	first := e.append(a, e.message("a"))
	c := e.pager()
	c.expect(e.publish(e.message("k"))...)
	first = append(first, e.append(a, e.message("a"))...)
	second := e.append(b, e.message("b"))
	c.expect(e.publish(e.message("k"))...)
	first = append(first, e.append(a, e.message("a"))...)
	e.commit(a)
	c.expect(first...)
	second = append(second, e.append(b, e.message("b"))...)
	e.commit(b)
	c.expect(second...)
}

func midWindow(e *env) {
	e.open(1)
	tx := e.begin()
	want := e.append(tx, e.messages(3, "late")...)
	want = append(want, e.publish(e.messages(30, "a", "b", "")...)...)
	c := e.pager().limit(10)
	c.page()
	e.commit(tx)
	want = append(want, e.publish(e.messages(15, "a", "b", "")...)...)
	c.pages(20)
	late := e.begin()
	want = append(want, e.append(late, e.message("later"))...)
	want = append(want, e.publish(e.message("a"))...)
	c.page()
	e.commit(late)
	c.await(len(want))
	checkExact(e.TB, c.got, want)
}

// commitWhileRead has a transaction whose first messages lie below what was read, and
// its last above, commit at some moment of a read. A store that looks for what was
// open, and then for what is new, and not as of one moment, finds the last alone: the
// first are many, so that it takes a while to look for them.
func commitWhileRead(e *env) {
	e.open(1)
	c := e.pager()
	for n := range 20 {
		tx := e.begin()
		want := e.append(tx, e.messages(700, "k")...)
		c.expect(e.publish(e.message("x"))...)
		last := e.messages(1+n, "k")
		ended := make(chan error, 1)
		go func() {
			for i := range last { // each time it takes a little longer
				if err := e.Appender.Append(e.ctx, tx, box, last[i:i+1]); err != nil {
					ended <- errors.Join(err, e.Rollback(e.ctx, tx))
					return
				}
			}
			ended <- e.Commit(e.ctx, tx)
		}()
		c.got = nil
		want = append(want, last...)
		c.pages(len(want))
		e.check(<-ended, "write and commit")
		if checkExact(e.TB, c.got, want); e.Failed() {
			return
		}
	}
}

func stranger(e *env) {
	e.open(1)
	l := e.relay("r").take(ref)[0]
	end, err := e.Stranger(e.ctx)
	e.check(err, "open a stranger's transaction")
	c := e.pager()
	for range 5 {
		c.expect(e.publish(e.messages(20, "a", "b", "")...)...)
		e.settle(&l, store.Settlement{To: c.req.From})
	}
	e.check(end(e.ctx), "end the stranger's transaction")
	c.expect(e.publish(e.message("a"))...)
	c.expect(e.publish(e.message("b"))...)
}

// applicationOpen does all that an application may do in a transaction. A reader that waits for it waits until the case ends.
func applicationOpen(e *env) {
	h := e.history(1)
	gone := at(e.message("k"), e.now().Add(time.Hour))
	e.publish(gone)
	tx := e.begin()
	msgs := e.append(tx, e.message("k"), at(e.message("k"), e.now().Add(2*time.Hour)))
	e.check(e.Appender.Lock(e.ctx, tx, box, []string{"k"}), "lock a key")
	if !e.cancel(tx, gone) {
		e.Error("a scheduled message is not there to be cancelled")
	}
	h.settleAll()
	for range 3 {
		h.round()
		e.pass(5 * time.Millisecond)
	}
	if len(h.total.Faults) > 0 {
		e.Errorf("housekeeping beside an open transaction: %q", h.total.Faults)
	}
	e.declare(store.Spec{Ref: store.Ref{Box: box, Subscription: "another"}, Shards: 2})
	if o, ok := e.Store.(store.Operator); ok {
		e.check(o.SetShards(e.ctx, why, store.Ref{Box: box, Subscription: "another"}, 3), "set shards")
	}
	_, err := e.Store.Check(e.ctx)
	e.check(err, "check")
	e.commit(tx)
	e.pager().from(e.positions(ref)[0]).expect(msgs[0])
}

func manyOpen(e *env) {
	e.open(1)
	var want []postbag.Message
	c := e.pager().limit(7)
	var open []any
	for i := range 3 * e.writers {
		tx := e.begin()
		open = append(open, tx)
		want = append(want, e.append(tx, e.messages(1+i%3, name("k", i))...)...)
		if i%5 == 0 {
			want = append(want, e.publish(e.messages(3, "x", "")...)...)
			c.all()
		}
	}
	for i := 0; i < len(open); i += 2 {
		e.commit(open[i])
	}
	c.page()
	for i := 1; i < len(open); i += 2 {
		e.commit(open[i])
		c.page()
	}
	c.await(len(want))
	checkExact(e.TB, c.got, want)
}

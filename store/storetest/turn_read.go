package storetest

import (
	"errors"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// readingCases are about single reads.
func readingCases() []scenario {
	return []scenario{
		{name: "An empty box has nothing to read, again and again", run: readEmpty},
		{name: "A position of an unknown format is ErrPosition", run: unknownPosition},
		{name: "A missing subscription or box fails its own read alone", run: missingAlone},
		{name: "A limit of zero reads nothing", run: limitZero},
		{name: "One read repeated returns at least what it returned", run: readAgain},
		{name: "Another process reads on from a position", run: readElsewhere},
		{name: "Several readers read the same from one position at a time", run: readersAtOnce},
		{name: "A read needs no lease and leaves nothing behind", run: readLeavesNothing},
	}
}

func readEmpty(e *env) {
	e.open(1)
	c := e.pager()
	for range 3 {
		if got := c.all(); len(got) > 0 {
			e.Fatalf("%d messages of an empty box", len(got))
		}
	}
	c.expect(e.publish(e.message("k"))...)
}

func unknownPosition(e *env) {
	e.open(1)
	e.publish(e.message("k"))
	for _, p := range []store.Position{"\xff", "\xffnew format", "\xff\x00\x01\x02"} {
		for _, q := range []store.Request{
			{Ref: ref, Slots: []store.Slots{store.AllSlots}, From: p, Limit: 10, Bytes: 1000},
			{Ref: ref, Slots: []store.Slots{store.AllSlots}, Until: p, Limit: 10, Bytes: 1000},
		} {
			res, err := e.Store.Turn(e.ctx, store.Turn{Read: []store.Request{q}})
			e.check(err, "turn")
			if b := res.Batches[0]; !errors.Is(b.Err, store.ErrPosition) || len(b.Records) > 0 {
				e.Errorf("read from %q until %q: error %v and %d records, not ErrPosition alone", q.From, q.Until, b.Err, len(b.Records))
			}
		}
	}
}

func missingAlone(e *env) {
	e.open(1)
	l := e.relay("r").take(ref)[0]
	msgs := e.publish(e.message("k"))
	good := e.pager().req
	missing, nowhere := good, good
	missing.Subscription, nowhere.Box = "missing", "nowhere"
	res, err := e.Store.Turn(e.ctx, store.Turn{
		Settle: []store.Settlement{{Lease: l}},
		Read:   []store.Request{missing, good, nowhere},
	})
	e.check(err, "turn")
	if !res.Verdicts[0].Applied {
		e.Error("a settlement beside a read that fails is lost")
	}
	if err := res.Batches[0].Err; !errors.Is(err, store.ErrNoSubscription) {
		e.Errorf("read of a missing subscription: %v, not ErrNoSubscription", err)
	}
	if err := res.Batches[2].Err; !errors.Is(err, store.ErrNoBox) && !errors.Is(err, store.ErrNoSubscription) {
		e.Errorf("read of a missing box: %v, not ErrNoBox", err)
	}
	e.check(res.Batches[1].Err, "the read beside them")
	checkExact(e.TB, res.Batches[1].Records, msgs)
}

func limitZero(e *env) {
	e.open(1)
	c := e.pager()
	c.expect(e.publish(e.messages(3, "k")...)...)
	e.publish(e.messages(3, "k")...)
	q := c.req
	q.Limit, q.Bytes = 0, 0
	b := e.turn(store.Turn{Read: []store.Request{q}}).Batches[0]
	if len(b.Records) > 0 || b.Next != q.From || b.More {
		e.Errorf("a read of limit zero: %d records, moved %v, more %v", len(b.Records), b.Next != q.From, b.More)
	}
}

func readAgain(e *env) {
	e.open(1)
	e.publish(e.messages(10, "a", "b")...)
	c := e.pager()
	c.limit(3).page()
	from := c.req.From
	first := e.pager().from(from).all()
	more := e.publish(e.messages(2, "a")...)
	c = e.pager().from(from)
	c.await(len(first) + len(more))
	second := c.got
	if len(second) != len(first)+len(more) {
		e.Fatalf("a read returned %d messages, and after %d more were committed %d", len(first), len(more), len(second))
	}
	for i := range first {
		if first[i].Seq != second[i].Seq {
			e.Fatalf("message %d of a read has seq %d, and when it is repeated %d", i, first[i].Seq, second[i].Seq)
		}
	}
}

func readElsewhere(e *env) {
	e.open(1)
	other := e.other()
	c := e.pager().limit(4)
	var turns int
	for range 6 {
		msgs := e.publish(e.messages(9, "a", "b", "")...)
		c.got = nil
		for end := time.Now().Add(e.patience); len(c.got) < len(msgs) && time.Now().Before(end); {
			c.s = e.Store
			if turns++; turns%2 == 0 {
				c.s = other
			}
			c.page()
		}
		checkExact(e.TB, c.got, msgs)
	}
}

func readersAtOnce(e *env) {
	e.open(1)
	msgs := e.publish(e.messages(300, "a", "b", "")...)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			c := e.pager().limit(40)
			for end := time.Now().Add(e.patience); len(c.got) < len(msgs) && time.Now().Before(end); {
				res, err := c.s.Turn(e.ctx, store.Turn{Read: []store.Request{c.req}})
				if err != nil || res.Batches[0].Err != nil {
					e.Errorf("read: %v", errors.Join(err, res.Batches[0].Err))
					return
				}
				c.req.From = res.Batches[0].Next
				c.got = append(c.got, res.Batches[0].Records...)
			}
			checkExact(e.TB, c.got, msgs)
		})
	}
	all.Wait()
}

func readLeavesNothing(e *env) {
	e.open(2)
	e.publish(e.messages(10, "a", "b", "c")...)
	before := e.look(ref)
	e.pager().all()
	after := e.look(ref)
	for i := range before.Shards {
		if before.Shards[i] != after.Shards[i] {
			e.Errorf("a read changed shard %s", before.Shards[i].Shard)
		}
	}
}

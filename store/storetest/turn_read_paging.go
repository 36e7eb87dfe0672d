package storetest

import (
	"fmt"
	"sync"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// pagingCases are about reading a window in pages.
func pagingCases() []scenario {
	return []scenario{
		{name: "A window is the same in pages of any size", run: pageSizes},
		{name: "Bytes bound a page, and the row that crosses the bound comes too", run: byteBound},
		{name: "A chain goes on from just after every record", run: fromEveryRecord},
		{name: "Commits between two pages come after the window, once", run: commitsBetween},
		{name: "At may be called by many at a time, and later", run: atAnyTime},
		{name: "The last page of a window says that it is whole", run: wholePages},
	}
}

func pageSizes(e *env) {
	e.open(1)
	var msgs []postbag.Message
	for range 6 {
		msgs = append(msgs, e.publish(e.messages(9, "a", "b", "")...)...)
	}
	for _, limit := range []int{1, 7, 53, 54, 55, 1000} {
		c := e.pager().limit(limit)
		c.all()
		checkExact(e.TB, c.got, msgs)
		if c.Failed() {
			e.Fatalf("in pages of %d", limit)
		}
	}
}

func byteBound(e *env) {
	e.open(1)
	msgs := e.messages(12, "k")
	for i := range msgs {
		msgs[i].Payload = e.noise(1000)
	}
	e.publish(msgs...)
	for _, bytes := range []int{1, 1000, 1001, 2500, 12_000, 1 << 20} {
		c := e.pager()
		c.req.Bytes = bytes
		most := (bytes + 999) / 1000
		for more := true; more; {
			b := c.page()
			more = b.More
			if len(b.Records) > most {
				e.Errorf("a page of at most %d bytes has %d payloads of 1,000; the one that crosses the bound is its last",
					bytes, len(b.Records))
			}
			if len(b.Records) == 0 && len(c.got) == 0 {
				e.Errorf("a page of at most %d bytes is empty; at least one row comes", bytes)
			}
		}
		checkExact(e.TB, c.got, msgs)
	}
}

func fromEveryRecord(e *env) {
	e.open(1)
	msgs := e.publish(e.messages(10, "a", "b")...)
	msgs = append(msgs, e.publish(e.messages(10, "b", "")...)...)
	c := e.pager()
	b := c.page()
	for more := b.More; len(b.Records) < len(msgs); {
		if !more {
			e.Skipf("the store pages %d rows in windows of %d", len(msgs), len(b.Records))
		}
		b = c.page()
	}
	next := e.publish(e.messages(3, "a")...)
	for i := range b.Records {
		rest := append(messagesAfter(msgs, b.Records[:i+1]), next...)
		after := e.pager().from(b.At(i)).limit(6)
		after.await(len(rest))
		checkExact(e.TB, after.got, rest)
		if e.Failed() {
			e.Fatalf("from just after record %d", i)
		}
	}
}

// messagesAfter returns those of msgs that are not among records.
func messagesAfter(msgs []postbag.Message, records []store.Record) []postbag.Message {
	came := map[postbag.ID]bool{}
	for i := range records {
		came[records[i].ID] = true
	}
	var out []postbag.Message
	for _, m := range msgs {
		if !came[m.ID] {
			out = append(out, m)
		}
	}
	return out
}

func commitsBetween(e *env) {
	e.open(1)
	want := e.publish(e.messages(40, "a", "b", "")...)
	c := e.pager().limit(3)
	for more := true; more; {
		more = c.page().More
		if len(want) < 80 {
			want = append(want, e.publish(e.messages(2, "a", "c")...)...)
		}
	}
	c.await(len(want))
	checkExact(e.TB, c.got, want)
}

func atAnyTime(e *env) {
	e.open(1)
	e.publish(e.messages(50, "a", "")...)
	c := e.pager()
	b := c.page()
	early := make([]store.Position, len(b.Records))
	for i := range early {
		early[i] = b.At(i)
	}
	c.expect(e.publish(e.messages(50, "a", "")...)...)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range early {
				if b.At(i) != early[i] {
					e.Errorf("the position after record %d is another one later", i)
				}
			}
		})
	}
	all.Wait()
	distinct := map[store.Position]bool{}
	for _, p := range early {
		distinct[p] = true
	}
	if len(distinct) != len(early) {
		e.Errorf("%d records have %d positions after them", len(early), len(distinct))
	}
}

func wholePages(e *env) {
	e.open(1)
	e.publish(e.messages(20, "a")...)
	c := e.pager().limit(6)
	for {
		b := c.page()
		if !b.More {
			if !b.Whole {
				e.Error(fmt.Errorf("a page without More, after %d messages, is not Whole", len(c.got)))
			}
			return
		}
	}
}

package storetest

import (
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// untilCases are about stragglers, which read up to where their group stands.
func untilCases() []scenario {
	return []scenario{
		{name: "A lagging reader ends at the position Until, byte for byte", run: straggler},
		{name: "A lagging reader in the middle of a window ends at Until", run: stragglerInWindow},
		{name: "A lagging reader leaves late commits to the reads after Until", needs: concurrentWriters, run: stragglerLate},
		{name: "A lagging reader leaves out what was open at Until", needs: concurrentWriters, run: stragglerOpen},
		{name: "A lagging reader that has reached Until reads nothing", run: stragglerThere},
		{name: "A reader in a window that leads beyond Until reads nothing of what lies there", run: besideUntil},
		{name: "A reader beyond Until is told so and reads nothing", run: ahead},
	}
}

// joined reads towards until and fails the case unless it ends there.
func (c *pager) joined(until store.Position) []store.Record {
	c.Helper()
	c.req.Until = until
	got := c.all()
	if c.req.From != until {
		c.Fatalf("a straggler ended at another position than its group's, of %d bytes and not %d", len(c.req.From), len(until))
	}
	c.req.Until = ""
	return got
}

// group publishes and reads to where a window ends, n times, and returns each of
// those positions and what was published before it.
func (e *env) group(n int) (ends []store.Position, parts [][]postbag.Message) {
	e.Helper()
	c := e.pager()
	for range n {
		parts = append(parts, e.publish(e.messages(12, "a", "b", "")...))
		c.expect(parts[len(parts)-1]...)
		if !c.page().Whole {
			e.Fatal("the end of a log is not Whole")
		}
		ends = append(ends, c.req.From)
	}
	return ends, parts
}

func straggler(e *env) {
	e.open(1)
	ends, parts := e.group(4)
	for _, limit := range []int{1, 5, 1000} {
		for from := range ends {
			c := e.pager().limit(limit)
			want := parts[0]
			if from > 0 {
				c.from(ends[from-1])
				want = parts[from]
			}
			for to := from; to < len(ends); to++ {
				if to > from {
					want = parts[to]
				}
				checkExact(e.TB, c.joined(ends[to]), want)
				if e.Failed() {
					e.Fatalf("from end %d to end %d in pages of %d", from-1, to, limit)
				}
			}
		}
		c := e.pager().limit(limit)
		var all []postbag.Message
		for _, p := range parts {
			all = append(all, p...)
		}
		checkExact(e.TB, c.joined(ends[3]), all)
	}
}

func stragglerInWindow(e *env) {
	e.open(1)
	first := e.publish(e.messages(12, "a", "b", "")...)
	window := e.pager()
	b := window.page()
	second := e.publish(e.messages(12, "a", "b", "")...)
	group := e.pager()
	group.expect(append(first, second...)...)
	group.page()
	until := group.req.From
	third := e.publish(e.messages(5, "a")...)
	for i := range b.Records {
		c := e.pager().from(b.At(i)).limit(1 + i)
		got := c.joined(until)
		checkExact(e.TB, got, messagesAfter(append(first, second...), b.Records[:i+1]))
		c.expect(third...)
	}
}

func stragglerLate(e *env) {
	e.open(1)
	tx := e.begin()
	late := e.append(tx, e.messages(3, "late")...)
	ends, parts := e.group(3)
	e.commit(tx)
	c := e.pager().from(ends[0]).limit(4)
	checkExact(e.TB, c.joined(ends[2]), append(parts[1], parts[2]...))
	c.expect(late...)
	group := e.pager().from(ends[2])
	group.expect(late...)
}

// stragglerOpen has the straggler begin before the open transaction wrote anything,
// so that its own position knows nothing of it: what was open at Until, and has come
// since, is read by who reads on from there, and by nobody twice.
func stragglerOpen(e *env) {
	e.open(1)
	group := e.pager()
	want := e.publish(e.messages(3, "a")...)
	group.expect(want...)
	begins := []store.Position{"", group.req.From}
	tx := e.begin()
	var late []postbag.Message
	for range 3 {
		late = append(late, e.append(tx, e.messages(20, "late", "")...)...)
		part := e.publish(e.messages(12, "a", "b", "")...)
		group.expect(part...)
		want = append(want, part...)
	}
	group.page()
	until := group.req.From
	e.commit(tx)
	for i, begin := range begins {
		for _, limit := range []int{1, 5, 1000} {
			c := e.pager().from(begin).limit(limit)
			checkExact(e.TB, c.joined(until), want[3*i:])
			c.expect(late...)
			if e.Failed() {
				e.Fatalf("from begin %d in pages of %d", i, limit)
			}
		}
	}
}

func stragglerThere(e *env) {
	e.open(1)
	ends, _ := e.group(2)
	e.publish(e.messages(3, "a")...)
	c := e.pager().from(ends[1])
	c.req.Until = ends[1]
	b := c.page()
	if len(b.Records) > 0 || b.Ahead || b.Next != ends[1] {
		e.Errorf("at its group's position a straggler got %d records; ahead %v; moved %v", len(b.Records), b.Ahead, b.Next != ends[1])
	}
}

func ahead(e *env) {
	e.open(1)
	ends, _ := e.group(3)
	for at := range ends {
		for until := range ends {
			c := e.pager().from(ends[at])
			c.req.Until = ends[until]
			b := c.page()
			if b.Ahead != (at > until) {
				e.Error(fmt.Errorf("at end %d with Until at end %d: ahead is %v", at, until, b.Ahead))
			}
			if at > until && len(b.Records) > 0 {
				e.Errorf("a reader ahead of Until got %d records", len(b.Records))
			}
		}
	}
}

func besideUntil(e *env) {
	e.open(1)
	ends, parts := e.group(1)
	later := e.publish(e.messages(12, "a", "b", "")...)
	window := e.pager()
	b := window.page()
	if len(b.Records) < 24 {
		e.Skipf("the store pages 24 rows in windows of %d", len(b.Records))
	}
	for i := range 12 {
		if len(messagesAfter(later, b.Records[:i+1])) < len(later) {
			break // already beyond Until
		}
		c := e.pager().from(b.At(i)).limit(5)
		c.req.Until = ends[0]
		if first := c.page(); first.Ahead {
			continue
		}
		c.joined(ends[0])
		checkExact(e.TB, c.got, messagesAfter(parts[0], b.Records[:i+1]))
	}
}

package storetest

import (
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// pager reads a subscription page after page, each from where the last ended.
type pager struct {
	*env
	s   store.Store
	req store.Request
	// got is all that came.
	got []store.Record
}

// pager begins to read slots at the beginning; none: all slots.
func (e *env) pager(slots ...store.Slots) *pager {
	if len(slots) == 0 {
		slots = []store.Slots{store.AllSlots}
	}
	return &pager{env: e, s: e.Store, req: store.Request{Ref: ref, Slots: slots, Limit: 1000, Bytes: 64 << 20}}
}

// from makes the chain go on from p.
func (c *pager) from(p store.Position) *pager {
	c.req.From = p
	return c
}

// limit makes the chain read n rows a page at most.
func (c *pager) limit(n int) *pager {
	c.req.Limit = n
	return c
}

// of makes the chain read another subscription.
func (c *pager) of(r store.Ref) *pager {
	c.req.Ref = r
	return c
}

// page reads one page.
func (c *pager) page() store.Batch {
	c.Helper()
	res, err := c.s.Turn(c.ctx, store.Turn{Read: []store.Request{c.req}})
	c.check(err, "read")
	b := res.Batches[0]
	c.check(b.Err, "read")
	c.checkBatch(c.req, b)
	c.req.From = b.Next
	c.got = append(c.got, b.Records...)
	return b
}

// pages reads page after page, without a pause, until n messages came since the
// chain began.
func (c *pager) pages(n int) {
	c.Helper()
	for end := time.Now().Add(c.patience); len(c.got) < n; c.page() {
		if time.Now().After(end) {
			c.Fatalf("within %s %d of %d messages came", c.patience, len(c.got), n)
		}
	}
}

// maxPosition is the size that positions must not exceed.
const maxPosition = 8 << 10

// checkBatch fails the case if b is no answer to q, whatever the log holds.
func (e *env) checkBatch(q store.Request, b store.Batch) {
	e.Helper()
	switch {
	case len(b.Records) > q.Limit:
		e.Fatalf("a page of at most %d rows has %d", q.Limit, len(b.Records))
	case (b.At == nil) != (len(b.Records) == 0):
		e.Fatalf("a page of %d rows: At is nil: %v", len(b.Records), b.At == nil)
	case len(b.Next) > maxPosition:
		e.Fatalf("the position after a page has %d bytes, more than %d", len(b.Next), maxPosition)
	case b.More && b.Next == q.From:
		e.Fatalf("a page of %d rows says More and does not move", len(b.Records))
	case b.Ahead && len(b.Records) > 0:
		e.Fatalf("a page that is ahead of its Until has %d rows", len(b.Records))
	}
	for i := range b.Records {
		r := &b.Records[i]
		if !anyContains(q.Slots, r.Slot) {
			e.Fatalf("a page of slots %v has a row of slot %d", q.Slots, r.Slot)
		}
	}
	if n := len(b.Records); n > 0 {
		if p := b.At(n - 1); p == "" || len(p) > maxPosition {
			e.Fatalf("the position after a page's last row has %d bytes", len(p))
		}
	}
}

func anyContains(ranges []store.Slots, slot int) bool {
	for _, r := range ranges {
		if r.Contains(slot) {
			return true
		}
	}
	return false
}

// emptyPages is how many pages without a row may follow one another: a store may
// scan other slots' rows, but it must get on.
const emptyPages = 10_000

// all reads until the limit ends no page, and returns what came.
func (c *pager) all() []store.Record {
	c.Helper()
	begun := len(c.got)
	empty := 0
	for {
		b := c.page()
		if !b.More {
			return c.got[begun:]
		}
		if empty++; len(b.Records) > 0 {
			empty = 0
		}
		if empty > emptyPages {
			c.Fatalf("%d pages with More and no row: the chain does not get on", empty)
		}
	}
}

// await reads until n messages came since the chain began, and once more, so
// that one too many is seen.
func (c *pager) await(n int) {
	c.Helper()
	for end := time.Now().Add(c.patience); len(c.got) < n && time.Now().Before(end); {
		if len(c.all()) == 0 {
			c.tick()
		}
	}
	c.all()
}

// expect fails the case unless what comes from now on is exactly want.
func (c *pager) expect(want ...postbag.Message) []store.Record {
	c.Helper()
	c.got = nil
	c.await(len(want))
	checkExact(c.TB, c.got, want)
	if c.Failed() {
		c.FailNow()
	}
	return c.got
}

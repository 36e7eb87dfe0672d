package storetest

import (
	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// eraseTwice: an application can give its own ids. Between the two are more messages than a search by id looks at together.
func eraseTwice(e *env) {
	ed := e.editor()
	e.inspector()
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	const between = 3000
	m := e.message("secret")
	e.publish(m)
	for range between / 1000 {
		e.publish(e.messages(1000, "")...)
	}
	erase := func() store.Erased {
		e.Helper()
		got, err := ed.Erase(e.ctx, why, box, []postbag.ID{m.ID})
		e.check(err, "erase")
		return got
	}
	c := e.pager()
	passed := func(n int) {
		e.Helper()
		if c.await(n); len(c.got) != n {
			e.Fatalf("of %d messages %d come", n, len(c.got))
		}
		e.settle(&lease, store.Settlement{To: c.req.From})
	}
	passed(1 + between)
	e.publish(m)
	if got := erase(); got.Messages != 0 || len(got.Refused) != 1 {
		e.Errorf("a message that is to be delivered once more: %d are erased, %d refused", got.Messages, len(got.Refused))
	}
	passed(2 + between)
	if got := erase(); got.Messages != 1 || len(got.Refused) != 0 {
		e.Errorf("a message that was delivered twice: %d are erased, %d refused", got.Messages, len(got.Refused))
	}
	items := e.list(store.Query{ID: m.ID})
	for _, it := range items {
		if len(it.Payload) > 0 || it.Key != "" || !store.IsErased(it.Headers) {
			e.Errorf("at seq %d an erased message has %d bytes and key %q", it.Seq, len(it.Payload), it.Key)
		}
	}
	if len(items) != 2 {
		e.Errorf("a message that was published twice is listed %d times", len(items))
	}
}

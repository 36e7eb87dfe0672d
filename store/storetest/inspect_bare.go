package storetest

import (
	"bytes"
	"time"

	"github.com/postbag/postbag/store"
)

// listBare: those who count need no payloads, and a count must not end where these get large.
func listBare(e *env) {
	in := e.inspector()
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	msgs := e.messages(5, "a", "b")
	for i := range msgs {
		msgs[i].Payload = bytes.Repeat([]byte{'x'}, 4<<20)
	}
	for _, m := range msgs {
		e.publish(m)
	}
	c := e.pager()
	var ps []store.Park
	for _, r := range c.expect(msgs...) {
		p := loose(park(r, store.ParkDead))
		p.Reason = "too large"
		ps = append(ps, p)
	}
	e.settle(&lease, store.Settlement{To: c.req.From, Park: ps})
	for _, state := range []store.State{store.StateDead, ""} {
		e.bare(in, store.Query{Ref: ref, State: state, Bare: true}, len(msgs), "too large")
	}
	e.publish(at(e.message("c"), e.now().Add(time.Hour)))
	items := e.bare(in, store.Query{Ref: ref, State: store.StateScheduled, Bare: true}, 1, "")
	if items[0].NotBefore.IsZero() || items[0].Due < time.Minute {
		e.Errorf("a scheduled message of a bare listing is due at %v, in %v", items[0].NotBefore, items[0].Due)
	}
}

// bare fails the case unless one page has n messages with this error, and of none its headers or payload.
func (e *env) bare(in store.Inspector, q store.Query, n int, reason string) []store.Item {
	e.Helper()
	items, next, err := in.List(e.ctx, q)
	e.check(err, "list")
	if len(items) != n || next != "" {
		e.Fatalf("state %q: a bare page has %d messages of %d, and the cursor %q", q.State, len(items), n, next)
	}
	for i := range items {
		it := &items[i]
		if it.Payload != nil || it.Headers != nil {
			e.Errorf("state %q: a bare listing has headers, or %d bytes of payload", q.State, len(it.Payload))
		}
		if it.ID.IsZero() || it.Topic != "orders" || it.Key == "" || it.Type == "" || it.At.IsZero() || it.Reason != reason {
			e.Errorf("state %q: a bare listing lacks more than headers and payload: topic %q, key %q, error %q", q.State, it.Topic, it.Key, it.Reason)
		}
	}
	return items
}

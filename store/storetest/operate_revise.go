package storetest

import (
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

func revises(e *env) {
	r, ok := e.Store.(store.Reviser)
	if !ok {
		e.Skip("the store is no Reviser")
	}
	l := e.parked("a")
	old, m := l.msgs[0].ID, e.message("a")
	m.Headers[store.HeaderEditedFrom] = old.String()
	m.Payload = []byte(`{"edited":true}`)
	e.check(r.Revise(e.ctx, why, box, old, m), "edit")
	e.pager().expect(l.msgs[0], m)
	e.audits("edit", box, old.String(), m.ID.String())
	if items := e.shown(m.ID); len(items) != 1 || items[0].State != store.StatePending {
		e.Errorf("an edited message is shown %d times, not once as pending", len(items))
	} else {
		checkWhole(e.TB, &items[0].Record, &m)
	}
	before := e.edits()
	wrong := e.message("a")
	wrong.Headers["Postbag-Id"] = "mine"
	for name, refused := range map[string]error{
		"without who":                      r.Revise(e.ctx, store.Audit{Why: "x"}, box, old, e.message("a")),
		"without why":                      r.Revise(e.ctx, store.Audit{Who: "x"}, box, old, e.message("a")),
		"of a box that is not there":       r.Revise(e.ctx, why, "nowhere", old, e.message("a")),
		"with a header that relays use":    r.Revise(e.ctx, why, box, old, wrong),
		"with a payload that is too large": r.Revise(e.ctx, why, box, old, postbag.Message{ID: e.message("").ID, Payload: make([]byte, postbag.MaxPayload+1)}),
	} {
		if refused == nil {
			e.Errorf("an edited message %s was taken", name)
		}
	}
	if after := e.edits(); after != before {
		e.Errorf("edits that were refused are in the audit log: %d, and there were %d", after, before)
	}
	e.pager().expect(l.msgs[0], m)
}

// edits is how many edited messages the audit log has.
func (e *env) edits() (n int) {
	e.Helper()
	entries, err := e.operator().Audited(e.ctx, 1000)
	e.check(err, "read the audit log")
	for i := range entries {
		if strings.HasPrefix(entries[i].What, "edit ") {
			n++
		}
	}
	return n
}

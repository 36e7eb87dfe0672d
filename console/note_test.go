package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

const errorsOf = "/api/v1" + boxPage + "/errors"

func noting(kind, text string) url.Values {
	return url.Values{"do": {"set"}, "subscription": {"default"}, "kind": {kind}, "note": {text}}
}

func TestAnOperatorWritesANoteOnAGroupOfErrorsThatEverybodySees(t *testing.T) {
	t.Parallel()
	m := alike(t)
	at := serve(t, commanding, m)
	group := into[console.Errors](t, at+errorsOf).Groups[0]
	if _, body := get(t, at+boxPage+"/errors"); group.Note != nil || strings.Count(body, ">Write a note<") != 2 || strings.Contains(body, "Remove the note") {
		t.Fatalf("before there is a note, the group is %+v and the page\n%s", group, body)
	}
	response, body := post(t, at+boxPage+"/errors/notes", noting(strings.ReplaceAll(group.Kind, "\n", "\r\n"), "vendor <told>,\r\nticket 123 "))
	if to := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || to != "../errors" {
		t.Fatalf("it answers %s with %q: %s", response.Status, to, body)
	}
	groups := into[console.Errors](t, at+errorsOf).Groups
	if n := groups[0].Note; n == nil || n.Text != "vendor <told>,\nticket 123" || n.Who != "ann@desk" || n.At.IsZero() || groups[1].Note != nil {
		t.Fatalf("the groups are %+v with the note %+v", groups, groups[0].Note)
	}
	viewers := serve(t, console.Options{}, m)
	if _, body := get(t, viewers+boxPage+"/errors"); !strings.Contains(body, "vendor &lt;told&gt;,\nticket 123") || !strings.Contains(body, "ann@desk") || strings.Contains(body, "<textarea") {
		t.Errorf("a console without commands shows\n%s", body)
	}
	line := into[console.Audit](t, at+"/api/v1/databases/shop/audit?limit=1").Lines[0]
	if line.Who != "ann@desk" || line.Why != "vendor <told>,\nticket 123" || !strings.Contains(line.What, "note on errors of outbox/default: order N") {
		t.Errorf("the audit log says %+v", line)
	}
	fields := noting(group.Kind, "")
	fields.Set("do", "remove")
	if response, body := post(t, at+errorsOf+"/notes", fields); response.StatusCode != http.StatusOK || !strings.Contains(body, `"changed":1`) {
		t.Fatalf("a removal answers %s: %s", response.Status, body)
	}
	line = into[console.Audit](t, at+"/api/v1/databases/shop/audit?limit=1").Lines[0]
	if n := into[console.Errors](t, at+errorsOf).Groups[0].Note; n != nil || line.Why != "no reason was given" || !strings.HasPrefix(line.What, "remove the note") {
		t.Errorf("after the removal the note is %+v, and the audit log says %+v", n, line)
	}
}

func TestANoteThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	m := alike(t)
	at := serve(t, commanding, m)
	with := func(name, value string) url.Values {
		f := noting("too large", "x")
		f.Set(name, value)
		return f
	}
	for _, one := range []struct {
		fields url.Values
		code   int
		says   string
	}{
		{with("note", " \n"), 400, "the note is empty"},
		{with("note", strings.Repeat("x", 1001)), 400, "write at most 1000"},
		{with("kind", ""), 400, "the kind of error has 0 bytes"},
		{with("do", "write"), 400, "neither set nor remove"},
		{with("subscription", "nobody"), 404, "no such subscription"},
		{with("state", "nonsense"), 400, "there is no field"},
	} {
		if response, body := post(t, at+errorsOf+"/notes", one.fields); response.StatusCode != one.code || !strings.Contains(body, one.says) {
			t.Errorf("%v answers %s: %s", one.fields, response.Status, body)
		}
	}
	if got, err := m.ErrorNotes(t.Context(), boxtest.Outbox); err != nil || len(got) != 0 {
		t.Errorf("notes that were refused are there: %+v (%v)", got, err)
	}
	if response, _ := post(t, serve(t, console.Options{}, m)+errorsOf+"/notes", with("note", "x")); response.StatusCode != http.StatusForbidden {
		t.Errorf("a console without commands answers %s", response.Status)
	}
}

// unnoted is a store whose notes cannot be read.
type unnoted struct{ *memstore.Store }

func (unnoted) ErrorNotes(context.Context, store.Ref) ([]store.ErrorNote, error) {
	return nil, errors.New("no right to read notes")
}

func TestErrorsAreShownAlthoughNotesCannotBeRead(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, unnoted{alike(t)})
	if v := into[console.Errors](t, at+errorsOf); len(v.Groups) != 2 || v.WithoutNotes != "no right to read notes" {
		t.Errorf("it answers %+v", v)
	}
	if _, body := get(t, at+boxPage+"/errors"); !strings.Contains(body, "Notes cannot be read: no right to read notes") || !strings.Contains(body, "too large") {
		t.Errorf("the page is\n%s", body)
	}
}

package console_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/internal/pagetest"
	"github.com/postbag/postbag/store"
)

var editing = console.Options{Commands: true, Payloads: true, Edits: true, Who: "ann"}

// whole returns a message with its payload.
func whole(t *testing.T, at, id string) console.Copies {
	t.Helper()
	return into[console.Copies](t, at+messages+"/"+id+"?payload=true")
}

func TestAnOperatorEditsAMessageAndPublishesItAsANewOne(t *testing.T) {
	t.Parallel()
	old := postbag.Message{
		ID: postbag.NewID(), Topic: "orders", Key: "k", ShardKey: "s", Type: "order.created",
		Payload: []byte("\n{\n\t\"a\": \"</textarea>\"\n}"), Headers: map[string]string{"note": "a\"b", "Edited-From": "x"},
	}
	at := serve(t, editing, holding(t, old))
	page := at + boxPage + "/messages/" + old.ID.String()
	_, body := get(t, page+"?payload=true")
	if _, faults := pagetest.Read(body); len(faults) > 0 {
		t.Errorf("the page has faults: %s", strings.Join(faults, "\n"))
	}
	_, form, _ := strings.Cut(body, `<textarea id="payload"`)
	_, form, _ = strings.Cut(form, ">\n") // a browser takes no notice of the first line end
	if shown, _, _ := strings.Cut(form, "</textarea>"); html.UnescapeString(shown) != string(old.Payload) {
		t.Errorf("the form has the payload %q", shown)
	}
	fields := url.Values{"payload": {"{\r\n\t\"a\": 2\r\n}"}, "headers": {`{"note":"new"}`}, "why": {"a typo"}}
	response, body := post(t, page+"/edits", fields)
	to := strings.TrimPrefix(response.Header.Get("Location"), "../")
	if response.StatusCode != http.StatusSeeOther || len(to) != 36 || to == old.ID.String() {
		t.Fatalf("it answers %s with %q: %s", response.Status, to, body)
	}
	got := whole(t, at, to).First()
	payload, err := got.Body.Bytes()
	if err != nil || string(payload) != "{\n\t\"a\": 2\n}" || got.Topic != "orders" || got.Key != "k" || got.ShardKey != "s" || got.Type != "order.created" ||
		len(got.Headers) != 2 || got.Headers["note"] != "new" || got.EditedFrom != old.ID.String() {
		t.Errorf("the new message is %+v, with the payload %q: %v", got, payload, err)
	}
	if v := whole(t, at, old.ID.String()); len(v.EditedAs) != 1 || v.EditedAs[0].String() != to || string(v.First().State) != "pending" {
		t.Errorf("the old message is %+v", v)
	}
	if linked(t, page, to) != at+boxPage+"/messages/"+to || linked(t, at+boxPage+"/messages/"+to, old.ID.String()) != page {
		t.Error("the pages of the two messages do not lead to each other")
	}
	line := into[console.Audit](t, at+"/api/v1/databases/shop/audit?limit=1").Lines[0]
	if line.Who != "ann" || line.Why != "a typo" || line.What != "edit outbox "+old.ID.String()+" as "+to {
		t.Errorf("the audit log says %+v", line)
	}
}

// A consumer writes why it parked a message into a header that no publisher may set.
func TestAMessageThatAConsumerHasParkedIsEditedWithoutTheReason(t *testing.T) {
	t.Parallel()
	old := postbag.Message{ID: postbag.NewID(), Topic: "t", Payload: []byte("text"), Headers: map[string]string{"note": "a", store.FailedHeader: "it was rejected"}}
	at := serve(t, editing, holding(t, old))
	page := at + boxPage + "/messages/" + old.ID.String()
	_, body := get(t, page+"?payload=true")
	_, form, _ := strings.Cut(body, `<textarea id="headers"`)
	_, form, _ = strings.Cut(form, ">\n")
	form, _, _ = strings.Cut(form, "</textarea>")
	if form = html.UnescapeString(form); !strings.Contains(form, "note") || strings.Contains(form, store.FailedHeader) {
		t.Errorf("the form has the headers %s", form)
	}
	all, err := json.Marshal(old.Headers) // who calls the API may send all that it was shown
	if err != nil {
		t.Fatal(err)
	}
	for _, headers := range []string{form, string(all)} {
		response, body := post(t, page+"/edits", url.Values{"payload": {"new"}, "headers": {headers}, "why": {"a typo"}})
		if response.StatusCode != http.StatusSeeOther {
			t.Fatalf("with the headers %s it answers %s: %s", headers, response.Status, body)
		}
		to := strings.TrimPrefix(response.Header.Get("Location"), "../")
		if got := whole(t, at, to).First(); len(got.Headers) != 2 || got.Headers["note"] != "a" || got.EditedFrom != old.ID.String() {
			t.Errorf("the new message has the headers %v", got.Headers)
		}
	}
}

func TestAnEditThatIsWrongPublishesNothing(t *testing.T) {
	t.Parallel()
	text := postbag.Message{ID: postbag.NewID(), Topic: "t", Payload: []byte("text")}
	binary := postbag.Message{ID: postbag.NewID(), Topic: "t", Payload: []byte("\x00\xff")}
	lines := postbag.Message{ID: postbag.NewID(), Topic: "t", Payload: []byte("a\r\nb")}
	large := postbag.Message{ID: postbag.NewID(), Topic: "t", Payload: []byte(strings.Repeat("x", operations.MostEdited+1))}
	m := holding(t, text, binary, lines, large)
	at := serve(t, editing, m)
	edits := func(id postbag.ID) string { return "/api/v1" + boxPage + "/messages/" + id.String() + "/edits" }
	reserved, err := json.Marshal(map[string]string{"Postbag-Id": "mine"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at, path, payload, headers, why string
		code                            int
		says                            string
	}{
		{at, edits(text.ID), "new", "", "", 400, "say why"},
		{at, edits(text.ID), "new", "[1]", "why", 400, "no JSON object"},
		{at, edits(text.ID), "new", string(reserved), "why", 400, "begins with Postbag-"},
		{at, edits(text.ID), "\x00", "", "why", 400, "no text"},
		{at, edits(text.ID), strings.Repeat("x", operations.MostEdited+1), "", "why", 400, "64 KiB"},
		{at, edits(binary.ID), "new", "", "why", 400, "no text"},
		{at, edits(lines.ID), "new", "", "why", 400, "a form does not keep"},
		{at, edits(large.ID), "new", "", "why", 400, "64 KiB"},
		{at, edits(postbag.NewID()), "new", "", "why", 404, "no message"},
		{serve(t, console.Options{Commands: true, Who: "ann"}, m), edits(text.ID), "new", "", "why", 400, "shows no payloads"},
		{serve(t, console.Options{Payloads: true}, m), edits(text.ID), "new", "", "why", 403, "takes no commands"},
		{serve(t, console.Options{Commands: true, Payloads: true, Who: "ann"}, m), edits(text.ID), "new", "", "why", 403, "takes no edited messages"},
	} {
		response, body := post(t, c.at+c.path, url.Values{"payload": {c.payload}, "headers": {c.headers}, "why": {c.why}})
		if response.StatusCode != c.code || !strings.Contains(body, c.says) {
			t.Errorf("with the payload %.20q and headers %s it answers %s: %s; want %d, and %s", c.payload, c.headers, response.Status, body, c.code, c.says)
		}
	}
	if n := len(into[console.Messages](t, at+messages).Messages); n != 4 {
		t.Errorf("there are %d messages", n)
	}
	for id, says := range map[postbag.ID]string{binary.ID: "cannot be edited, since it is no text", large.ID: "cannot be edited, since it has more than 64 KiB"} {
		if _, body := get(t, at+boxPage+"/messages/"+id.String()+"?payload=true"); !strings.Contains(body, says) || strings.Contains(body, "<textarea") {
			t.Errorf("the page does not say that the payload %s:\n%.3000s", says, body)
		}
	}
}

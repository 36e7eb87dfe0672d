package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// secret is what no answer may have, in each form in which a page could show it.
const secret = "CANARY4711"

// secretBox is a store with messages that have a secret: dead ones, pending ones and a scheduled one.
func secretBox(t *testing.T) (*memstore.Store, []postbag.Message) {
	t.Helper()
	m := memstore.New(memstore.Options{})
	if err := m.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	d := boxtest.New(t, m)
	publish := func(msgs ...postbag.Message) {
		d.Must(m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, "outbox", msgs) }))
	}
	headers := map[string]string{"Authorization": "Bearer " + secret, "X-Api-Key": secret, "note": "seen"}
	all := []postbag.Message{
		{Payload: []byte(`{"card":{"number":"` + secret + `"},"seen":"yes"}`)},
		{Payload: []byte(`{"a":[{"password":{"x":["` + secret + `"]}}],"p\u0061ssword":"` + secret + `"}`), Headers: headers},
		{Payload: []byte(secret + " is no JSON"), Headers: headers},
		{Payload: []byte{0xff, 0x00, 'C', 'A', 'N', 'A', 'R', 'Y', '4', '7', '1', '1'}},
		{Payload: []byte(`{"password":"` + secret + `"}`), NotBefore: time.Now().Add(time.Hour)},
	}
	for i := range all {
		all[i].ID, all[i].Topic, all[i].Key = postbag.NewID(), "orders", "a"
	}
	publish(all[:2]...)
	var st store.Settlement
	for _, r := range d.Read() {
		st.Park = append(st.Park, store.Park{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead, Attempts: 1, Reason: "refused"})
	}
	st.To = d.At
	d.Settle(&d.Lease, st)
	publish(all[2:]...)
	return m, all
}

// hiding is a console with rules for the secret.
func hiding(t *testing.T, m *memstore.Store, redact Redact) http.Handler {
	t.Helper()
	h, err := New(Options{
		Databases: []Database{{Name: "shop", Store: m}}, Payloads: true, Commands: true, Edits: true, Who: "ann", Redact: redact,
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var cards = Redact{Headers: []string{"authorization", "x-*"}, JSON: []string{"$.card.number", "$..password"}}

// requested is the answer to a request.
func requested(h http.Handler, method, at string, form url.Values) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, at, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	h.ServeHTTP(w, r)
	return w
}

// leaks says whether a text has the secret in some form.
func leaks(body string) bool {
	flat := strings.NewReplacer("|", "", "\n", "", " ", "").Replace(body)
	for _, form := range []string{secret, "43414e41525934373131", "Q0FOQVJZNDcxM", "NBTkFSWTQ3MT", "DQU5BUlk0NzEx"} { // hex, and base64 at each offset
		if strings.Contains(body, form) || strings.Contains(flat, form) {
			return true
		}
	}
	return false
}

// Every route of the table is asked for every message, with each of its parameters that could show more. A new route is asked too.
func TestWhatRulesHideIsInNoAnswerOfAnyRoute(t *testing.T) {
	t.Parallel()
	m, all := secretBox(t)
	h := hiding(t, m, cards)
	shown := 0
	for _, r := range routes() {
		for i := range all {
			at := strings.NewReplacer("{database}", "shop", "{box}", "outbox", "{subscription}", "default", "{id}", all[i].ID.String(), "{$}", "").Replace(r.path)
			for _, query := range []string{"", "?payload=true", "?format=ndjson", "?format=csv", "?oldest=true", "?state=scheduled", "?id=" + all[i].ID.String()} {
				w := requested(h, r.verb(), at+query, url.Values{"do": {"retry"}, "why": {"a test"}, "subscription": {"default"}})
				if leaks(w.Body.String()) {
					t.Errorf("%s %s shows the secret:\n%s", r.verb(), at+query, w.Body)
				}
				if strings.Contains(w.Body.String(), "***") {
					shown++
				}
			}
		}
	}
	if shown < 5 {
		t.Errorf("%d answers have what is hidden, so payloads were not asked for", shown)
	}
}

func TestThePageSaysWhatRulesHide(t *testing.T) {
	t.Parallel()
	m, all := secretBox(t)
	h := hiding(t, m, cards)
	page := func(i int) string {
		return requested(h, http.MethodGet, "/databases/shop/boxes/outbox/messages/"+all[i].ID.String()+"?payload=true", nil).Body.String()
	}
	if text := page(1); !strings.Contains(text, "hide values of headers; parts of the payload.") || !strings.Contains(text, ">seen<") || strings.Contains(text, "Payload as bytes") || strings.Contains(text, "postbag publish") {
		t.Errorf("the page of a message with hidden parts is\n%s", text)
	}
	if text := page(2); !strings.Contains(text, "which is no JSON, so that no rule") || !strings.Contains(text, "It is hidden.") || strings.Contains(text, "Payload as text") {
		t.Errorf("the page of a message that is no JSON is\n%s", text)
	}
	var v Copies
	body := requested(h, http.MethodGet, "/api/v1/databases/shop/boxes/outbox/messages/"+all[0].ID.String()+"?payload=true", nil).Body.Bytes()
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	if one := v.First(); string(one.Payload) != `{"card":{"number":"***"},"seen":"yes"}` || one.Bytes != len(all[0].Payload) || len(v.Hidden) != 1 || v.Hidden[0] != hiddenParts {
		t.Errorf("the answer is %s", body)
	}
}

func TestAMessageThatRulesDoNotTouchIsShownWhole(t *testing.T) {
	t.Parallel()
	m, all := secretBox(t)
	for _, redact := range []Redact{{JSON: []string{"$.nothing"}, Headers: []string{"nothing"}}, {}, {JSON: []string{"$.nothing"}, ShowOther: true}} {
		h := hiding(t, m, redact)
		text := requested(h, http.MethodGet, "/databases/shop/boxes/outbox/messages/"+all[0].ID.String()+"?payload=true", nil).Body.String()
		if !leaks(text) || !strings.Contains(text, "Payload as bytes") || !strings.Contains(text, "postbag publish") || strings.Contains(text, "The rules of this console") {
			t.Errorf("under %+v the page is\n%s", redact, text)
		}
	}
	h := hiding(t, m, Redact{JSON: []string{"$.nothing"}, ShowOther: true})
	if text := requested(h, http.MethodGet, "/databases/shop/boxes/outbox/messages/"+all[2].ID.String()+"?payload=true", nil).Body.String(); !strings.Contains(text, secret+" is no JSON") {
		t.Errorf("a payload that is no JSON is not shown:\n%s", text)
	}
}

// What a decoder makes of a payload that is no JSON has the same values.
func TestAPayloadWhoseDecodedFormHasWhatIsHiddenIsHidden(t *testing.T) {
	t.Parallel()
	m, all := secretBox(t)
	at := "/databases/shop/boxes/outbox/messages/" + all[2].ID.String() + "?payload=true"
	for field, hides := range map[string]bool{"password": true, "name": false} {
		h, err := New(Options{
			Databases: []Database{{Name: "shop", Store: m}}, Payloads: true, Redact: Redact{Headers: cards.Headers, JSON: []string{"$..password"}, ShowOther: true},
			Decode: func(string, string, []byte) (string, bool) { return `{"user":{"` + field + `":"decoded"}}`, true },
		})
		if err != nil {
			t.Fatal(err)
		}
		page, api := requested(h, http.MethodGet, at, nil).Body.String(), requested(h, http.MethodGet, "/api/v1"+at, nil).Body.String()
		if leaks(page) == hides || leaks(api) == hides || strings.Contains(page, ">Decoded<") == hides || strings.Contains(page, "its decoded form has what the rules hide") != hides {
			t.Errorf("with the field %s the page is\n%s\nand the API says %s", field, page, api)
		}
	}
}

// *** would be published in place of what is hidden.
func TestAMessageOfWhichSomethingIsHiddenCannotBeEdited(t *testing.T) {
	t.Parallel()
	m, all := secretBox(t)
	form := url.Values{"payload": {"new"}, "headers": {""}, "why": {"a test"}}
	for rules, hides := range map[*Redact]bool{&cards: true, {JSON: []string{"$.nothing"}}: false} {
		h := hiding(t, m, *rules)
		at := "/databases/shop/boxes/outbox/messages/" + all[0].ID.String()
		if text := requested(h, http.MethodGet, at+"?payload=true", nil).Body.String(); strings.Contains(text, "/edits\"") == hides {
			t.Errorf("with %+v the page is\n%s", *rules, text)
		}
		w := requested(h, http.MethodPost, "/api/v1"+at+"/edits", form)
		if refused := w.Code == http.StatusBadRequest && strings.Contains(w.Body.String(), "cannot be edited here"); refused != hides {
			t.Errorf("with %+v the answer is %d %s", *rules, w.Code, w.Body)
		}
	}
}

func TestAConsoleWithARuleThatIsNoneDoesNotBegin(t *testing.T) {
	t.Parallel()
	o := Options{Databases: []Database{{Name: "shop", Store: memstore.New(memstore.Options{})}}, Redact: Redact{JSON: []string{"card"}, Headers: []string{""}}}
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), `json[0] is "card", which does not begin with $`) || !strings.Contains(err.Error(), "headers[0]") {
		t.Errorf("it says %v", err)
	}
}

// Payloads come from one place, which hides: no other file of the package makes a message with its payload.
func TestPayloadsComeFromThePlaceThatHides(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || name == "redact.go" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if bytes.Contains(line, []byte("operations.MessageOf(")) && !bytes.Contains(line, []byte("false)")) {
				t.Errorf("%s makes a message with its payload; take it from messageOf:\n%s", name, line)
			}
		}
	}
	var c console
	item := &store.Item{Record: store.Record{Message: postbag.Message{Payload: []byte("x")}}}
	if m, hidden, _ := c.messageOf(t.Context(), "outbox", item, true); hidden != nil || len(m.Payload) == 0 {
		t.Error("without rules a payload is hidden")
	}
	if m, _, _ := c.messageOf(t.Context(), "outbox", item, false); m.Payload != nil || m.Base64 != nil {
		t.Error("a payload that was not asked for is shown")
	}
}

// The time-out of a question is that of the rules too: they look at a payload of many values for as long as that.
func TestALargePayloadWhoseRulesTakeTooLongIsNotShown(t *testing.T) {
	t.Parallel()
	m := memstore.New(memstore.Options{})
	if err := m.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	boxtest.New(t, m)
	large := []byte("[" + strings.Repeat("[[1]],", 2<<20) + "1]")
	item := postbag.Message{ID: postbag.NewID(), Topic: "t", Payload: large}
	if err := m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return m.Append(ctx, tx, "outbox", []postbag.Message{item})
	}); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i := range 100 {
		paths = append(paths, fmt.Sprintf("$..*..*..a%d", i))
	}
	h, err := New(Options{Databases: []Database{{Name: "shop", Store: m}}, Payloads: true, Timeout: time.Second, Redact: Redact{JSON: paths}})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/databases/shop/boxes/outbox/messages/"+item.ID.String()+"?payload=true", http.NoBody))
	if w.Code != http.StatusGatewayTimeout || !strings.Contains(w.Body.String(), "could not be found in time") {
		t.Errorf("it answers %d: %.300s", w.Code, w.Body)
	}
}

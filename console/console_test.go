package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// hostile are texts that would be something else than text on a page that does not escape them.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'-alert(1)-'`, `javascript:alert(1)`, `</td></table><svg onload=alert(1)>`,
	`<!--<script>`, `{{.}}`, "\u2028alert(1)", `<a href="javascript:alert(1)">`, `&lt;script&gt;`, `<style>@import 'http://127.0.0.1'</style>`, `=cmd|'/C calc'!A1`,
}

// box is a store in which messages are dead, one for each hostile text, which stands in its topic, key, type, payload, header and error.
func box(t *testing.T) *memstore.Store {
	t.Helper()
	m := memstore.New(memstore.Options{})
	d := boxtest.New(t, created(t, m))
	var msgs []postbag.Message
	for _, text := range hostile {
		msgs = append(msgs, postbag.Message{ID: postbag.NewID(), Topic: text, Key: text, Type: text, Payload: []byte("PAYLOAD" + text), Headers: map[string]string{"note": text}})
	}
	d.Must(m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, boxtest.Outbox.Box, msgs) }))
	records := d.Read()
	parks := make([]store.Park, len(records))
	for i, r := range records {
		parks[i] = store.Park{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead, Attempts: 1, Reason: "refused " + hostile[i]}
	}
	d.Settle(&d.Lease, store.Settlement{To: d.At, Park: parks, Tally: boxtest.Tally(store.TallyParked, records...)})
	d.Must(m.SetPaused(t.Context(), store.Audit{Who: hostile[0], Why: hostile[1]}, boxtest.Outbox, true))
	planned(t, m, boxtest.Outbox, store.Audit{Who: hostile[0], Why: hostile[1]})
	return m
}

// planned plans an operation that does not begin.
func planned(t *testing.T, m *memstore.Store, of store.Ref, a store.Audit) {
	t.Helper()
	_, err := m.PlanOperation(t.Context(), a, store.Operation{Ref: of, Kind: store.OperationDiscard, Of: store.StatePending, Chosen: `{"filter":"<b>"}`, AsOf: time.Now(), Matched: 1})
	if err != nil {
		t.Fatal(err)
	}
}

func created(t *testing.T, m *memstore.Store) *memstore.Store {
	t.Helper()
	if err := m.CreateBox(t.Context(), boxtest.Outbox.Box); err != nil {
		t.Fatal(err)
	}
	return m
}

// serve serves a console of stores, which are named shop, and shop2 and so on.
func serve(t *testing.T, o console.Options, stores ...store.Store) string {
	t.Helper()
	for i, s := range stores {
		name := "shop"
		if i > 0 {
			name += string(rune('1' + i))
		}
		o.Databases = append(o.Databases, console.Database{Name: name, Store: s})
	}
	h, err := console.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(console.Loopback(h))
	t.Cleanup(server.Close)
	return server.URL
}

// answer is what came back, without its body.
type answer struct {
	Status          string
	StatusCode      int
	Header, Trailer http.Header
}

// get asks for an address, and returns the answer with its body.
func get(t *testing.T, url string) (answer, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.Status, response.StatusCode, response.Header, response.Trailer}, string(body)
}

// into reads an answer of the API.
func into[T any](t *testing.T, url string) (v T) {
	t.Helper()
	response, body := get(t, url)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s: %s", url, response.Status, body)
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%s answers %s: %v", url, body, err)
	}
	return v
}

const messages = "/api/v1/databases/shop/boxes/outbox/messages"

func TestWhatNeedsALookComesFirst(t *testing.T) {
	t.Parallel()
	empty := created(t, memstore.New(memstore.Options{}))
	at := serve(t, console.Options{}, empty, box(t), broken{memstore.New(memstore.Options{})})
	o := into[console.Overview](t, at+"/api/v1/overview")
	if len(o.Databases) != 3 || o.Databases[0].Good || o.Databases[1].Good || !o.Databases[2].Good || o.Databases[2].Name != "shop" {
		t.Fatalf("the databases are %+v", o.Databases)
	}
	sick, away := o.Databases[0], o.Databases[1]
	if len(sick.Boxes) != 1 || !strings.Contains(strings.Join(sick.Boxes[0].Troubles, "\n"), "messages of outbox/default are dead") {
		t.Errorf("the box with dead messages says %v", sick.Boxes)
	}
	if away.Error != "the plug is out" {
		t.Errorf("a database that cannot be read says %q", away.Error)
	}
	_, page := get(t, at+"/")
	if !strings.Contains(page, "the plug is out") || !strings.Contains(page, "messages of outbox/default are dead") {
		t.Errorf("the page does not say what is wrong:\n%s", page)
	}
}

func TestNoTextOfAMessageIsEverPartOfAPage(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{Payloads: true}, box(t))
	response, page := get(t, at+"/")
	if got := response.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("the page is %s", got)
	}
	if !strings.Contains(page, "paused by &lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Errorf("the page does not say who paused:\n%s", page)
	}
	for _, text := range hostile {
		if strings.Contains(text, "<") && strings.Contains(page, text) {
			t.Errorf("the page has %s as it is", text)
		}
	}
	for _, path := range []string{"/api/v1/overview", messages, messages + "?format=ndjson", "/api/v1/databases/shop/audit"} {
		response, body := get(t, at+path)
		if kind := response.Header.Get("Content-Type"); strings.Contains(kind, "html") || response.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s is %s, and browsers may guess", path, kind)
		}
		if strings.Contains(body, "<") {
			t.Errorf("%s has a bare <:\n%s", path, body)
		}
	}
}

// ask sends a request with headers, and returns the answer without its body. Host is the name that it asks for.
func ask(t *testing.T, method, url, host string, headers map[string]string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return answer{response.Status, response.StatusCode, response.Header, response.Trailer}
}

func TestEveryAnswerKeepsOtherSitesOut(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
		"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Access-Control-Allow-Origin": "",
	}
	for _, one := range []struct {
		method, path, host string
		code               int
	}{
		{http.MethodGet, "/", "", 200},
		{http.MethodGet, "/style.css", "", 200},
		{http.MethodGet, "/api/v1/overview", "", 200},
		{http.MethodGet, "/api/v1/nothing", "", 404},
		{http.MethodGet, messages + "?format=csv", "", 200},
		{http.MethodGet, messages + "?limit=x", "", 400},
		{http.MethodPost, "/api/v1/overview", "", 405},
		{http.MethodGet, "/api/v1/overview", "evil.example", 421},
	} {
		got := ask(t, one.method, at+one.path, one.host, nil)
		if got.StatusCode != one.code {
			t.Errorf("%s %s as %q answers %s, want %d", one.method, one.path, one.host, got.Status, one.code)
		}
		for name, value := range want {
			if v := got.Header.Get(name); v != value {
				t.Errorf("%s %s as %q has %s: %q, want %q", one.method, one.path, one.host, name, v, value)
			}
		}
	}
}

func TestAPageOfAnotherSiteMakesTheConsoleDoNothing(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	for _, one := range []struct {
		path, site, dest string
		code             int
	}{
		{messages + "?format=csv", "cross-site", "image", 403},
		{messages + "?format=csv", "same-site", "empty", 403},
		{messages + "?format=csv", "cross-site", "document", 403},
		{"/", "cross-site", "image", 403},
		{"/", "cross-site", "iframe", 403},
		{"/", "cross-site", "document", 200},
		{"/", "none", "document", 200},
		{messages, "none", "document", 200},
		{messages, "same-origin", "empty", 200},
		{"/style.css", "same-origin", "style", 200},
	} {
		got := ask(t, http.MethodGet, at+one.path, "", map[string]string{"Sec-Fetch-Site": one.site, "Sec-Fetch-Dest": one.dest})
		if got.StatusCode != one.code {
			t.Errorf("%s, %s as %s, answers %s, want %d", one.path, one.site, one.dest, got.Status, one.code)
		}
	}
}

func TestAnotherNameOfThisMachineIsRefused(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	for host, want := range map[string]int{
		"evil.example": 421, "evil.example:80": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "10.0.0.1": 421, "0.0.0.0": 421,
		"localhost": 200, "LOCALHOST:9292": 200, "localhost.:9292": 200, "127.0.0.1": 200, "127.8.0.1:1": 200, "[::1]:9292": 200, "[::ffff:127.0.0.1]": 200,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/api/v1/overview", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("as %s it answers %d, want %d", host, response.StatusCode, want)
		}
	}
}

func TestNothingIsChangedThroughTheConsole(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		for _, path := range []string{"/", "/api/v1/overview", messages} {
			request, err := http.NewRequestWithContext(t.Context(), method, at+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s answers %s", method, path, response.Status)
			}
		}
	}
}

// broken is a store that cannot be read.
type broken struct{ *memstore.Store }

func (broken) Overview(context.Context) (store.Overview, error) {
	return store.Overview{}, errors.New("the plug is out")
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	m := memstore.New(memstore.Options{})
	for want, o := range map[string]console.Options{
		"no database":            {},
		`"a/b", is none`:         {Databases: []console.Database{{Name: "a/b", Store: m}}},
		`"..", is none`:          {Databases: []console.Database{{Name: "..", Store: m}}},
		`"", is none`:            {Databases: []console.Database{{Store: m}}},
		"two databases":          {Databases: []console.Database{{Name: "a", Store: m}, {Name: "a", Store: m}}},
		"neither Store nor Open": {Databases: []console.Database{{Name: "a"}}},
		"Streams is -1":          {Databases: []console.Database{{Name: "a", Store: m}}, Streams: -1},
		"Timeout is -1s":         {Databases: []console.Database{{Name: "a", Store: m}}, Timeout: -time.Second},
		"no store.Inspector and": {Databases: []console.Database{{Name: "a", Store: struct{ store.Store }{m}}}},
	} {
		if _, err := console.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error that says %q, got %v", want, err)
		}
	}
}

func TestEveryNameOfAStoreInAConfigurationIsOneOfADatabase(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "_a", "-", "0-9", "A_b", strings.Repeat("a", 63), "a.b"} {
		if _, err := console.New(console.Options{Databases: []console.Database{{Name: name, Store: memstore.New(memstore.Options{})}}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrorsAreShownInTheWordsOfTheOptions(t *testing.T) {
	t.Parallel()
	words := func(text string) string { return strings.ReplaceAll(text, "plug", "cable") }
	at := serve(t, console.Options{Words: words}, broken{memstore.New(memstore.Options{})})
	for _, path := range []string{"/", "/api/v1/overview", "/api/v1/databases/shop/relays"} {
		if _, body := get(t, at+path); strings.Contains(body, "plug") || !strings.Contains(body, "the cable is out") {
			t.Errorf("%s says %s", path, body)
		}
	}
}

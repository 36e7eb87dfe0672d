package console_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestMessagesAreShownPageByPageBothWays(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	for _, oldest := range []string{"false", "true"} {
		var got []int64
		cursor := ""
		for {
			query := url.Values{"limit": {"5"}, "oldest": {oldest}, "state": {"dead"}}
			if cursor != "" {
				query.Set("cursor", cursor)
			}
			page := into[console.Messages](t, at+messages+"?"+query.Encode())
			for _, m := range page.Messages {
				got = append(got, m.Seq)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if len(got) != len(hostile) {
			t.Fatalf("with oldest=%s the pages have %v", oldest, got)
		}
		for i := 1; i < len(got); i++ {
			if (got[i-1] < got[i]) != (oldest == "true") {
				t.Errorf("with oldest=%s the sequence is %v", oldest, got)
			}
		}
	}
}

func TestEachFilterSelects(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	one := into[console.Messages](t, at+messages+"?limit=1").Messages[0]
	for name, value := range map[string]string{"id": one.ID.String(), "topic": one.Topic, "key": one.Key, "type": one.Type, "error": one.Error} {
		page := into[console.Messages](t, at+messages+"?"+url.Values{name: {value}}.Encode())
		if len(page.Messages) != 1 || page.Messages[0].ID != one.ID {
			t.Errorf("%s=%s selects %+v", name, value, page.Messages)
		}
	}
	for query, want := range map[string]int{
		"state=dead": len(hostile), "state=delivered": 0, "subscription=default": len(hostile), "after=2000-01-01T00:00:00Z": len(hostile), "before=2000-01-01T00:00:00Z": 0,
	} {
		if got := len(into[console.Messages](t, at+messages+"?limit=200&"+query).Messages); got != want {
			t.Errorf("%s selects %d messages, want %d", query, got, want)
		}
	}
}

func TestARequestThatIsWrongIsRefusedWithWhatToDo(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	const id = "/01234567-89ab-7cde-8f01-23456789abcd"
	for path, want := range map[string]string{
		messages + "?topc=x":                                       "400 there is no parameter",
		messages + "?topic=%zz":                                    "400 the part behind the question mark is malformed; write % as %25",
		messages + "?error=100%+full":                              "400 the part behind the question mark is malformed",
		messages + "?state=dead;topic=x":                           "400 the part behind the question mark is malformed",
		messages + "?topic=":                                       "400 topic is empty",
		messages + "?topic=a&topic=b":                              "400 the parameter topic is given 2 times",
		messages + "?state=lost":                                   "400 state is no state",
		messages + "?id=7":                                         "400 that is no id",
		messages + "?after=yesterday":                              "400 after is no time; write it as 2026-01-31T12:00:00Z, with + as %2B",
		messages + "?type=a*b":                                     "400 type has a star",
		messages + "?topic=%00":                                    "400 topic is no text",
		messages + "?topic=%ff":                                    "400 topic is no text",
		messages + "?limit=0":                                      "400 limit is no number from 1 to 500",
		messages + "?limit=501":                                    "400 limit is no number from 1 to 500",
		messages + "?format=xml":                                   "400 format is not",
		messages + "?oldest=yes":                                   "400 oldest is neither",
		messages + "?cursor=x":                                     "400 the cursor is malformed",
		messages + "?format=csv&cursor=x":                          "400 the cursor is malformed",
		messages + "?subscription=A%2Fb":                           "404 the box has no such subscription",
		"/api/v1/databases/shop/boxes/NO%20BOX/messages" + id:      "404 there is no such box",
		messages + id:                                              "404 box outbox shows no message",
		messages + "/7":                                            "400 that is no id",
		messages + id + "?payload=true":                            "400 this console shows no payloads",
		"/api/v1/overview?x=1":                                     "400 there is no parameter",
		"/api/v1/databases/other/relays":                           "404 this console shows no such database",
		"/api/v1/databases/shop/boxes/none":                        "404 there is no such box",
		"/api/v1/databases/shop/audit?limit=1e3":                   "400 limit is no number",
		"/api/v1/databases/shop/boxes/none/messages":               "404 there is no such box",
		"/api/v1/databases/shop/boxes/..%2F..%2Fetc/messages":      "404 there is no such box",
		"/api/v1/databases/shop/boxes/outbox/subscriptions/nobody": "404 the box has no such subscription",
	} {
		response, body := get(t, at+path)
		var f console.Failure
		if err := json.Unmarshal([]byte(body), &f); err != nil {
			t.Errorf("%s answers %s with %s", path, response.Status, body)
			continue
		}
		if got := response.Status[:4] + f.Error; !strings.HasPrefix(got, want) {
			t.Errorf("%s answers %q, want %q", path, got, want)
		}
	}
}

func TestPayloadsAndHeadersAreShownOnlyWhereTheyMayBe(t *testing.T) {
	t.Parallel()
	m := box(t)
	closed, open := serve(t, console.Options{}, m), serve(t, console.Options{Payloads: true}, m)
	one := into[console.Messages](t, closed+messages+"?limit=1").Messages[0]
	for _, url := range []string{closed + "/", closed + messages, closed + messages + "?format=ndjson", closed + messages + "?format=csv", closed + messages + "/" + one.ID.String(), open + messages, open + messages + "/" + one.ID.String()} {
		if _, body := get(t, url); strings.Contains(body, "PAYLOAD") || strings.Contains(body, `"note"`) {
			t.Errorf("%s shows payloads or headers:\n%s", url, body)
		}
	}
	v := into[console.Copies](t, open+messages+"/"+one.ID.String()+"?payload=true")
	if len(v.Copies) != 1 || v.Done || !strings.Contains(string(v.Copies[0].Payload), "PAYLOAD") || v.Copies[0].Headers["note"] == "" || len(v.Copies[0].History) != 1 {
		t.Errorf("the message is %+v", v)
	}
}

func TestAnExportHasEveryMessageOnceAndSaysWhereItEnds(t *testing.T) {
	t.Parallel()
	m := box(t)
	more := make([]postbag.Message, 1000)
	for range 2 {
		for i := range more {
			more[i] = postbag.Message{ID: postbag.NewID(), Topic: "bulk"}
		}
		if err := m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, "outbox", more) }); err != nil {
			t.Fatal(err)
		}
	}
	at := serve(t, console.Options{}, m)
	want := len(hostile) + 2*len(more)
	response, body := get(t, at+messages+"?format=ndjson")
	seen := make(map[string]bool)
	for line := range strings.Lines(body) {
		var one struct{ ID string }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		seen[one.ID] = true
	}
	if next := response.Trailer.Get("Postbag-Next"); len(seen) != want || strings.Count(body, "\n") != want || next != "" {
		t.Errorf("the export has %d messages in %d lines, want %d, and goes on at %q", len(seen), strings.Count(body, "\n"), want, next)
	}
	response, body = get(t, at+messages+"?format=csv&limit=700&oldest=true")
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(rows) != 701 || rows[0][0] != "id" || response.Trailer.Get("Postbag-Next") == "" {
		t.Fatalf("the table has %d rows, and goes on at %q: %v", len(rows), response.Trailer.Get("Postbag-Next"), err)
	}
	for _, row := range rows[1:] {
		for _, cell := range row {
			if strings.HasPrefix(cell, "=") {
				t.Errorf("a spreadsheet takes %s for a formula", cell)
			}
		}
	}
}

// failing is a store whose second page fails.
type failing struct {
	*memstore.Store
}

func (f failing) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	if q.Cursor != "" {
		return nil, "", store.ErrNoBox
	}
	q.Limit = 2
	return f.Store.List(ctx, q)
}

func TestAnExportThatFailsHalfWayIsNotTakenForTheWhole(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, failing{box(t)})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+messages+"?format=ndjson", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	lines := 0
	decoder := json.NewDecoder(response.Body)
	for {
		var one map[string]any
		if err = decoder.Decode(&one); err != nil {
			break
		}
		lines++
	}
	if lines != 2 || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("behind %d lines it ends with %v", lines, err)
	}
}

func TestNoCellOfATableIsAFormula(t *testing.T) {
	t.Parallel()
	m := memstore.New(memstore.Options{})
	boxtest.New(t, created(t, m))
	cells := map[string]string{ // what a cell becomes
		"plain": "plain", "a-b": "a-b", "x;y": "x;y",
		"=cmd": "'=cmd", "+cmd": "'+cmd", "-cmd": "'-cmd", "@cmd": "'@cmd", "\tcmd": "'\tcmd", "\rcmd": "'\rcmd", "\ncmd": "'\ncmd", "＝cmd": "'＝cmd",
		"x;=cmd": "x;'=cmd", "x\t@cmd": "x\t'@cmd", "x\n+cmd": "x\n'+cmd", "x\r-cmd": "x\r'-cmd", "\t=cmd": "'\t'=cmd", "x;\"=cmd": "x;\"'=cmd", "x;;=cmd": "x;;'=cmd",
	}
	var msgs []postbag.Message
	for cell := range cells {
		msgs = append(msgs, postbag.Message{ID: postbag.NewID(), Topic: "t", Key: cell})
	}
	if err := m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, "outbox", msgs) }); err != nil {
		t.Fatal(err)
	}
	_, body := get(t, serve(t, console.Options{}, m)+messages+"?format=csv&oldest=true")
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(rows) != len(msgs)+1 {
		t.Fatalf("the table has %d rows: %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		// A reader of CSV takes \r\n for \n, so that no key here has both.
		if want := cells[msgs[i].Key]; row[8] != want {
			t.Errorf("%q becomes %q, want %q", msgs[i].Key, row[8], want)
		}
	}
}

// plain is a writer that can do nothing but write, as of some middleware.
type plain struct{ to *httptest.ResponseRecorder }

func (p plain) Header() http.Header         { return p.to.Header() }
func (p plain) Write(b []byte) (int, error) { return p.to.Write(b) }
func (p plain) WriteHeader(code int)        { p.to.WriteHeader(code) }

func TestAnExportGoesThroughMiddlewareThatCannotFlush(t *testing.T) {
	t.Parallel()
	h, err := console.New(console.Options{Databases: []console.Database{{Name: "shop", Store: box(t)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"ndjson", "csv"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(plain{w}, httptest.NewRequest(http.MethodGet, messages+"?format="+format, http.NoBody))
		if n := strings.Count(w.Body.String(), "PAYLOAD"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "refused") || n != 0 {
			t.Errorf("as %s it answers %d: %s", format, w.Code, w.Body)
		}
	}
}

func TestAnExportIsRefusedWhereATrailerIsLost(t *testing.T) {
	t.Parallel()
	h, err := console.New(console.Options{Databases: []console.Database{{Name: "shop", Store: box(t)}}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, messages+"?format=csv", http.NoBody)
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.0", 1, 0
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "an export needs HTTP/1.1") {
		t.Errorf("it answers %d: %s", w.Code, w.Body)
	}
}

func TestTheHeadOfAnExportAsksForOnePage(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *held, _ func(string) *httptest.ResponseRecorder) {
		fill(t, h.Store, 2*500)
		w := h.ask(http.MethodHead, messages+"?format=ndjson")
		if n := h.asked.Load(); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/x-ndjson" || n != 1 {
			t.Errorf("it answers %d behind %d pages: %v", w.Code, n, w.Header())
		}
	})
}

func TestAnExportEndsAfterFiveMinutesWithTheCursorToGoOnWith(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *held, ask func(string) *httptest.ResponseRecorder) {
		fill(t, h.Store, 50*500)
		h.takes = 9 * time.Second
		w := ask(messages + "?format=csv")
		if n := h.asked.Load(); n != 34 || w.Result().Trailer.Get("Postbag-Next") == "" {
			t.Errorf("it ends behind %d pages, and goes on at %q", n, w.Result().Trailer.Get("Postbag-Next"))
		}
	})
}

// fill writes n messages, and makes the subscription that they are shown of.
func fill(t *testing.T, m *memstore.Store, n int) {
	t.Helper()
	boxtest.New(t, m)
	for n > 0 {
		msgs := make([]postbag.Message, min(n, 1000))
		for i := range msgs {
			msgs[i] = postbag.Message{ID: postbag.NewID(), Topic: "bulk"}
		}
		if err := m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, "outbox", msgs) }); err != nil {
			t.Fatal(err)
		}
		n -= len(msgs)
	}
}

package console_test

import (
	"context"
	"encoding/json"
	"html"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/pagetest"
	"github.com/postbag/postbag/store/memstore"
)

// holding is a store with these messages.
func holding(t *testing.T, msgs ...postbag.Message) *memstore.Store {
	t.Helper()
	m := memstore.New(memstore.Options{})
	d := boxtest.New(t, created(t, m))
	d.Must(m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, boxtest.Outbox.Box, msgs) }))
	return m
}

func TestThePageOfAMessageFoldsItsPayloadAndLinksItsTrace(t *testing.T) {
	t.Parallel()
	payload, err := json.Marshal(map[string]any{"notes": hostile, "name": hostile[0]})
	if err != nil {
		t.Fatal(err)
	}
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	msg := postbag.Message{ID: postbag.NewID(), Topic: "orders", Payload: payload, Headers: map[string]string{"traceparent": "00-" + trace + "-00f067aa0ba902b7-01"}}
	at := serve(t, console.Options{
		Payloads: true, TraceLink: "https://jaeger.example/trace/{trace_id}",
		Decode: func(topic, _ string, _ []byte) (string, bool) { return "decoded " + topic + hostile[1], true },
	}, holding(t, msg))
	_, body := get(t, at+boxPage+"/messages/"+msg.ID.String()+"?payload=true")
	if _, faults := pagetest.Read(body); len(faults) != 1 || !strings.Contains(faults[0], "https://jaeger.example/") { // the one link that leads away
		t.Errorf("the page has faults: %s", strings.Join(faults, "\n"))
	}
	for _, want := range []string{`href="https://jaeger.example/trace/` + trace + `"`, `<details open><summary><span class="name">&#34;notes&#34;</span>`, `<span class="string">`, "decoded orders"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	for _, text := range hostile {
		if strings.Contains(text, "<") && strings.Contains(body, text) {
			t.Errorf("the page has %s as it is", text)
		}
	}
	if !strings.Contains(html.UnescapeString(body), `"name"</span> <span class="string">"`+hostile[0]+`"`) {
		t.Errorf("the page does not show a field of the payload:\n%s", body)
	}
	if _, body = get(t, at+boxPage+"/messages/"+msg.ID.String()); strings.Contains(body, trace) || strings.Contains(body, "decoded") {
		t.Errorf("without payload=true the page has a header, or what was decoded:\n%s", body)
	}
}

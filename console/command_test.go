package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// post sends a form, and returns the answer with its body. It follows no redirect.
func post(t *testing.T, at string, fields url.Values, headers ...string) (answer, string) {
	t.Helper()
	return send(t, at, fields.Encode(), append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

func send(t *testing.T, at, body string, headers ...string) (answer, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.Status, response.StatusCode, response.Header, response.Trailer}, string(text)
}

var commanding = console.Options{Commands: true, Who: "ann@desk"}

// dead returns a dead message of box.
func dead(t *testing.T, at string) postbag.ID {
	t.Helper()
	return into[console.Messages](t, at+messages+"?state=dead&limit=1").Messages[0].ID
}

func retrying(why string) url.Values {
	return url.Values{"do": {"retry"}, "subscription": {"default"}, "state": {"dead"}, "why": {why}}
}

func TestAnOperatorRetriesAMessageOnItsPage(t *testing.T) {
	t.Parallel()
	at := serve(t, commanding, box(t))
	id := dead(t, at)
	page := boxPage + "/messages/" + id.String()
	if _, body := get(t, at+page); strings.Count(body, `action="../../../../../databases/shop/boxes/outbox/messages/`+id.String()+`/commands"`) != 1 || !strings.Contains(body, ">Retry<") || !strings.Contains(body, ">Discard<") {
		t.Fatalf("the page has no form for the dead message:\n%s", body)
	}
	response, body := post(t, at+page+"/commands", retrying("the endpoint takes it now"))
	if to := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || to != "../"+id.String() {
		t.Fatalf("it answers %s with %q: %s", response.Status, to, body)
	}
	if queued := into[console.Copies](t, at+messages+"/"+id.String()).Copies[0].Queued; queued != "retry" {
		t.Errorf("the message has %q queued", queued)
	}
	line := into[console.Audit](t, at+"/api/v1/databases/shop/audit?limit=1").Lines[0]
	if line.Who != "ann@desk" || line.Why != "the endpoint takes it now" || !strings.Contains(line.What, "retry") {
		t.Errorf("the audit log says %+v", line)
	}
}

// alike is a store in which three messages are dead with one kind of error, and one with another.
func alike(t *testing.T) *memstore.Store {
	t.Helper()
	m := memstore.New(memstore.Options{})
	d := boxtest.New(t, created(t, m))
	var msgs []postbag.Message
	for range 4 {
		msgs = append(msgs, postbag.Message{ID: postbag.NewID(), Topic: "t", Payload: []byte("x")})
	}
	d.Must(m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, "outbox", msgs) }))
	records := d.Read()
	parks := make([]store.Park, len(records))
	for i, r := range records {
		parks[i] = store.Park{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead, Attempts: 1, Reason: fmt.Sprintf("order %d\nis unknown", i)}
	}
	parks[3].Reason = "too large"
	d.Settle(&d.Lease, store.Settlement{To: d.At, Park: parks, Tally: boxtest.Tally(store.TallyParked, records...)})
	return m
}

func TestAnOperatorRetriesAGroupOfErrors(t *testing.T) {
	t.Parallel()
	at := serve(t, commanding, alike(t))
	group := into[console.Errors](t, at+"/api/v1"+boxPage+"/errors").Groups[0]
	if _, body := get(t, at+boxPage+"/errors"); group.Messages != 3 || !strings.Contains(body, ">Retry 3<") || !strings.Contains(body, ">Discard 1<") {
		t.Fatalf("of the group %+v the page has no form:\n%s", group, body)
	}
	fields := url.Values{"do": {"retry"}, "subscription": {"default"}, "state": {"dead"}, "kind": {strings.ReplaceAll(group.Kind, "\n", "\r\n")}, "why": {"they are known now"}}
	response, body := post(t, at+boxPage+"/errors/commands", fields)
	if to := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || to != "../errors" {
		t.Fatalf("it answers %s with %q: %s", response.Status, to, body)
	}
	queued := 0
	for _, m := range into[console.Messages](t, at+messages+"?state=dead").Messages {
		if (m.Queued == "retry") != (m.Error != "too large") {
			t.Errorf("of a message with the error %q there is %q queued", m.Error, m.Queued)
		}
		queued++
	}
	if line := into[console.Audit](t, at+"/api/v1/databases/shop/audit?limit=1").Lines[0]; queued != 4 || line.Who != "ann@desk" || !strings.Contains(line.What, "an error such as") {
		t.Errorf("of %d messages the audit log says %+v", queued, line)
	}
	for name, value := range map[string]string{"messages": "2", "id": postbag.NewID().String()} {
		fields[name] = []string{value}
		if response, body := post(t, at+"/api/v1"+boxPage+"/errors/commands", fields); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, "look again") {
			t.Errorf("of a group with another %s it answers %s: %s", name, response.Status, body)
		}
		delete(fields, name)
	}
	fields["kind"] = []string{"another"}
	if response, body := post(t, at+"/api/v1"+boxPage+"/errors/commands", fields); response.StatusCode != http.StatusNotFound {
		t.Errorf("of a kind that no message has it answers %s: %s", response.Status, body)
	}
	fields["state"] = []string{"delivered"}
	if response, body := post(t, at+"/api/v1"+boxPage+"/errors/commands", fields); response.StatusCode != http.StatusBadRequest {
		t.Errorf("of another state it answers %s: %s", response.Status, body)
	}
}

func TestAProgramGivesTheSameCommands(t *testing.T) {
	t.Parallel()
	at := serve(t, commanding, box(t))
	d := into[description](t, at+"/api/v1/openapi.json")
	const path = "/api/v1/databases/{database}/boxes/{box}/messages/{id}/commands"
	route := d.Paths[path].Post
	fields := route.RequestBody.Content["application/x-www-form-urlencoded"].Schema
	for name := range retrying("") {
		if fields.Properties[name].Description == "" {
			t.Errorf("the field %s is not described", name)
		}
	}
	response, body := post(t, at+messages+"/"+dead(t, at).String()+"/commands", retrying("a test"))
	var got any
	if err := json.Unmarshal([]byte(body), &got); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("it answers %s: %s", response.Status, body)
	}
	if faults := off(route.Responses["200"].Content["application/json"].Schema, got, ""); len(faults) > 0 || body != "{\"queued\":1,\"changed\":0}\n" {
		t.Errorf("it answers %s: %s", body, strings.Join(faults, "\n"))
	}
}

func TestAPauseShowsAtOnceAndEnds(t *testing.T) {
	t.Parallel()
	m := created(t, memstore.New(memstore.Options{}))
	if err := m.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Shards: 1}}); err != nil {
		t.Fatal(err)
	}
	at := serve(t, commanding, m)
	page := boxPage + "/subscriptions/default"
	if _, body := get(t, at+page); !strings.Contains(body, ">Pause<") {
		t.Fatalf("the page has no form:\n%s", body)
	}
	if response, body := post(t, at+page+"/commands", url.Values{"do": {"pause"}, "for": {"2h"}, "why": {"a move"}}); response.StatusCode != http.StatusSeeOther {
		t.Fatalf("it answers %s: %s", response.Status, body)
	}
	_, body := get(t, at+page)
	if !strings.Contains(body, "paused by ann@desk") || !strings.Contains(body, "a move") || !strings.Contains(body, ">Resume<") {
		t.Errorf("the page does not show the pause:\n%s", body)
	}
	if response, body := post(t, at+"/api/v1"+page+"/commands", url.Values{"do": {"resume"}, "why": {"done"}}); response.StatusCode != http.StatusOK {
		t.Fatalf("it answers %s: %s", response.Status, body)
	}
	if _, body := get(t, at+page); strings.Contains(body, "paused by") {
		t.Errorf("the page shows a pause that has ended:\n%s", body)
	}
}

func TestACommandThatIsWrongChangesNothing(t *testing.T) {
	t.Parallel()
	at := serve(t, commanding, box(t))
	one := messages + "/" + dead(t, at).String() + "/commands"
	const sub = "/api/v1" + boxPage + "/subscriptions/default/commands"
	before := into[console.Audit](t, at+"/api/v1/databases/shop/audit")
	with := func(name string, values ...string) url.Values {
		f := retrying("a test")
		f[name] = values
		return f
	}
	for name, c := range map[string]struct {
		at     string
		fields url.Values
		code   int
		says   string
	}{
		"no reason":             {one, with("why", " "), 400, "no reason is given"},
		"no command":            {one, with("do"), 400, "do is neither"},
		"another command":       {one, with("do", "pause"), 400, "do is neither"},
		"another state":         {one, with("state", "retrying"), 404, "is dead"},
		"no state":              {one, with("state", "nonsense"), 400, "state is no state"},
		"another subscription":  {one, with("subscription", "none"), 404, "has no message"},
		"an unknown field":      {one, with("force", "true"), 400, "there is no field"},
		"a field twice":         {one, with("why", "a", "b"), 400, "2 times"},
		"a very long reason":    {one, with("why", strings.Repeat("x", 20_000)), 400, "shorten why"},
		"a long reason":         {one, with("why", strings.Repeat("x", 2000)), 400, "no text of at most"},
		"a parameter":           {one + "?do=retry", retrying("a test"), 400, "no parameter"},
		"no message":            {strings.Replace(one, one[len(messages)+1:len(one)-len("/commands")], "01234567-89ab-7cde-8f01-23456789abcd", 1), retrying("a test"), 404, ""},
		"no id":                 {messages + "/7/commands", retrying("a test"), 400, ""},
		"no box":                {strings.Replace(one, "/outbox/", "/none/", 1), retrying("a test"), 404, ""},
		"a pause without words": {sub, url.Values{"do": {"pause"}}, 400, "no reason is given"},
		"a pause of no length":  {sub, url.Values{"do": {"pause"}, "for": {"-1h"}, "why": {"x"}}, 400, "for is no span"},
		"an end of a resume":    {sub, url.Values{"do": {"resume"}, "for": {"1h"}, "why": {"x"}}, 400, "for is given, and resume takes none"},
		"no subscription":       {strings.Replace(sub, "/default/", "/none/", 1), url.Values{"do": {"pause"}, "why": {"x"}}, 404, ""},
	} {
		response, body := post(t, at+c.at, c.fields)
		if response.StatusCode != c.code || !strings.Contains(body, c.says) {
			t.Errorf("%s: it answers %s: %s", name, response.Status, body)
		}
	}
	if response, body := send(t, at+one, `{"do":"retry","why":"x"}`, "Content-Type", "application/json"); response.StatusCode != http.StatusBadRequest {
		t.Errorf("JSON in place of a form gets %s: %s", response.Status, body)
	}
	for _, site := range []string{"cross-site", "same-site"} {
		if response, body := post(t, at+one, retrying("a test"), "Sec-Fetch-Site", site); response.StatusCode != http.StatusForbidden {
			t.Errorf("a page of another site gets %s: %s", response.Status, body)
		}
	}
	if response, body := post(t, at+one, retrying("a test"), "Origin", "http://elsewhere.example"); response.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin gets %s: %s", response.Status, body)
	}
	if response, _ := get(t, at+one); response.StatusCode != http.StatusMethodNotAllowed && response.StatusCode != http.StatusNotFound {
		t.Errorf("a link to a command gets %s", response.Status)
	}
	if after := into[console.Audit](t, at+"/api/v1/databases/shop/audit"); len(after.Lines) != len(before.Lines) {
		t.Errorf("the audit log has %+v", after.Lines)
	}
}

func TestAConsoleWithoutCommandsTakesNone(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	id := dead(t, at)
	if response, body := post(t, at+messages+"/"+id.String()+"/commands", retrying("a test")); response.StatusCode != http.StatusForbidden || !strings.Contains(body, "--commands") {
		t.Errorf("it answers %s: %s", response.Status, body)
	}
	for _, page := range []string{"/messages/" + id.String(), "/subscriptions/default"} {
		if _, body := get(t, at+boxPage+page); strings.Contains(body, "<form class=\"command\"") {
			t.Errorf("%s has a form:\n%s", page, body)
		}
	}
	if _, err := console.New(console.Options{Commands: true, Databases: []console.Database{{Name: "shop", Store: box(t)}}}); err == nil || !strings.Contains(err.Error(), "set Who") {
		t.Errorf("commands of nobody: %v", err)
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// consoleAddress waits until a console says where it is.
func consoleAddress(t *testing.T, r *running) (address string) {
	t.Helper()
	said := regexp.MustCompile(`the console is at (https?://\S+)/`)
	await(t, "the console is there", func() bool {
		if m := said.FindStringSubmatch(r.err.String()); m != nil {
			address = m[1]
		}
		return address != ""
	})
	return address
}

// consoleAnswer reads an answer of the API.
func consoleAnswer[T any](t *testing.T, url string) (v T) {
	t.Helper()
	code, body := fetch(t, url)
	if code != http.StatusOK {
		t.Fatalf("%s answers %d: %s", url, code, body)
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheConsoleShowsWhatIsInEachKindOfStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ok() // it makes the subscription
		for _, topic := range []string{"one", "two", "three"} {
			cliWith(t, "the payload", "publish", at.flag, at.where, "--topic", topic, "--key", "<b>k</b>").ok()
		}
		cli(t, "subscriptions", "pause", at.flag, at.where, "--who", "<i>ann</i>", "--why", "a test").ok()
		served := start(t, "console", "-c", write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\n"), "--listen", "0", "--payloads")
		root := consoleAddress(t, served)
		if _, page := fetch(t, root+"/"); !strings.Contains(page, "by &lt;i&gt;ann&lt;/i&gt;") || strings.Contains(page, "<i>") {
			t.Errorf("the page does not say who holds the subscription, or not as text:\n%s", page)
		}
		o := consoleAnswer[console.Overview](t, root+"/api/v1/overview")
		if len(o.Databases) != 1 || o.Databases[0].Name != "store" || o.Databases[0].Good || len(o.Databases[0].Boxes) != 1 || o.Databases[0].Boxes[0].Subscriptions[0].Backlog != 3 {
			t.Errorf("the overview is %+v", o)
		}
		box := root + "/api/v1/databases/store/boxes/outbox"
		if s := consoleAnswer[console.SubscriptionState](t, box+"/subscriptions/default"); !s.Paused || len(s.Subscription.Detail) != at.shards {
			t.Errorf("the subscription is %+v", s)
		}
		var topics []string
		cursor := ""
		for {
			page := consoleAnswer[console.Messages](t, box+"/messages?limit=2&oldest=true"+cursor)
			for _, m := range page.Messages {
				topics = append(topics, m.Topic)
			}
			if page.Next == "" {
				break
			}
			cursor = "&" + url.Values{"cursor": {page.Next}}.Encode()
		}
		if strings.Join(topics, " ") != "one two three" {
			t.Errorf("the pages have %v", topics)
		}
		one := consoleAnswer[console.Messages](t, box+"/messages?topic=two&state=pending").Messages
		if len(one) != 1 {
			t.Fatalf("the filters select %+v", one)
		}
		if m := consoleAnswer[console.Copies](t, box+"/messages/"+one[0].ID.String()+"?payload=true"); string(m.Copies[0].Payload) != `"the payload"` || m.Done {
			t.Errorf("the message is %+v", m)
		}
		if _, lines := fetch(t, box+"/messages?format=ndjson"); strings.Count(lines, "\n") != 3 || strings.Contains(lines, "the payload") {
			t.Errorf("the export is\n%s", lines)
		}
		if a := consoleAnswer[console.Audit](t, root+"/api/v1/databases/store/audit"); len(a.Lines) == 0 || a.Lines[0].Who != "<i>ann</i>" {
			t.Errorf("the audit log is %+v", a)
		}
		if code := served.end(); code != exit.OK {
			t.Errorf("the console ended with %d", code)
		}
	})
}

func TestTheConsoleShowsAllStoresOfAFile(t *testing.T) {
	t.Parallel()
	path := severalStores(t, "")
	for _, name := range []string{"first", "second", "third"} {
		cli(t, "migrate", "up", "-c", path, "--store-name", name, "--box", "outbox").ok()
	}
	if o := consoleAnswer[console.Overview](t, consoleAddress(t, start(t, "console", "-c", path, "--listen", "0"))+"/api/v1/overview"); len(o.Databases) != 3 {
		t.Errorf("it shows %+v", o)
	}
	o := consoleAnswer[console.Overview](t, consoleAddress(t, start(t, "console", "-c", path, "--store-name", "second", "--listen", "0"))+"/api/v1/overview")
	if len(o.Databases) != 1 || o.Databases[0].Name != "second" {
		t.Errorf("of one store it shows %+v", o)
	}
}

func TestTheConsoleBeginsWhileAStoreIsAway(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	path := write(t, "postbag.yaml", "stores: {here: "+at.yaml+", away: {dsn: 'postgres://app@127.0.0.1:1/shop'}}\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{store: here}]\n")
	served := start(t, "console", "-c", path, "--listen", "0")
	o := consoleAnswer[console.Overview](t, consoleAddress(t, served)+"/api/v1/overview")
	if len(o.Databases) != 2 || o.Databases[0].Name != "away" || !strings.Contains(o.Databases[0].Error, "look whether the server runs") || len(o.Databases[1].Boxes) != 1 {
		t.Errorf("it shows %+v", o)
	}
	if text := served.err.String(); !strings.Contains(text, "store away: ") || !strings.Contains(text, "it is tried again when somebody looks") {
		t.Errorf("it says %s", text)
	}
	cli(t, "console", "-c", write(t, "postbag.yaml", "store: {dsn: 'postgres://app@127.0.0.1:99999/shop'}\ndestinations: {out: {stdout: {}}}\n")).ends(exit.Usage, "its port is no number")
}

func TestTheConsoleListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	for _, listen := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "console.example:0"} {
		cli(t, "console", at.flag, at.where, "--listen", listen).ends(exit.Usage, "no loopback address, and the console has no login")
	}
	cli(t, "console", at.flag, at.where, "--listen", "nowhere").ends(exit.Usage, "is no address to listen on")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	cli(t, "console", at.flag, at.where, "--listen", taken.Addr().String()).ends(exit.Failed, "choose another address with --listen")
}

func TestTheConsoleLogsAsTheFileSays(t *testing.T) {
	t.Parallel()
	path := write(t, "postbag.yaml", "log: {level: debug, format: json}\nstores: {one: {dsn: one.db}, two: {dsn: two.db}}\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{store: one}]\n")
	for name, want := range map[string]int{"": 2, "two": 1} {
		f := consoleFlags{store: storeFlags{config: configFlags{paths: []string{path}}, name: name}}
		stores, err := f.stores()
		if err != nil || len(stores) != want || f.log.Level != "debug" || f.log.Format != "json" {
			t.Errorf("with --store-name %q it shows %d stores, and logs as %+v: %v", name, len(stores), f.log, err)
		}
	}
	f := consoleFlags{store: storeFlags{config: configFlags{paths: []string{path}}, name: "three"}}
	if _, err := f.stores(); exit.Of(err) != exit.Usage {
		t.Errorf("a store that is not in the file gives %v", err)
	}
}

// leaking is a store whose error has a secret, and a field of Go.
type leaking struct{ *memstore.Store }

func (leaking) Overview(context.Context) (store.Overview, error) {
	return store.Overview{}, errors.New("cannot reach postgres://shop:" + canary + "@db/shop; set Options.Create")
}

func TestTheConsoleShowsNoSecretOfAnError(t *testing.T) {
	t.Parallel()
	o, err := new(consoleFlags).options(&terminal.Terminal{Words: component.Kinds().InSettings})
	if err != nil {
		t.Fatal(err)
	}
	o.Databases = []console.Database{{Name: "shop", Store: leaking{memstore.New(memstore.Options{})}}}
	h, err := console.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/api/v1/overview", "/api/v1/databases/shop/relays", "/api/v1/databases/shop/boxes/outbox"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		if body := w.Body.String(); strings.Contains(body, canary) || !strings.Contains(body, "***@db/shop; set create") {
			t.Errorf("%s says %s", path, body)
		}
	}
}

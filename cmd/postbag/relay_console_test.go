package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/pagetest"
)

func TestARelayServesTheConsoleOnEachKindOfStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cliWith(t, "the payload", "publish", at.flag, at.where, "--topic", "one").ok()
		r := start(t, "relay", "-c", write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nadmin: {listen: \"0\", console: true}\nconsole: {payloads: true, commands: true}\n"))
		root := "http://" + adminAddress(t, r)
		box := root + "/console/api/v1/databases/store/boxes/outbox"
		await(t, "the message is delivered", func() bool {
			all := consoleAnswer[console.Messages](t, box+"/messages").Messages
			return len(all) == 1 && all[0].State == "delivered"
		})
		await(t, "the console has read that the relay declared its subscription", func() bool {
			code, _ := fetch(t, box+"/subscriptions/default")
			return code == http.StatusOK
		})
		id := consoleAnswer[console.Messages](t, box+"/messages").Messages[0].ID.String()
		if _, page := fetch(t, root+"/console/databases/store/boxes/outbox/messages/"+id+"?payload=true"); !strings.Contains(page, "the payload") {
			t.Errorf("the page of the message is\n%s", page)
		}
		if pages := pagetest.Crawl(t, root+"/console/"); len(pages) < 5 {
			t.Errorf("only %d pages have links", len(pages))
		}
		if code, body := sendForm(t, box+"/subscriptions/default/commands", url.Values{"do": {"pause"}, "why": {"a test"}}); code != http.StatusOK {
			t.Errorf("a pause answers %d: %s", code, body)
		}
		if lines := consoleAnswer[console.Audit](t, root+"/console/api/v1/databases/store/audit").Lines; len(lines) != 1 || lines[0].Who != systemUser() {
			t.Errorf("the audit log is %+v", lines)
		}
		for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/metrics": http.StatusOK, "/overview": http.StatusNotFound} {
			if code, _ := fetch(t, root+path); code != want {
				t.Errorf("%s answers %d", path, code)
			}
		}
		if code := r.end(); code != exit.OK {
			t.Errorf("the relay ended with %d", code)
		}
	})
}

// Of a file with several stores a command works only if it names one, although this relay, or console, has one alone.
func TestCommandsToCopyNameTheStoreOfAFileWithSeveral(t *testing.T) {
	t.Parallel()
	at, other := emptyFile(t), emptyFile(t)
	for _, one := range []*place{at, other} {
		cli(t, "migrate", "up", one.flag, one.where, "--box", "outbox").ok()
	}
	cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ok()
	cliWith(t, "the payload", "publish", at.flag, at.where, "--topic", "one").ok()
	text := "stores: {here: " + at.yaml + ", there: " + other.yaml + "}\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{store: here}, {store: there}]\nadmin: {listen: \"127.0.0.1:0\", console: true}\nconsole: {payloads: true}\n"
	offers := func(what, root string) {
		t.Helper()
		id := consoleAnswer[console.Messages](t, root+"/api/v1/databases/here/boxes/outbox/messages").Messages[0].ID.String()
		if _, page := fetch(t, root+"/databases/here/boxes/outbox/messages/"+id+"?payload=true"); !strings.Contains(page, "postbag publish -c postbag.yaml --store-name here --box outbox") {
			t.Errorf("%s offers no command that names the store:\n%s", what, page)
		}
	}
	offers("a console of one", consoleAddress(t, start(t, "console", "-c", write(t, "postbag.yaml", text), "--listen", "0", "--store-name", "here")))
	file, err := config.Parse("postbag.yaml", []byte(text), component.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	pages, err := adminConsole(t.Context(), &terminal.Terminal{Out: io.Discard, Err: io.Discard}, file, []*worker{{name: "here"}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pages.close() }()
	server := httptest.NewServer(pages.Handler)
	defer server.Close()
	offers("a relay", server.URL)
}

func TestARelayServesNoConsoleUnlessAsked(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	r := start(t, "relay", "-c", write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nadmin: {listen: \"0\"}\n"))
	if code, _ := fetch(t, "http://"+adminAddress(t, r)+"/console/"); code != http.StatusNotFound {
		t.Errorf("/console/ answers %d", code)
	}
}

// otherHost asks under another name than a loopback address, as a page of another site does that points its name here.
func otherHost(t *testing.T, address string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestTheConsoleOfARelayKeepsTheRulesOfLoopbackAndLogins(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	file := func(more string) string {
		return write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\n"+more)
	}
	root := "http://" + adminAddress(t, start(t, "relay", "-c", file("admin: {listen: \"0\", console: true}\n")))
	if code := otherHost(t, root+"/console/api/v1/overview"); code != http.StatusMisdirectedRequest {
		t.Errorf("another name gets %d", code)
	}
	if code := otherHost(t, root+"/healthz"); code != http.StatusOK {
		t.Errorf("under another name /healthz answers %d", code)
	}

	access := write(t, "access", cliWith(t, "a long password\n", "console", "user", "ann", "viewer").ok().out)
	root = "http://" + adminAddress(t, start(t, "relay", "-c", file("admin: {listen: \"0\", console: true}\nconsole: {access: "+access+"}\n")))
	if code, body := fetch(t, root+"/console/api/v1/overview"); code != http.StatusUnauthorized {
		t.Errorf("a stranger gets %d: %s", code, body)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	response, err := client.PostForm(root+"/console/login", url.Values{"name": {"ann"}, "password": {"a long password"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response, err = client.Get(root + "/console/api/v1/overview"); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("with a login it answers %v: %v", response, err)
	}
	_ = response.Body.Close()

	for more, want := range map[string]string{
		"admin: {listen: \"0.0.0.0:0\", console: true}\n":                                       "there is no login",
		"admin: {listen: \"0.0.0.0:0\", console: true}\nconsole: {access: " + access + "}\n":    "in the open",
		"admin: {listen: \"relay.example:0\", console: true}\n":                                 "there is no login",
		"admin: {console: true}\n":                                                              "set admin.listen, or pass --admin",
		"admin: {listen: \"0\", console: true}\nconsole: {access: " + at.folder + "/nowhere}\n": "nowhere",
		"admin: {listen: \"0\", console: true}\nconsole: {proxy: {addresses: [10.1.2.3]}}\n":    "console.access",
	} {
		cli(t, "relay", "-c", file(more)).ends(exit.Usage, want)
	}
	cli(t, "config", "check", "-c", file("admin: {listen: \"0.0.0.0:0\", console: true}\n")).ends(exit.Usage, "there is no login")
}

package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/internal/pagetest"
)

func TestThePagesOfTheConsoleShowWhatHoldsAKeyOnEachKindOfStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		config, _, _ := ordersBehindADeadOne(t, at)
		cli(t, "subscriptions", "pause", "-c", config, "--who", "<i>ann</i>", "--why", "<b>a test</b>").ok()
		served := start(t, "console", "-c", config, "--listen", "0", "--payloads")
		root := consoleAddress(t, served)
		box := root + "/api/v1/databases/store/boxes/outbox"

		groups := consoleAnswer[console.Errors](t, box+"/errors").Groups
		if len(groups) != 1 || groups[0].Messages != 1 || groups[0].State != "dead" || groups[0].AtLeast || !strings.Contains(groups[0].Example, "422") {
			t.Fatalf("the errors are %+v", groups)
		}
		if found := consoleAnswer[console.Messages](t, box+"/messages?state=dead&"+url.Values{"error": {groups[0].Search}}.Encode()).Messages; len(found) != 1 || found[0].ID != groups[0].ID {
			t.Errorf("the part %q finds %+v", groups[0].Search, found)
		}
		keys := consoleAnswer[console.Keys](t, box+"/keys?subscription=default").Keys
		if len(keys) != 1 || keys[0].Key != "a" || keys[0].Waiting != 1 || keys[0].Behind == nil || keys[0].Behind.ID != groups[0].ID {
			t.Errorf("the blocked keys are %+v", keys)
		}
		around := consoleAnswer[console.Around](t, box+"/messages/"+groups[0].ID.String()+"/key").Keys
		if len(around) != 1 || len(around[0].Before) != 0 || len(around[0].Behind) != 1 || around[0].Behind[0].Type != "good" {
			t.Errorf("around the dead message is %+v", around)
		}

		found := pagetest.Crawl(t, root+"/")
		one := root + "/databases/store/boxes/outbox/messages/" + groups[0].ID.String() + "?payload=true"
		page, shown := found[one]
		if !shown || !strings.Contains(page, "first") || !strings.Contains(page, "postbag publish -c postbag.yaml --box outbox --topic outbox --key a --type bad --header h=v --payload first") {
			t.Errorf("of %d pages the one of the dead message is\n%s", len(found), page)
		}
		if page := found[root+"/databases/store/audit"]; !strings.Contains(page, "&lt;i&gt;ann&lt;/i&gt;") || !strings.Contains(page, "&lt;b&gt;a test&lt;/b&gt;") {
			t.Errorf("the page of the audit log is\n%s", page)
		}
		if code := served.end(); code != exit.OK {
			t.Errorf("the console ended with %d", code)
		}
	})
}

func TestTheCommandOfAPagePublishesTheMessageAgain(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ok() // it makes the subscription
	cliWith(t, "it is {\"n\": 1}", "publish", at.flag, at.where, "--topic", "a b", "--key", "$(k)", "--header", "h=v;w").ok()
	config := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\n")
	root := consoleAddress(t, start(t, "console", "-c", config, "--listen", "0", "--payloads"))
	one := consoleAnswer[console.Messages](t, root+"/api/v1/databases/store/boxes/outbox/messages").Messages[0]
	_, page := fetch(t, root+"/databases/store/boxes/outbox/messages/"+one.ID.String()+"?payload=true")
	if !strings.Contains(page, "--topic &#39;a b&#39; --key &#39;$(k)&#39; --header &#39;h=v;w&#39; --payload &#39;it is {&#34;n&#34;: 1}&#39;") {
		t.Errorf("the page is\n%s", page)
	}
	cli(t, "publish", "-c", config, "--box", "outbox", "--topic", "a b", "--key", "$(k)", "--header", "h=v;w", "--payload", "it is {\"n\": 1}").ok()
	all := cli(t, "messages", "list", "-c", config, "--json", "--payload").ok().items()
	if len(all) != 2 || all[0].ID == all[1].ID || !sameContent(&all[0], &all[1]) {
		t.Errorf("the messages are %+v", all)
	}
}

// sameContent says whether two messages differ in nothing that a publisher says.
func sameContent(a, b *operations.Message) bool {
	return a.Topic == b.Topic && a.Key == b.Key && string(a.Payload) == string(b.Payload) && a.Headers["h"] == b.Headers["h"]
}

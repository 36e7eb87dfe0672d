package console_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/pagetest"
)

func TestAnOperatorRetriesAllThatMatch(t *testing.T) {
	t.Parallel()
	at := serve(t, commanding, alike(t))
	page := at + boxPage + "/messages?state=dead&error=order"
	counted := linked(t, page, "Count all that match, for a command")
	_, body := get(t, counted)
	if _, faults := pagetest.Read(body); len(faults) > 0 {
		t.Errorf("the page has faults: %s", strings.Join(faults, "\n"))
	}
	v := into[console.Messages](t, at+messages+"?state=dead&error=order&count=true").Matching
	if v == nil || v.Messages != 3 || v.AtLeast || v.Subscription != "default" {
		t.Fatalf("it counts %+v", v)
	}
	for _, want := range []string{"All that match: 3.", ">Retry 3<", ">Discard 3<", `name="error" value="order"`, `name="newest" value="` + v.Newest.String() + `"`} {
		if !strings.Contains(html.UnescapeString(body), want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	fields := url.Values{"do": {"retry"}, "state": {"dead"}, "error": {"order"}, "messages": {"2"}, "newest": {v.Newest.String()}, "why": {"they are known now"}}
	if response, body := post(t, at+boxPage+"/messages/commands", fields); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, "other dead messages match by now") {
		t.Fatalf("of another count it answers %s: %s", response.Status, body)
	}
	fields.Set("messages", "3")
	response, body := post(t, at+boxPage+"/messages/commands", fields)
	if to := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || to != "../messages?error=order&state=dead" {
		t.Fatalf("it answers %s with %q: %s", response.Status, to, body)
	}
	queued := 0
	for _, m := range into[console.Messages](t, at+messages+"?state=dead").Messages {
		if m.Queued == "retry" {
			queued++
		}
	}
	if line := into[console.Audit](t, at+"/api/v1/databases/shop/audit?limit=1").Lines[0]; queued != 3 || !strings.Contains(line.What, "--state dead --error order") {
		t.Errorf("%d are queued, and the audit log says %+v", queued, line)
	}
}

func TestACommandForAllThatMatchThatIsWrongIsRefused(t *testing.T) {
	t.Parallel()
	at := serve(t, commanding, alike(t))
	for _, c := range []struct {
		fields url.Values
		says   string
	}{
		{url.Values{"do": {"retry"}, "why": {"x"}}, "needs a state"},
		{url.Values{"do": {"retry"}, "state": {"delivered"}, "why": {"x"}}, "takes no retry"},
		{url.Values{"do": {"retry"}, "state": {"dead"}}, "say why"},
		{url.Values{"do": {"retry"}, "state": {"dead"}, "messages": {"0"}, "why": {"x"}}, "no number above zero"},
		{url.Values{"do": {"retry"}, "state": {"dead"}, "newest": {"x"}, "why": {"x"}}, "no id"},
		{url.Values{"do": {"retry"}, "state": {"dead"}, "cursor": {"1.0"}, "why": {"x"}}, "no field"},
		{url.Values{"do": {"retry"}, "state": {"dead"}, "after": {"now"}, "why": {"x"}}, "after is no time"},
		{url.Values{"do": {"x"}, "state": {"dead"}, "why": {"x"}}, "neither retry nor discard"},
	} {
		if response, body := post(t, at+"/api/v1"+boxPage+"/messages/commands", c.fields); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, c.says) {
			t.Errorf("%v answers %s: %s; want %s", c.fields, response.Status, body, c.says)
		}
	}
	if response, body := get(t, at+messages+"?count=true"); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, "needs a state") {
		t.Errorf("a count of all answers %s: %s", response.Status, body)
	}
	if _, body := get(t, serve(t, console.Options{}, alike(t))+boxPage+"/messages?state=dead&count=true"); strings.Contains(body, "<button name=\"do\"") {
		t.Error("a console without commands shows their buttons")
	}
}

func TestTheTableOfMessagesHasTheColumnsThatAreChosen(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, alike(t))
	_, body := get(t, at+boxPage+"/messages?columns=error,id")
	id := into[console.Messages](t, at+messages).Messages[0].ID.String()
	if !strings.Contains(body, "<td>"+id+"</td>") || !strings.Contains(body, ">Error</th>") || strings.Contains(body, ">Topic</th>") || !strings.Contains(body, `value="id" checked`) || strings.Contains(body, `value="topic" checked`) {
		t.Errorf("the table has other columns than error and id:\n%s", body)
	}
	if _, body = get(t, at+boxPage+"/messages"); !strings.Contains(body, ">Topic</th>") || strings.Contains(body, "<td>"+id+"</td>") {
		t.Errorf("the table has other columns than the usual ones:\n%s", body)
	}
	if response, body := get(t, at+boxPage+"/messages?columns=error,x"); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, "there is no column") {
		t.Errorf("an unknown column answers %s", response.Status)
	}
}

package console_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/internal/pagetest"
	"github.com/postbag/postbag/store"
)

func TestThePageOfASubscriptionLeadsToTheCommandOfAReplay(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	page := linked(t, at+boxPage+"/subscriptions/default", "Send its messages again")
	if _, body := get(t, page); strings.Contains(body, "What it would do") || !strings.Contains(body, ">Preview<") {
		t.Errorf("before anything is chosen the page is:\n%s", body)
	}
	_, body := get(t, page+"?"+url.Values{"last": {"5"}, "types": {"order.*"}, "key": {"a b"}, "rate": {"2.5"}, "destination": {"audit"}}.Encode())
	if _, faults := pagetest.Read(body); len(faults) > 0 {
		t.Errorf("the page has faults %v", faults)
	}
	want := "postbag replay start -c postbag.yaml --box outbox --subscription default --last 5 --types 'order.*' --key 'a b' --rate 2.5 --destination audit --why "
	if text := html.UnescapeString(body); !strings.Contains(text, ">"+want+"<") || !strings.Contains(text, "at most about 5 messages") || !strings.Contains(text, "takes about 2.0s") {
		t.Errorf("the page lacks %s:\n%s", want, text)
	}
	plan := into[console.ReplayPreview](t, at+"/api/v1"+boxPage+"/subscriptions/default/replay?last=5").Plan
	if plan == nil || plan.Messages != 5 || plan.Narrowed || plan.Gone || plan.Seconds != 0 || plan.Oldest.IsZero() || !strings.HasSuffix(plan.Command, "--last 5 --why ") {
		t.Errorf("the plan is %+v", plan)
	}
	if plan = into[console.ReplayPreview](t, at+"/api/v1"+boxPage+"/subscriptions/default/replay?"+url.Values{"last": {"5"}, "key": {"a\x1bb"}}.Encode()).Plan; plan == nil || plan.Command != "" {
		t.Errorf("of a key that a terminal may take for keys the plan is %+v", plan)
	}
}

func TestAReplayThatIsWrongHasNoPlan(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	for query, says := range map[string]string{
		"rate=5": "0 of a time", "last=5&from_seq=1": "2 of a time", "last=0": "last is no number above zero", "from=yesterday": "from is no time", "last=5&rate=fast": "rate is no number",
		"from_seq=9&to_seq=3": "before it begins", "last=5&types=,": "is empty", "last=": "last is empty", "first=5": "no parameter",
	} {
		if response, body := get(t, at+"/api/v1"+boxPage+"/subscriptions/default/replay?"+query); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, says) {
			t.Errorf("%s answers %s: %s; want %s", query, response.Status, body, says)
		}
	}
	if response, _ := get(t, at+"/api/v1"+boxPage+"/subscriptions/none/replay?last=5"); response.StatusCode != http.StatusNotFound {
		t.Errorf("of a subscription that is not there it answers %s", response.Status)
	}
}

func TestAReplayIsShownAndPaused(t *testing.T) {
	t.Parallel()
	m := box(t)
	s, err := operations.Of(m)
	if err != nil {
		t.Fatal(err)
	}
	a := store.Audit{Who: "bea", Why: "lost there"}
	p, err := s.PlanReplay(t.Context(), operations.ReplayChoice{Ref: boxtest.Outbox, Last: 5, Name: "again", Destination: hostile[0]})
	if err == nil {
		err = s.StartReplay(t.Context(), a, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	at := serve(t, commanding, m)
	page := at + boxPage + "/replays"
	_, body := get(t, page)
	text := html.UnescapeString(body)
	for _, want := range []string{`<span class="state idle">idle</span>, 0% done`, "postbag replay resume again -c postbag.yaml --box outbox --why ", "postbag replay cancel again -c postbag.yaml --box outbox --why ", hostile[0], `max="1"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	if _, faults := pagetest.Read(body); len(faults) > 0 || strings.Contains(body, hostile[0]) {
		t.Errorf("the page has faults %v:\n%s", faults, body)
	}
	if response, body := post(t, at+boxPage+"/subscriptions/again/commands", url.Values{"do": {"pause"}, "why": {"the consumer is slow"}}); response.StatusCode != http.StatusSeeOther {
		t.Fatalf("to pause it answers %s: %s", response.Status, body)
	}
	if all := into[console.Replays](t, at+"/api/v1"+boxPage+"/replays").Replays; len(all) != 1 || all[0].State != operations.ReplayPaused || all[0].Of != "default" {
		t.Errorf("paused, the replays are %+v", all)
	}
	if _, body := get(t, at+boxPage+"/subscriptions/again"); strings.Contains(body, "Send its messages again") || !strings.Contains(body, ">Resume<") {
		t.Errorf("the page of the replay is:\n%s", body)
	}
}

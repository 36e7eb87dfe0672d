package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/internal/pagetest"
)

// setting is one of the page of a subscription, by its name.
func setting(t *testing.T, at, name string) (found operations.Setting) {
	t.Helper()
	for _, s := range into[console.SubscriptionState](t, at+"/api/v1"+boxPage+"/subscriptions/default").Settings {
		if s.Name == name {
			found = s
		}
	}
	return found
}

func TestAnOperatorSetsAndResetsASettingOnThePageOfASubscription(t *testing.T) {
	t.Parallel()
	at := serve(t, commanding, box(t))
	page := at + boxPage + "/subscriptions/default"
	if _, body := get(t, page); !strings.Contains(body, `<option value="batch">`) || strings.Contains(body, `<option value="destination">`) {
		t.Fatalf("the page has no form:\n%s", body)
	}
	fields := url.Values{"do": {"set"}, "setting": {"batch"}, "value": {"7"}, "why": {"a slow partner"}}
	if response, body := post(t, page+"/commands", fields); response.StatusCode != http.StatusSeeOther || response.Header.Get("Location") != "../default" {
		t.Fatalf("it answers %s: %s", response.Status, body)
	}
	if s := setting(t, at, "batch"); s.Value != "7" || s.Source != "operator" || s.By != "ann@desk" || s.Why != "a slow partner" {
		t.Errorf("the setting is %+v", s)
	}
	_, body := get(t, page)
	if _, faults := pagetest.Read(body); len(faults) > 0 || !strings.Contains(body, "a slow partner") {
		t.Errorf("the page does not show the setting, or has faults %v:\n%s", faults, body)
	}
	if response, body := post(t, page+"/commands", url.Values{"do": {"reset"}, "setting": {"batch"}, "why": {"it is fast again"}}); response.StatusCode != http.StatusSeeOther {
		t.Fatalf("to reset answers %s: %s", response.Status, body)
	}
	if s := setting(t, at, "batch"); s.Name != "" {
		t.Errorf("after the reset there is %+v", s)
	}
	if response, body := post(t, page+"/commands", url.Values{"do": {"shards"}, "shards": {"3"}, "why": {"it is slow"}}); response.StatusCode != http.StatusSeeOther {
		t.Fatalf("to change the shards answers %s: %s", response.Status, body)
	}
	if s := setting(t, at, "shards"); s.Value != "3" || s.Source != "operator" {
		t.Errorf("the number of shards is %+v", s)
	}
}

func TestASettingThatIsWrongIsRefused(t *testing.T) {
	t.Parallel()
	at := serve(t, commanding, box(t))
	for _, c := range []struct {
		fields url.Values
		says   string
	}{
		{url.Values{"do": {"set"}, "setting": {"nonsense"}, "value": {"7"}, "why": {"x"}}, "setting is none"},
		{url.Values{"do": {"set"}, "setting": {"destination"}, "value": {"out"}, "why": {"x"}}, "setting is none"},
		{url.Values{"do": {"set"}, "setting": {"batch"}, "value": {"-7"}, "why": {"x"}}, "nothing was done"},
		{url.Values{"do": {"set"}, "setting": {"batch"}, "why": {"x"}}, "nothing was done"},
		{url.Values{"do": {"set"}, "setting": {"batch"}, "value": {"7"}}, "say why"},
		{url.Values{"do": {"reset"}, "setting": {"batch"}, "value": {"7"}, "why": {"x"}}, "value is given, and reset takes none"},
		{url.Values{"do": {"pause"}, "shards": {"7"}, "why": {"x"}}, "shards is given, and pause takes none"},
		{url.Values{"do": {"shards"}, "shards": {"many"}, "why": {"x"}}, "shards is no number"},
		{url.Values{"do": {"shards"}, "shards": {"0"}, "why": {"x"}}, "not between 1 and"},
		{url.Values{"do": {"fly"}, "why": {"x"}}, "do is neither pause nor resume"},
	} {
		if response, body := post(t, at+"/api/v1"+boxPage+"/subscriptions/default/commands", c.fields); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, c.says) {
			t.Errorf("%v answers %s: %s; want %s", c.fields, response.Status, body, c.says)
		}
	}
	if s := setting(t, at, "batch"); s.Name != "" || setting(t, at, "shards").Source != "declared" {
		t.Errorf("what was refused left %+v", s)
	}
}

func TestWhatWaitsIsCountedBeforeItIsSkipped(t *testing.T) {
	t.Parallel()
	at := atWork(t, 2)
	if _, body := get(t, at+boxPage+"/subscriptions/default"); !strings.Contains(body, `action="../../../../../databases/shop/boxes/outbox/operations/preview"`) || !strings.Contains(body, `<option value="held">`) {
		t.Errorf("the page has no form that counts what waits:\n%s", body)
	}
	_, body := get(t, at+boxPage+"/operations/preview?subscription=default&state=pending&before=2001-01-01T00:00:00Z")
	if !strings.Contains(body, "No pending message matches.") {
		t.Errorf("of times long ago it shows:\n%s", body)
	}
}

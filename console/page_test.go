package console_test

import (
	"context"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/pagetest"
	"github.com/postbag/postbag/store/memstore"
)

const boxPage = "/databases/shop/boxes/outbox"

// kinds are parts of addresses of all pages, without what names one thing.
var kinds = []string{"/relays", "/audit", boxPage, "/subscriptions/default", "/errors", "/keys", "/messages", "/messages/", "/key", "payload=true", "oldest=true", "state=dead", "/databases/shop/operations", boxPage + "/operations", "/operations/1"}

func TestEveryLinkOfEveryPageLeadsToAGoodPage(t *testing.T) {
	t.Parallel()
	h, err := console.New(console.Options{Payloads: true, Commands: true, Who: "ann", Databases: []console.Database{{Name: "shop", Store: box(t)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, below := range []string{"", "/ops/console"} {
		t.Run("below "+below, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.StripPrefix(below, h))
			t.Cleanup(server.Close)
			found := pagetest.Crawl(t, server.URL+below+"/")
			for _, kind := range kinds {
				seen := false
				for at := range found {
					seen = seen || !strings.Contains(at, "/api/") && strings.Contains(at, kind)
				}
				if !seen {
					t.Errorf("of %d pages none has %s in its address", len(found), kind)
				}
			}
		})
	}
}

func TestEveryPageShowsTextsAsTexts(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{Payloads: true}, box(t))
	all := into[console.Messages](t, at+messages+"?oldest=true").Messages
	for i, text := range hostile {
		one := boxPage + "/messages/" + all[i].ID.String()
		for path, want := range map[string]string{
			boxPage + "/messages?" + url.Values{"topic": {text}, "key": {text}, "type": {text}, "error": {text}, "state": {"dead"}}.Encode(): text,
			boxPage + "/errors":                "",
			boxPage + "/keys":                  "",
			one:                                text,
			one + "?payload=true":              "PAYLOAD" + text,
			one + "/key":                       text,
			"/databases/shop/audit":            hostile[0],
			boxPage:                            hostile[0],
			boxPage + "/operations":            hostile[1],
			boxPage + "/operations/1":          hostile[0],
			"/databases/shop/operations":       hostile[0],
			boxPage + "/subscriptions/default": hostile[1],
		} {
			response, body := get(t, at+path)
			if response.StatusCode != http.StatusOK {
				t.Errorf("%s answers %s:\n%s", path, response.Status, body)
			}
			if _, faults := pagetest.Read(body); len(faults) > 0 {
				t.Errorf("%s: %s", path, strings.Join(faults, "\n"))
			}
			if !strings.Contains(html.UnescapeString(body), want) {
				t.Errorf("%s does not show %s:\n%s", path, want, body)
			}
		}
	}
}

func TestAPageThatIsNotThereIsAPage(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	for path, want := range map[string]int{
		"/nothing": 404, "/databases/none/relays": 404, "/databases/shop/boxes/none": 404, boxPage + "/subscriptions/none": 404,
		boxPage + "/messages/7": 400, boxPage + "/messages/01234567-89ab-7cde-8f01-23456789abcd": 404, boxPage + "/messages?x=1": 400,
		boxPage + "/errors?subscription=none": 404, boxPage + "/keys?subscription=%3Cb%3E": 404, "/databases/shop/boxes/%3Cscript%3E/messages": 404,
		boxPage + "/messages?state=%3Cscript%3E": 400, "/%3Cscript%3E?" + url.Values{hostile[0]: {"1"}}.Encode(): 400,
	} {
		response, body := get(t, at+path)
		if kind := response.Header.Get("Content-Type"); response.StatusCode != want || kind != "text/html; charset=utf-8" {
			t.Errorf("%s answers %s as %s", path, response.Status, kind)
		}
		if page, faults := pagetest.Read(body); len(faults) > 0 || page.Heading != "This cannot be shown" {
			t.Errorf("%s has the heading %q: %s", path, page.Heading, strings.Join(faults, "\n"))
		}
	}
	if response, body := get(t, at+"/api/v1/nothing"); response.StatusCode != http.StatusNotFound || !strings.HasPrefix(body, `{"error":`) {
		t.Errorf("of the API it answers %s: %s", response.Status, body)
	}
}

func TestTheFormOfFiltersMakesAShortAddress(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t))
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]string{
		boxPage + "/messages?topic=&key=a+b&state=":     "./messages?key=a+b",
		boxPage + "/messages?topic=":                    "./messages",
		"/?x=":                                          "./",
		boxPage + "/messages?columns=topic&columns=key": "./messages?columns=topic%2Ckey",
		boxPage + "/messages?topic=&columns=state&columns=topic&columns=key&columns=type&columns=subscription&columns=attempts&columns=bytes&columns=error": "./messages",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%s answers %s, and leads to %q, want %q", path, response.Status, got, want)
		}
	}
}

// linked returns the first link of a page that a text is on, and fails without one.
func linked(t *testing.T, at, text string) string {
	t.Helper()
	_, body := get(t, at)
	before, _, found := strings.Cut(body, ">"+text+"</a>")
	if !found {
		t.Fatalf("%s has no link %s:\n%s", at, text, body)
	}
	address := before[strings.LastIndex(before, `href="`)+len(`href="`):]
	base, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	to, err := base.Parse(html.UnescapeString(strings.TrimSuffix(address, `"`)))
	if err != nil {
		t.Fatal(err)
	}
	return to.String()
}

// idsOn returns the ids of messages that a page links, in its sequence.
func idsOn(t *testing.T, at string) (ids []string) {
	t.Helper()
	_, body := get(t, at)
	for _, part := range strings.Split(body, `href="`)[1:] {
		path, _, _ := strings.Cut(part, `"`)
		if id := path[strings.LastIndexByte(path, '/')+1:]; len(id) == len(postbag.ID{}.String()) && strings.Contains(path, "/messages/") {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestPagesOfMessagesLeadOnAndBack(t *testing.T) {
	t.Parallel()
	root := serve(t, console.Options{}, box(t))
	for _, first := range []string{"/messages?limit=5&state=dead", "/messages?limit=5&oldest=true"} {
		at := root + boxPage + first
		var walked [][]string
		seen := make(map[string]bool)
		for {
			ids := idsOn(t, at)
			walked = append(walked, ids)
			for _, id := range ids {
				seen[id] = true
			}
			if len(walked) == 3 {
				break
			}
			at = linked(t, at, "Next page")
		}
		if len(seen) != len(hostile) {
			t.Fatalf("on three pages there are %d messages, want %d", len(seen), len(hostile))
		}
		if _, body := get(t, at); strings.Contains(body, "Next page") {
			t.Errorf("behind the last page there is one more:\n%s", body)
		}
		for n := 1; n >= 0; n-- {
			at = linked(t, at, "Page before")
			if got := idsOn(t, at); strings.Join(got, " ") != strings.Join(walked[n], " ") {
				t.Errorf("back on page %d there are %v, want %v", n, got, walked[n])
			}
		}
		if _, body := get(t, at); strings.Contains(body, "Page before") {
			t.Errorf("before the first page there is one more:\n%s", body)
		}
	}
}

func TestPagesShowPayloadsOnlyWhereTheyMay(t *testing.T) {
	t.Parallel()
	m := box(t)
	closed, open := serve(t, console.Options{}, m), serve(t, console.Options{Payloads: true}, m)
	one := boxPage + "/messages/" + into[console.Messages](t, closed+messages+"?limit=1").Messages[0].ID.String()
	for _, at := range []string{closed + one, open + one} {
		if _, body := get(t, at); strings.Contains(body, "PAYLOAD") || strings.Contains(body, "note") {
			t.Errorf("%s shows payload or headers:\n%s", at, body)
		}
	}
	if response, body := get(t, closed+one+"?payload=true"); response.StatusCode != http.StatusBadRequest || strings.Contains(body, "PAYLOAD") {
		t.Errorf("a console without payloads answers %s:\n%s", response.Status, body)
	}
	if _, body := get(t, open+one+"?payload=true"); !strings.Contains(body, "PAYLOAD") || !strings.Contains(body, "note") || !strings.Contains(body, "postbag publish -c postbag.yaml --box outbox") {
		t.Errorf("the page lacks payload, headers or the command:\n%s", body)
	}
}

func TestAnEmptyDatabaseHasGoodPages(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, created(t, memstore.New(memstore.Options{})), memstore.New(memstore.Options{}))
	if found := pagetest.Crawl(t, at+"/"); len(found) < 10 {
		t.Errorf("there are only %d pages", len(found))
	}
}

func TestTheScheduledAreShownWithWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	m := created(t, memstore.New(memstore.Options{}))
	due := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	msgs := []postbag.Message{{ID: postbag.NewID(), Topic: "later", NotBefore: due}}
	if err := m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, "outbox", msgs) }); err != nil {
		t.Fatal(err)
	}
	at := serve(t, commanding, m)
	_, page := get(t, linked(t, at+boxPage, "Scheduled"))
	if want := due.Format("2006-01-02 15:04:05 UTC"); !strings.Contains(page, want) || !strings.Contains(page, ">Due<") {
		t.Errorf("the page does not say that it is due at %s:\n%s", want, page)
	}
	one := boxPage + "/messages/" + msgs[0].ID.String()
	if _, page := get(t, at+one); !strings.Contains(page, ">Publish now<") || !strings.Contains(page, ">Cancel<") {
		t.Errorf("its page has no form:\n%s", page)
	}
	fields := url.Values{"do": {"retry"}, "subscription": {""}, "state": {"scheduled"}, "why": {"it is wanted now"}}
	response, body := post(t, at+"/api/v1"+one+"/commands", fields)
	if response.StatusCode != http.StatusOK || body != "{\"queued\":0,\"changed\":1}\n" {
		t.Errorf("to publish it now answers %s: %s", response.Status, body)
	}
	if left := into[console.Messages](t, at+messages+"?state=scheduled").Messages; len(left) != 1 || left[0].NotBefore.After(time.Now()) {
		t.Errorf("it is not due now: %+v", left) // a relay takes it from there
	}
	fields["do"] = []string{"discard"}
	response, body = post(t, at+one+"/commands", fields)
	form, err := url.Parse(at + one + "/commands")
	if err != nil || response.StatusCode != http.StatusSeeOther {
		t.Fatalf("to cancel it answers %s, %v: %s", response.Status, err, body)
	}
	back, err := form.Parse(response.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	if answer, page := get(t, back.String()); answer.StatusCode != http.StatusOK || !strings.Contains(page, "No message matches") {
		t.Errorf("after the cancel %s answers %s:\n%s", back, answer.Status, page)
	}
}

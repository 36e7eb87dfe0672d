package pagetest

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// mostPages ends a crawl that finds no end.
const mostPages = 2000

// Crawl begins at an address, follows every link that stays below it, and fails the test where a link answers other than 200, or a
// page has a fault. It returns what was found, by address.
func Crawl(tb testing.TB, root string) map[string]string {
	tb.Helper()
	found, waits := map[string]string{}, []string{root}
	for len(waits) > 0 {
		at := waits[0]
		waits = waits[1:]
		if _, seen := found[at]; seen {
			continue
		}
		if len(found) == mostPages {
			tb.Fatalf("after %d pages there are more links", mostPages)
		}
		code, kind, body := get(tb, at)
		found[at] = body
		if code != http.StatusOK {
			tb.Errorf("a link leads to %s, which answers %d: %.200s", at, code, body)
		}
		if strings.HasPrefix(kind, "text/html") {
			waits = append(waits, follow(tb, root, at, body)...)
		}
	}
	return found
}

// follow returns the addresses that a page leads to.
func follow(tb testing.TB, root, at, body string) (out []string) {
	tb.Helper()
	page, faults := Read(body)
	for _, f := range faults {
		tb.Errorf("%s: %s", at, f)
	}
	base, err := url.Parse(at)
	if err != nil {
		tb.Fatal(err)
	}
	for _, link := range page.Links {
		to, err := base.Parse(link)
		if err != nil {
			tb.Errorf("%s has the link %q: %v", at, link, err)
			continue
		}
		to.Fragment = ""
		if !strings.HasPrefix(to.String(), root) {
			tb.Errorf("%s leads to %s, which is elsewhere", at, to)
			continue
		}
		out = append(out, to.String())
	}
	return out
}

func get(tb testing.TB, at string) (code int, kind, body string) {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, at, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Content-Type"), string(text)
}

package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver/servertest"
)

// kindOf is what kind of page an address is of: the route, and the names of its parameters.
func kindOf(address string) string {
	path, query, _ := strings.Cut(address, "?")
	for _, names := range []string{"databases", "boxes", "subscriptions", "messages", "operations"} {
		path = regexp.MustCompile(`/`+names+`/[^/]+`).ReplaceAllString(path, "/"+names+"/*")
	}
	values, _ := url.ParseQuery(query)
	var names []string
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(append([]string{path}, names...), " ")
}

// walk begins at the overview, and follows links until it has seen one page of each kind. It returns their addresses by kind.
func walk(p *tab) map[string]string {
	p.t.Helper()
	found, waits := map[string]string{}, []string{"/"}
	for len(waits) > 0 {
		at := waits[0]
		waits = waits[1:]
		if found[kindOf(at)] != "" {
			continue
		}
		found[kindOf(at)] = at
		if status := p.open(at); status != http.StatusOK {
			p.t.Errorf("%s answers %d", at, status)
		}
		for _, link := range js[[]string](p, `[...document.querySelectorAll("a[href]")].map((a) => a.href)`) {
			to, below := strings.CutPrefix(link, p.root)
			if !below {
				p.t.Errorf("%s leads to %s, which is elsewhere", at, link)
			}
			to, _, _ = strings.Cut(to, "#")
			if !strings.HasPrefix(to, "/api/") {
				waits = append(waits, to)
			}
		}
	}
	return found
}

// pagesOf are one page of each route, and those that look otherwise with a parameter.
func pagesOf(t *testing.T, found map[string]string) map[string]string {
	t.Helper()
	const box = "/databases/*/boxes/*"
	pages := make(map[string]string)
	for name, kind := range map[string]string{
		"overview": "/", "relays": "/databases/*/relays", "audit": "/databases/*/audit", "box": box, "subscription": box + "/subscriptions/*",
		"errors": box + "/errors", "keys": box + "/keys", "messages": box + "/messages", "scheduled": box + "/messages state", "follow": box + "/messages follow",
		"operations": box + "/operations", "replays": box + "/replays", "replay": box + "/subscriptions/*/replay", "all operations": "/databases/*/operations",
		"message": box + "/messages/*", "payload": box + "/messages/* payload", "around": box + "/messages/*/key",
	} {
		if pages[name] = found[kind]; found[kind] == "" {
			t.Errorf("no link leads to a page like %s", kind)
		}
	}
	pages["nowhere"] = "/nowhere"
	return pages
}

func TestEveryPageCanBeReadByAnybodyAtAnyWidthInLightAndInDark(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, w *world) {
		p := newTab(t, w.console, admin)
		p.excuse("/nowhere") // the browser says that it is not there
		t.Logf("pictures of all pages are in %s", filepath.Dir(artefacts(w.name+"/overview")))
		found := walk(p)
		covered(t, p, found)
		for name, at := range pagesOf(t, found) {
			for _, l := range looksIn(w) {
				p.size(l.width)
				p.scheme(l.scheme)
				p.open(at)
				l.judge(p, name)
				p.picture(artefacts(fmt.Sprintf("%s/%s-%d-%s", w.name, name, l.width, l.scheme)))
			}
		}
	})
}

// covered checks that a page of each route was found: the API has the same routes, and says which.
func covered(t *testing.T, p *tab, found map[string]string) {
	t.Helper()
	routes := js[[]string](p, `fetch("/api/v1/openapi.json").then((a) => a.json()).then((d) => Object.entries(d.paths).filter(([, on]) => on.get).map(([path]) => path))`)
	if len(routes) < 9 {
		t.Errorf("the API has only %v", routes)
	}
	seen := make(map[string]bool)
	for kind := range found {
		path, _, _ := strings.Cut(kind, " ")
		seen[path] = true
	}
	for _, route := range routes {
		path := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(strings.TrimPrefix(route, "/api/v1"), "*")
		if path == "/overview" {
			path = "/"
		}
		if strings.HasSuffix(path, "/samples") || path == "/events" { // charts and streams are parts of pages
			continue
		}
		if strings.Contains(path, "/operations/") { // links lead there only where more than 500 messages match
			continue
		}
		if path == "/about" || strings.HasSuffix(path, "/status") || strings.HasSuffix(path, "/subscriptions") { // for the command line
			continue
		}
		if !seen[path] {
			t.Errorf("no link leads to the page of %s", route)
		}
	}
}

// look is how somebody looks at a page.
type look struct {
	width  int64
	scheme string
	rules  []string // of axe-core; nil: all
}

// Rules of axe-core that tell one look from another. The others read elements and attributes, which are the same in all looks.
var (
	ofColors = []string{"color-contrast"}
	ofSizes  = []string{"meta-viewport", "scrollable-region-focusable", "target-size"}
)

// looksIn are those in which the pages of a world are judged. They know nothing of the kind of database, so one look is enough in the
// other world. The long form has all rules and all looks.
func looksIn(w *world) []look {
	switch {
	case servertest.Full():
		return []look{{desk, "light", nil}, {phone, "light", nil}, {desk, "dark", nil}, {phone, "dark", nil}}
	case w.name != "sqlite":
		return []look{{desk, "light", ofSizes}}
	}
	return []look{{desk, "light", nil}, {phone, "light", ofSizes}, {desk, "dark", ofColors}, {phone, "dark", ofSizes}}
}

// brokenWords are those of labels, buttons, links of the page's head and heads of tables and lists that do not stand in one line.
const brokenWords = `[...document.querySelectorAll("label, button, nav a, thead th, dt, summary")].flatMap((e) => {
	const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), broken = [];
	while (texts.nextNode()) {
		for (const word of texts.currentNode.data.matchAll(/\S+/g)) {
			const range = document.createRange();
			range.setStart(texts.currentNode, word.index);
			range.setEnd(texts.currentNode, word.index + word[0].length);
			if (new Set([...range.getClientRects()].map((r) => r.top)).size > 1) broken.push(word[0]);
		}
	}
	return broken;
})`

// judge checks what a page looks like: it is no wider than the window, its style sheet is there, its background follows the scheme, and
// axe-core finds nothing that keeps somebody out.
func (l look) judge(p *tab, name string) {
	p.t.Helper()
	name = fmt.Sprintf("%s at %d px, %s", name, l.width, l.scheme)
	if wide := js[int64](p, `document.scrollingElement.scrollWidth`); wide > l.width {
		over := js[[]string](p, fmt.Sprintf(`[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > %d && getComputedStyle(e.closest(".wide") ?? e).overflowX === "visible").map((e) => e.outerHTML.slice(0, 100)).slice(0, 3)`, l.width+1))
		p.t.Errorf("%s: the page is %d px wide; over the edge go %q", name, wide, over)
	}
	if p.text("h1") == "" || len(p.text("main")) < 20 {
		p.t.Errorf("%s: the page is empty: %q", name, p.text("body"))
	}
	if broken := js[[]string](p, brokenWords); len(broken) > 0 {
		p.t.Errorf("%s: the words %q are broken over two lines", name, broken)
	}
	dark := js[bool](p, `((c) => c[0] + c[1] + c[2] < 3 * 128)(getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number))`)
	if dark != (l.scheme == "dark") {
		p.t.Errorf("%s: the background is dark: %v", name, dark)
	}
	for _, v := range axe(p, l.rules...) {
		switch v.Impact {
		case "serious", "critical":
			p.t.Errorf("%s: axe-core says %s (%s) of %q", name, v.Help, v.ID, v.Nodes)
		default:
			p.t.Logf("%s: axe-core says %s (%s, %s) of %q", name, v.Help, v.ID, v.Impact, v.Nodes)
		}
	}
}

package pagetest_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/pagetest"
)

const good = `<!doctype html><html lang="en"><head><title>A &amp; B</title></head><body><main><h1>A</h1><img src="./i.svg" alt=""><p><a href="../b?c=%3Cd%3E">b</a><br></p>HERE</main></body></html>`

func TestAGoodPageHasNoFault(t *testing.T) {
	t.Parallel()
	page, faults := pagetest.Read(good)
	if len(faults) > 0 || page.Title != "A & B" || page.Heading != "A" || page.Lang != "en" || len(page.Links) != 2 || page.Links[1] != "../b?c=%3Cd%3E" {
		t.Errorf("the page is %+v, with %v", page, faults)
	}
}

func TestEachFaultOfAPageIsFound(t *testing.T) {
	t.Parallel()
	for put, want := range map[string]string{
		`<script>x</script>`:                     "a script stands in it",
		`<script src="./x.js">x</script>`:        "the script \"x\" stands in it",
		`<script src="//evil.example"></script>`: "is not relative",
		`<iframe></iframe>`:                      "element iframe",
		`<p onclick="x">y</p>`:                   "attribute onclick",
		`<p style="x">y</p>`:                     "attribute style",
		`<a href="javascript:x">y</a>`:           "is not relative",
		`<a href="//evil.example">y</a>`:         "is not relative",
		`<a>y</a>`:                               "leads nowhere",
		`<table><tr><th>y</th></tr></table>`:     "no scope",
		`<input id="a">`:                         "no label",
		`<p tabindex="3">y</p>`:                  "sequence of keys",
		`<p tabindex="0">y</p>`:                  "has no name",
		`<img src="./x.svg">`:                    "no alternative",
		`<h1>y</h1>`:                             "2 h1",
		`<p>a < b</p>`:                           "cannot be read",
		`</main></body></html><html lang=""><p>`: "its language",
	} {
		if _, faults := pagetest.Read(strings.Replace(good, "HERE", put, 1)); !strings.Contains(strings.Join(faults, "\n"), want) {
			t.Errorf("of %s it says %q, want %q", put, faults, want)
		}
	}
}

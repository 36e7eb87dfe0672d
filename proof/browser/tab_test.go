package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a page of a browser that shares nothing with the other tabs. What a page may not do fails the test at its end: an error on the
// browser's console, a violation of the policy, an exception, a request to another host, an answer that says that something is wrong.
type tab struct {
	t    *testing.T
	ctx  context.Context
	root string // of the console, without a slash at the end

	mu      sync.Mutex
	clicks  int
	faults  []string
	excused []string // parts of faults that the test expects
	status  int64    // of the last document
}

// newTab opens a tab on a console, as a user or, with an empty name, as nobody.
func newTab(t *testing.T, c *console, user string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(needBrowser(t), chromedp.WithNewBrowserContext())
	tab := &tab{t: t, ctx: ctx, root: c.root}
	t.Cleanup(func() {
		cancel()
		tab.judge()
	})
	tab.must(chromedp.Listen(ctx, tab.hear))
	tab.wide()
	if user != "" {
		cookie := c.session(t, user)
		_, err := chromedp.Call(ctx, network.SetCookie, network.SetCookieParams{Name: cookie.Name, Value: cookie.Value, URL: c.root})
		tab.must(err)
	}
	return tab
}

// hear notes what the browser tells.
func (p *tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.fault("an exception: " + e.ExceptionDetails.Text + " " + e.ExceptionDetails.URL)
	case *runtime.EventConsoleAPICalled:
		p.fault("a script writes to the console: " + string(e.Type))
	case *log.EventEntryAdded:
		p.fault(fmt.Sprintf("the browser says (%s, %s): %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *page.EventJavascriptDialogOpening:
		p.fault("a script opens a dialog: " + e.Message)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, p.root+"/") && !strings.HasPrefix(e.Request.URL, "about:") {
			p.fault("a request goes elsewhere: " + e.Request.URL)
		}
	case *network.EventResponseReceived:
		if e.Type == network.ResourceTypeDocument {
			p.mu.Lock()
			p.status = e.Response.Status
			p.mu.Unlock()
		}
	}
}

func (p *tab) fault(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, what)
}

// hasFault says whether a fault with a text was heard.
func (p *tab) hasFault(part string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.faults, func(f string) bool { return strings.Contains(f, part) })
}

// excuse leaves out faults that contain a text.
func (p *tab) excuse(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.excused = append(p.excused, part)
}

// judge fails the test for each fault.
func (p *tab) judge() {
	p.mu.Lock()
	defer p.mu.Unlock()
next:
	for _, f := range p.faults {
		for _, part := range p.excused {
			if strings.Contains(f, part) {
				continue next
			}
		}
		p.t.Errorf("in the browser: %s", f)
	}
}

func (p *tab) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// do runs actions, within the patience of tests.
func (p *tab) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%s: %v; the page is %q", what, err, p.text("main"))
	}
}

// open goes to a page, and returns the status of its answer.
func (p *tab) open(path string) int64 {
	p.t.Helper()
	p.do("open "+path, chromedp.Navigate(p.root+path))
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// js evaluates an expression in the page. A promise is awaited.
func js[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// until waits for a condition of the page, also while it loads another one.
func (p *tab) until(what, expression string) {
	p.t.Helper()
	err := await(what, func() bool {
		ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
		defer cancel()
		met, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`!!(`+expression+`)`))
		return err == nil && met
	})
	if err != nil {
		p.t.Fatalf("%v: %s; the page is %s: %q", err, expression, p.where(), p.text("main"))
	}
}

// text is the text of an element, as a reader sees it.
func (p *tab) text(selector string) string {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector)))
	if err != nil {
		return err.Error()
	}
	return text
}

// where is the address of the page below the root of the console.
func (p *tab) where() string {
	p.t.Helper()
	return strings.TrimPrefix(js[string](p, `location.href`), p.root)
}

// press presses keys, one after another.
func (p *tab) press(keys string) {
	p.t.Helper()
	p.do("press a key", chromedp.KeyEvent(keys))
}

// click clicks with the mouse on the first element that a selector finds, when it can be seen.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.clicks++
	p.do("click on "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// leads does something that leads to another page, and waits until that is there.
func (p *tab) leads(by func()) {
	p.t.Helper()
	js[bool](p, `window.pageOfBefore = true`)
	by()
	p.until("the next page is there", `!window.pageOfBefore && document.readyState === "complete"`)
}

// Widths of a phone and of a desk.
const (
	phone = 360
	desk  = 1440
)

// size makes the page so wide.
func (p *tab) size(width int64) {
	p.t.Helper()
	height := int64(900)
	if width < 600 {
		height = 740
	}
	p.do("set the size", chromedp.EmulateViewport(width, height))
}

func (p *tab) wide() { p.size(desk) }

// scheme asks for light or dark, as the system of the one who looks does.
func (p *tab) scheme(name string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	p.must(err)
}

// artefacts is where pictures of all pages go. Each run of a test writes over those of the run before.
func artefacts(name string) string { return filepath.Join(checkout(), "tmp", "browser", name+".png") }

// picture keeps what all of the page looks like, for those who want to see what a test saw.
func (p *tab) picture(file string) {
	p.t.Helper()
	p.shoot(file, true)
}

// shoot writes a picture of the page: of all of it, and in a hurry, or of what is in the window, in a small file.
func (p *tab) shoot(file string, all bool) {
	p.t.Helper()
	shot, err := chromedp.Call(p.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &all, OptimizeForSpeed: &all})
	p.must(err)
	p.must(os.MkdirAll(filepath.Dir(file), 0o750))
	p.must(os.WriteFile(file, shot.Data, 0o600))
}

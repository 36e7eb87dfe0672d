package pagetest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Page is what a test reads of a page.
type Page struct {
	// Title, Heading and Lang are its title, its one h1, and its language.
	Title, Heading, Lang string
	// Links are all addresses that it has, in forms and of pictures too.
	Links []string
}

// elements are those that a page may have.
var elements = strings.Fields(`html head meta title link body header nav main footer section article div h1 h2 h3 p a ul li dl dt dd
table thead tbody tr th td time span br details summary pre form label input select option textarea button img
script dialog kbd figure figcaption svg path b progress`)

// attributes are those that an element may have.
var attributes = strings.Fields(`lang charset name content rel href type class src alt width height id tabindex role aria-label
aria-labelledby scope datetime open method action for value placeholder selected checked required maxlength defer data-live data-events
aria-hidden viewBox preserveAspectRatio d rows max`)

// reader walks through the elements of a page.
type reader struct {
	page   Page
	faults []string
	open   []string
	labels map[string]bool
	fields []string
	heads  int
	mains  int
}

// Read reads a page, and returns what is wrong with it: elements and attributes that no page has, links that are no relative address, a
// table whose heads have no scope, a field without a label, a place in the sequence of keys, a missing title, language, heading or
// landmark.
func Read(body string) (Page, []string) {
	r := &reader{labels: make(map[string]bool)}
	d := xml.NewDecoder(strings.NewReader(body))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.faultf("it cannot be read: %v", err)
			break
		}
		switch token := token.(type) {
		case xml.StartElement:
			r.begin(token)
		case xml.EndElement:
			if len(r.open) > 0 {
				r.open = r.open[:len(r.open)-1]
			}
		case xml.CharData:
			r.text(string(token))
		}
	}
	return r.page, r.end()
}

func (r *reader) faultf(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func (r *reader) begin(e xml.StartElement) {
	name := e.Name.Local
	r.open = append(r.open, name)
	if !slices.Contains(elements, name) {
		r.faultf("it has the element %s", name)
	}
	has := make(map[string]string)
	for _, a := range e.Attr {
		has[a.Name.Local] = a.Value
		if !slices.Contains(attributes, a.Name.Local) {
			r.faultf("%s has the attribute %s", name, a.Name.Local)
		}
	}
	for _, a := range []string{"href", "src", "action"} {
		if to, is := has[a]; is && r.relative(to) && has["method"] != "post" { // nobody follows a command
			r.page.Links = append(r.page.Links, to)
		}
	}
	r.element(name, has)
}

// relative says whether an address leads to a page. It must be relative: it stays where the console is, and runs nothing.
func (r *reader) relative(to string) bool {
	if !strings.HasPrefix(to, "./") && !strings.HasPrefix(to, "../") && !strings.HasPrefix(to, "#") {
		r.faultf("the link %q is not relative", to)
		return false
	}
	return !strings.HasPrefix(to, "#")
}

func (r *reader) element(name string, has map[string]string) {
	switch name {
	case "html":
		r.page.Lang = has["lang"]
	case "h1":
		r.heads++
	case "main":
		r.mains++
	case "a":
		if has["href"] == "" {
			r.faultf("a link leads nowhere, and no key reaches it")
		}
	case "th":
		if has["scope"] == "" {
			r.faultf("a head of a table has no scope")
		}
	case "label":
		r.labels[has["for"]] = true
	case "script":
		if has["src"] == "" {
			r.faultf("a script stands in it")
		}
	case "input", "select", "textarea":
		if has["type"] != "hidden" {
			r.fields = append(r.fields, has["id"])
		}
	case "img":
		if _, is := has["alt"]; !is {
			r.faultf("a picture has no alternative")
		}
	}
	if at := has["tabindex"]; at != "" && at != "0" && (at != "-1" || name != "main") {
		r.faultf("%s has the place %s in the sequence of keys", name, at)
	}
	if has["tabindex"] == "0" && has["aria-label"] == "" {
		r.faultf("%s can be reached and has no name", name)
	}
}

func (r *reader) text(text string) {
	if len(r.open) == 0 {
		return
	}
	switch r.open[len(r.open)-1] {
	case "script":
		r.faultf("the script %q stands in it", text)
	case "title":
		r.page.Title += text
	case "h1":
		r.page.Heading += text
	}
}

// end says what is missing.
func (r *reader) end() []string {
	for _, id := range r.fields {
		if id == "" || !r.labels[id] {
			r.faultf("the field %q has no label", id)
		}
	}
	if strings.TrimSpace(r.page.Title) == "" || strings.TrimSpace(r.page.Heading) == "" || r.page.Lang == "" {
		r.faultf("its title is %q, its heading %q, its language %q", r.page.Title, r.page.Heading, r.page.Lang)
	}
	if r.heads != 1 || r.mains != 1 {
		r.faultf("it has %d h1 and %d main", r.heads, r.mains)
	}
	return r.faults
}

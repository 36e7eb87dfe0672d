package console

import (
	"net/url"
	"strings"

	"github.com/postbag/postbag/internal/operations"
)

// The methods of a sheet that make addresses. All are relative to the page, so that the console can be mounted below any path.

// To is the address of the page with this path, or of the overview without one.
func (s *sheet) To(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = url.PathEscape(p)
	}
	return s.root + strings.Join(escaped, "/")
}

// OfBox is the address of a page of the box that the page is of.
func (s *sheet) OfBox(parts ...string) string {
	return s.To(append([]string{"databases", s.Database, "boxes", s.Box}, parts...)...)
}

// Found is the address of messages of the box by filters, which are pairs of name and value. Those without a value are left out.
func (s *sheet) Found(pairs ...string) string { return s.OfBox("messages") + query(pairs) }

// FoundIn is Found for a box of a database.
func (s *sheet) FoundIn(database, box string, pairs ...string) string {
	return s.To("databases", database, "boxes", box, "messages") + query(pairs)
}

func query(pairs []string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// cell is a message with its address.
type cell struct {
	operations.Message

	At string
}

// Cell is a message of the box with the address of its page.
func (s *sheet) Cell(m operations.Message) cell {
	return cell{m, s.OfBox("messages", m.ID.String())}
}

// Get is a parameter of the page.
func (s *sheet) Get(name string) string { return s.query.Get(name) }

// Same is the address of the page with some parameters set otherwise, in pairs. An empty value takes one away.
func (s *sheet) Same(pairs ...string) string {
	at := s.here[strings.LastIndexByte(s.here, '/')+1:]
	return "./" + at + s.changed(pairs)
}

// changed are the parameters of the page, with some set otherwise.
func (s *sheet) changed(pairs []string) string {
	var all []string
	for name := range s.query {
		all = append(all, name, s.query.Get(name))
	}
	values := url.Values{}
	all = append(all, pairs...)
	for i := 0; i+1 < len(all); i += 2 {
		values.Set(all[i], all[i+1])
	}
	for name := range values {
		if values.Get(name) == "" {
			values.Del(name)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// API is the address of the same as JSON. Parameters can be set otherwise, in pairs.
func (s *sheet) API(pairs ...string) string {
	at := s.here
	if at == "" {
		at = "overview"
	}
	return s.root + "api/v1/" + at + s.changed(append(pairs, "trail", "", "range", "", chosenColumns.name, ""))
}

// Events is the address of the stream of the page.
func (s *sheet) Events() string {
	return s.root + "api/v1/events" + query([]string{"of", "/" + s.here + s.changed(nil)})
}

// A trail is the cursors of the pages before, the latest last: a cursor of a store leads one way only.
const (
	mostTrail  = 20   // pages
	trailBytes = 1024 // a browser's address has an end
	firstPage  = "-"  // stands for no cursor
	trailSep   = "~"
)

// Next is the address of the page behind this one, which begins at a cursor.
func (s *sheet) Next(cursor string) string {
	here := s.Get("cursor")
	if here == "" {
		here = firstPage
	}
	var trail []string
	if text := s.Get("trail"); text != "" {
		trail = strings.Split(text, trailSep)
	}
	trail = append(trail, here)
	trail = trail[max(0, len(trail)-mostTrail):]
	text := strings.Join(trail, trailSep)
	if len(text) > trailBytes || strings.Contains(here, trailSep) {
		text = "" // the way back is lost, the way on is not
	}
	return s.Same("cursor", cursor, "trail", text, "count", "")
}

// Back is the address of the page before this one. Empty: this is the first, or the way is not known.
func (s *sheet) Back() string {
	text := s.Get("trail")
	if text == "" {
		return ""
	}
	rest, last := "", text
	if at := strings.LastIndex(text, trailSep); at >= 0 {
		rest, last = text[:at], text[at+1:]
	}
	if last == firstPage {
		last = ""
	}
	return s.Same("cursor", last, "trail", rest, "count", "")
}

// Narrowed says whether the page shows less than all messages.
func (s *sheet) Narrowed() bool {
	for name := range s.query {
		if name != "cursor" && name != "trail" && name != "limit" && name != "oldest" && name != "follow" && name != "count" && name != chosenColumns.name {
			return true
		}
	}
	return false
}

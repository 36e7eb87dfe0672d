package pgstore

import (
	"strconv"
	"strings"
)

// reading says which form of a read statement is wanted.
type reading struct {
	window  bool // read on in a window, instead of opening one
	masked  bool // only some slots
	types   bool // a filter on types
	topics  bool // a filter on topics
	bounded bool // the sum of the payloads counts
	foreign bool // a window that begins at a floor, in a box that was restored
	skip    bool // first look for the first row
	moved   bool // running transactions may have ids of rows that came from another cluster
	ended   bool // a poll from a position that no transaction ran at: it begins at its bound
}

func (r reading) number() (n uint16) {
	for i, set := range []bool{r.window, r.masked, r.types, r.topics, r.bounded, r.foreign, r.skip, r.moved, r.ended} {
		if set {
			n |= 1 << i
		}
	}
	return n
}

// rows names the part that brings the rows.
func (r reading) rows() string {
	switch {
	case r.bounded:
		return "bounded"
	case r.types || r.topics:
		return "kept"
	default:
		return "rows"
	}
}

// readStatement puts a read statement together. What a form has no use for is
// not in it, so that each row costs only what is asked of it. The parameters of
// the parts follow those that all forms have, in the order below.
func (c *statementSet) readStatement(box string, r reading) *statement {
	name := "poll"
	if r.window {
		name = "page"
	}
	return c.variant(name, box, r.number(), func() []string {
		next := 15
		parameter := func() string {
			next++
			return "$" + strconv.Itoa(next-1)
		}
		parts := []string{"{slots}", "", "{foreign}", "", "{ran}", c.templates["ran"], "{types}", "true", "{topics}", "true"}
		set := func(i int, part string, names ...string) {
			text := c.templates[part]
			for _, n := range names {
				text = strings.ReplaceAll(text, n, parameter())
			}
			parts[i] = text
		}
		if r.masked {
			set(1, "slots", "{mask}")
		}
		if r.foreign {
			set(3, "foreign", "{base}", "{running}")
		}
		switch {
		case r.moved:
			set(5, "ran_moved", "{lows}")
		case r.ended:
			set(5, "ran_none")
		}
		if r.types {
			set(7, "keep_types", "{exact}", "{like}")
		}
		if r.topics {
			set(9, "keep_topics", "{exact}", "{like}")
		}
		rows := strings.ReplaceAll(c.templates[r.rows()], "{where}", c.templates[name+"_where"])
		for i := 0; i < len(parts); i += 2 {
			rows = strings.ReplaceAll(rows, parts[i], parts[i+1])
		}
		from := c.templates[name+"_from"]
		below, missed := "NULL::bytea", "NULL::bytea"
		switch {
		case r.ended:
			from, below = c.templates["poll_from_ended"], c.templates["below"]
		case !r.window:
			below, missed = c.templates["below"], c.templates["missed"]
		}
		first := "NULL::bigint" // what is not there costs nothing, not even to get ready
		if r.skip {
			first = strings.ReplaceAll(c.templates["first"], "{from}", from)
		}
		return []string{
			"{rows}", finish(rows, from, first),
			"{facts}", finish(strings.NewReplacer("{state}", c.state(9), "{below}", below, "{missed}", missed).Replace(c.templates["facts"]), from, first),
		}
	})
}

// askStatement is the facts alone.
func (c *statementSet) askStatement() *statement {
	return c.variant("ask", "", 0, func() []string { return []string{"{state}", c.state(1)} })
}

// state returns the facts that no box has a part in, with their parameters from
// $first on.
func (c *statementSet) state(first int) string {
	text := c.templates["state"]
	for i, name := range []string{"{shards}", "{subs}", "{los}", "{his}"} {
		text = strings.ReplaceAll(text, name, "$"+strconv.Itoa(first+i))
	}
	return text
}

func finish(text, from, first string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "{first}", first), "{from}", from)
}

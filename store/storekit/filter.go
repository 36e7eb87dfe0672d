package storekit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Types is a filter of types, or of topics, asked in Go. The zero Types takes all.
type Types struct{ exact, prefixes []string }

// TypesOf makes a filter of the types of a subscription.
func TypesOf(types []string) Types {
	var m Types
	for _, t := range types {
		if prefix, ok := TypePrefix(t); ok {
			m.prefixes = append(m.prefixes, prefix)
		} else {
			m.exact = append(m.exact, t)
		}
	}
	return m
}

// Take says whether the filter takes a type.
func (m Types) Take(typ string) bool {
	if len(m.exact) == 0 && len(m.prefixes) == 0 {
		return true
	}
	return slices.Contains(m.exact, typ) ||
		slices.ContainsFunc(m.prefixes, func(p string) bool { return strings.HasPrefix(typ, p) })
}

// Filter is a filter of a subscription, asked in Go. The zero Filter takes all. A
// database that looks at types itself asks it about what its own condition takes.
type Filter struct {
	match   match
	except  []match
	text    string // the stored form of its Where
	headers bool
}

// match is a store.Match, ready to be asked.
type match struct {
	types, topics Types
	headers       []headerCondition
}

// headerCondition is what one header must be: one of values, or there at all.
type headerCondition struct {
	name   string
	any    bool
	values []string
}

// FilterOf makes a filter ready to be asked.
func FilterOf(f store.Filter) Filter {
	out := Filter{match: matchOf(f.Match()), headers: len(f.Headers) > 0}
	for _, m := range f.Except {
		out.except = append(out.except, matchOf(m))
		out.headers = out.headers || len(m.Headers) > 0
	}
	out.text, _ = WhereText(f.Where) // of texts
	return out
}

func matchOf(m store.Match) match {
	out := match{types: TypesOf(m.Types), topics: TypesOf(m.Topics)}
	for _, h := range m.Headers {
		name, value, valued := strings.Cut(h, "=")
		i := slices.IndexFunc(out.headers, func(c headerCondition) bool { return c.name == name })
		if i < 0 {
			i = len(out.headers)
			out.headers = append(out.headers, headerCondition{name: name})
		}
		c := &out.headers[i]
		if c.any = c.any || !valued; valued {
			c.values = append(c.values, value)
		}
	}
	return out
}

// Take says whether the filter takes a message.
func (f *Filter) Take(r *store.Record) bool {
	return f.match.take(r) && !slices.ContainsFunc(f.except, func(m match) bool { return m.excepts(r) })
}

// excepts is take for an exception. The headers of an erased message are gone: it holds what
// a filter asks of them, and no exception by them. So listings show it as delivered.
func (m *match) excepts(r *store.Record) bool {
	return (len(m.headers) == 0 || !Erased(r)) && m.take(r)
}

func (m *match) take(r *store.Record) bool {
	return m.types.Take(r.Type) && m.topics.Take(r.Topic) && (r.Err != nil ||
		!slices.ContainsFunc(m.headers, func(c headerCondition) bool { return !c.holds(r.Headers) }))
}

func (c *headerCondition) holds(headers map[string]string) bool {
	value, there := headers[c.name]
	return there && (c.any || slices.Contains(c.values, value))
}

// MayTakeTopic says whether a filter takes some messages of a topic: no list of topics refuses them all.
func MayTakeTopic(f store.Filter, topic string) bool {
	for _, m := range f.Except {
		if len(m.Types) == 0 && len(m.Headers) == 0 && len(m.Topics) > 0 && TypesOf(m.Topics).Take(topic) {
			return false
		}
	}
	return TypesOf(f.Topics).Take(topic)
}

// Narrows says whether the filter asks for more than the type.
func (f *Filter) Narrows() bool { return f.text != "" }

// AsksHeaders says whether the filter asks for headers.
func (f *Filter) AsksHeaders() bool { return f.headers }

// Same says whether two filters ask the same, but for types.
func (f *Filter) Same(other *Filter) bool { return f.text == other.text }

// Judge leaves of a record that the filter refuses its place and its id. Every filter
// refuses an erased message.
func (f *Filter) Judge(r *store.Record) {
	if !r.Filtered && (Erased(r) || f.Narrows() && !f.Take(r)) {
		*r = store.Record{Message: postbag.Message{ID: r.ID}, Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, At: r.At, Filtered: true}
	}
}

// Erased says whether a record with its headers is an erased message. Those of a message
// without a fault are not looked at.
func Erased(r *store.Record) bool { return r.Err != nil && store.IsErased(r.Headers) }

// WhereText returns the stored form of a Where, a JSON object, "" of the zero Where. What
// asks the same has the same text, in whatever sequence it is written.
func WhereText(w store.Where) (string, error) {
	if w.Empty() {
		return "", nil
	}
	text, err := json.Marshal(w.Clone())
	return string(text), err
}

// ParseWhere reads what WhereText has written. What it does not know is an error: without it the
// filter would take more than it says.
func ParseWhere(text string) (w store.Where, err error) {
	if text == "" {
		return w, nil
	}
	read := json.NewDecoder(strings.NewReader(text))
	read.DisallowUnknownFields()
	err = read.Decode(&w)
	if _, end := read.Token(); err == nil && !errors.Is(end, io.EOF) {
		err = errors.New("something stands behind it")
	}
	if err != nil {
		return store.Where{}, fmt.Errorf("read a filter: %w; a newer program may have written it", err)
	}
	return w, nil
}

// SameFilter says whether two filters ask the same.
func SameFilter(a, b store.Filter) bool {
	x, errX := TypesText(a.Types)
	y, errY := TypesText(b.Types)
	v, errV := WhereText(a.Where)
	w, errW := WhereText(b.Where)
	return x == y && v == w && errX == nil && errY == nil && errV == nil && errW == nil
}

// FilterDiffers is the error of a declaration with another filter than the subscription has.
func FilterDiffers(declared, has store.Filter) error {
	if declared.Where.Empty() && has.Where.Empty() {
		return fmt.Errorf("declared with types %q, it has %q: %w", declared.Types, has.Types, store.ErrFilterDiffers)
	}
	return fmt.Errorf("declared with the filter %q, it has %q: %w", declared.String(), has.String(), store.ErrFilterDiffers)
}

// FilterSetText is what the audit log says of another filter.
func FilterSetText(r store.Ref, f store.Filter) string {
	if !f.Where.Empty() {
		return Reason("filter " + r.String() + " " + f.String())
	}
	if len(f.Types) == 0 {
		return "types " + r.String() + " all"
	}
	return "types " + r.String() + " " + strings.Join(slices.Compact(slices.Sorted(slices.Values(f.Types))), ",")
}

// CheckFilter refuses a filter that no subscription can have. It is what a relay refuses in
// its own settings.
func CheckFilter(f store.Filter) error { return f.Validate() }

// CheckNewFilter refuses what CheckFilter does, and a filter that only a subscription of an
// earlier version can have.
func CheckNewFilter(f store.Filter) error { return f.ValidateNew() }

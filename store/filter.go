package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postbag/postbag"
)

// Filter is what a subscription takes. The zero Filter takes every message.
//
// A row whose headers cannot be read (Record.Err) holds every condition on headers, so that
// no filter hides it from all subscriptions.
type Filter struct {
	// Types are exact names, or a prefix followed by ".*". Empty: all types.
	Types []string
	Where
}

// Where narrows a filter further than by types. The zero Where narrows nothing.
type Where struct {
	// Topics are exact names, or a prefix followed by ".*". Empty: all topics.
	Topics []string `json:"topics,omitempty"`
	// Headers are conditions: "name=value", or "name" alone, which any value holds. Of those
	// that name one header, one must hold. Names are compared as they are written. Empty: none.
	Headers []string `json:"headers,omitempty"`
	// Except: what one of these takes is refused.
	Except []Match `json:"except,omitempty"`
}

// Match is a set of messages: those that hold each of its three lists, as in Filter and
// Where. The zero Match is all messages.
type Match struct {
	Types   []string `json:"types,omitempty"`
	Topics  []string `json:"topics,omitempty"`
	Headers []string `json:"headers,omitempty"`
}

// Match returns what f takes, but for its exceptions.
func (f *Filter) Match() Match {
	return Match{Types: f.Types, Topics: f.Topics, Headers: f.Headers}
}

// Filter returns the filter of s.
func (s *Spec) Filter() Filter { return Filter{Types: s.Types, Where: s.Where} }

// Empty says whether w narrows nothing.
func (w *Where) Empty() bool { return len(w.Topics) == 0 && len(w.Headers) == 0 && len(w.Except) == 0 }

// Empty says whether m is all messages.
func (m *Match) Empty() bool { return len(m.Types) == 0 && len(m.Topics) == 0 && len(m.Headers) == 0 }

// Covers says whether m takes every message that other takes.
func (m *Match) Covers(other *Match) bool {
	return covers(m.Types, other.Types) && covers(m.Topics, other.Topics) && coversHeaders(m.Headers, other.Headers)
}

// CheckRoutes says of each of some routes why it can never have a message: a match above it takes
// all of its, or it stands for everything. It names the first route that is too many for MaxExcept.
// all: a message goes to every route that takes it. fallback: there is one. Nil stands where
// nothing is wrong.
func CheckRoutes(matches []Match, all, fallback bool) []error {
	errs := make([]error, len(matches))
	for i := range matches {
		m := &matches[i]
		if err := m.Validate(); err != nil {
			errs[i] = fmt.Errorf("is wrong: %w", err)
			continue
		}
		if above := slices.IndexFunc(matches[:i], func(o Match) bool { return o.Covers(m) }); above >= 0 && !all {
			errs[i] = fmt.Errorf("gets no message: route %d takes all that it takes; put it above that one, or leave it out", above+1)
			continue
		}
		if m.Empty() && (fallback || !all) {
			errs[i] = errors.New("takes all messages, so that nothing is left for others; name types, topics or headers in it, or make it the fallback")
		}
	}
	n := excepted(len(matches), all, fallback)
	if last := MaxExcept + len(matches) - n; n > MaxExcept && errs[last] == nil { // the last route excepts itself from nothing
		errs[last] = fmt.Errorf("is one too many: the last filter would have %d exceptions, %d at most; put some routes into one by a prefix", n, MaxExcept)
	}
	return errs
}

// excepted is how many exceptions the longest filter of routes has. Each route excepts those
// above it, unless a message goes to all. The fallback excepts every route.
func excepted(routes int, all, fallback bool) int {
	switch {
	case fallback:
		return routes
	case all:
		return 0
	}
	return max(routes-1, 0)
}

// covers says whether all names of one list are among those of another. Empty: all names.
func covers(all, some []string) bool {
	if len(all) == 0 || len(some) == 0 {
		return len(all) == 0
	}
	return !slices.ContainsFunc(some, func(name string) bool {
		return !slices.ContainsFunc(all, func(a string) bool {
			prefix, wild := strings.CutSuffix(a, ".*")
			return a == name || wild && strings.HasPrefix(name, prefix+".")
		})
	})
}

// coversHeaders says whether what holds some conditions holds all of others.
func coversHeaders(all, some []string) bool {
	of := func(list []string, name string) (conditions []string) {
		for _, h := range list {
			if n, _, _ := strings.Cut(h, "="); n == name {
				conditions = append(conditions, h)
			}
		}
		return conditions
	}
	return !slices.ContainsFunc(all, func(h string) bool {
		name, _, _ := strings.Cut(h, "=")
		allows, asks := of(all, name), of(some, name)
		return len(asks) == 0 || !slices.Contains(allows, name) &&
			slices.ContainsFunc(asks, func(a string) bool { return !slices.Contains(allows, a) })
	})
}

// Clone returns a copy that shares no memory with w, with each list sorted and nothing twice.
// Filters that are written differently, and have the same conditions, have equal clones.
func (w *Where) Clone() Where {
	out := Where{Topics: sorted(w.Topics), Headers: sorted(w.Headers)}
	for _, m := range w.Except {
		m = m.Clone()
		if !slices.ContainsFunc(out.Except, func(o Match) bool { return o.Compare(&m) == 0 }) {
			out.Except = append(out.Except, m)
		}
	}
	slices.SortFunc(out.Except, func(a, b Match) int { return a.Compare(&b) })
	return out
}

// Clone returns a copy that shares no memory with m, with each list sorted and nothing twice.
func (m *Match) Clone() Match {
	return Match{Types: sorted(m.Types), Topics: sorted(m.Topics), Headers: sorted(m.Headers)}
}

// Compare compares clones, for sorting.
func (m *Match) Compare(o *Match) int {
	for _, c := range []int{slices.Compare(m.Types, o.Types), slices.Compare(m.Topics, o.Topics), slices.Compare(m.Headers, o.Headers)} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// sorted returns the distinct texts of a list in order; nil: there are none.
func sorted(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// Most of what a filter can have.
const (
	// MaxExcept is how many exceptions a filter has at most.
	MaxExcept = 100
	// MaxConditions is how many types, topics, or headers, one list has at most. Earlier versions
	// did not bound types: see [Filter.Validate].
	MaxConditions = 1000
)

// Validate says what is wrong with f. Types alone may be more than MaxConditions: earlier
// versions stored such a filter, and a subscription that has it goes on with it.
func (f *Filter) Validate() error {
	m := f.Match()
	errs := []error{m.names()}
	if !f.Where.Empty() {
		errs = append(errs, m.bounds())
	}
	if len(f.Except) > MaxExcept {
		errs = append(errs, fmt.Errorf("%d exceptions, %d at most; put some into one by a prefix", len(f.Except), MaxExcept))
	}
	for i := range f.Except {
		switch err := f.Except[i].Validate(); {
		case err != nil:
			errs = append(errs, fmt.Errorf("exception %d: %w", i+1, err))
		case f.Except[i].Empty():
			errs = append(errs, fmt.Errorf("exception %d takes all messages, so that nothing is left; name types, topics or headers in it", i+1))
		}
	}
	return errors.Join(errs...)
}

// ValidateNew is Validate for a filter that no subscription has yet: its types are bounded, too.
func (f *Filter) ValidateNew() error {
	m := f.Match()
	if f.Where.Empty() {
		return errors.Join(f.Validate(), m.bounds())
	}
	return f.Validate()
}

// Validate says what is wrong with m.
func (m *Match) Validate() error { return errors.Join(m.names(), m.bounds()) }

// bounds refuses lists that are too long.
func (m *Match) bounds() error {
	if n := max(len(m.Types), len(m.Topics), len(m.Headers)); n > MaxConditions {
		return fmt.Errorf("%d types, topics or headers, %d at most; use a prefix", n, MaxConditions)
	}
	return nil
}

// names says what is wrong with what the lists name.
func (m *Match) names() error {
	var errs []error
	for _, t := range m.Types {
		if !validPattern(t) {
			errs = append(errs, fmt.Errorf("%.64q is no type; write an exact type, or the beginning of types followed by .*, such as order.*", t))
		}
	}
	for _, t := range m.Topics {
		if !validPattern(t) {
			errs = append(errs, fmt.Errorf("%.64q is no topic; write an exact topic, or the beginning of topics followed by .*, such as orders.*", t))
		}
	}
	for _, h := range m.Headers {
		name, value, _ := strings.Cut(h, "=")
		if err := postbag.ValidHeaders(map[string]string{name: value}); err != nil {
			errs = append(errs, fmt.Errorf("%.64q is no condition on a header; write name=value, or name alone for any value", name))
		}
	}
	return errors.Join(errs...)
}

// validPattern says whether t is a name, or the beginning of names followed by ".*".
func validPattern(t string) bool {
	return t != "" && len(t) <= postbag.MaxName && !strings.Contains(strings.TrimSuffix(t, ".*"), "*") && utf8.ValidString(t) && !strings.ContainsRune(t, 0)
}

// String returns the filter as people read it.
func (f *Filter) String() string {
	m, parts := f.Match(), []string(nil)
	if !m.Empty() || len(f.Except) == 0 {
		parts = append(parts, m.String())
	}
	for i := range f.Except {
		parts = append(parts, "except "+f.Except[i].String())
	}
	return strings.Join(parts, "; ")
}

// String returns the match as people read it.
func (m *Match) String() string {
	var parts []string
	for _, list := range []struct {
		name string
		has  []string
	}{{"types", m.Types}, {"topics", m.Topics}, {"headers", m.Headers}} {
		if len(list.has) > 0 {
			parts = append(parts, list.name+" "+strings.Join(sorted(list.has), ","))
		}
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, " ")
}

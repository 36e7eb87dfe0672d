package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// Where narrows what a subscription takes beside its types.
type Where struct {
	// Topics: exact, or a prefix and .*, such as orders.*.
	Topics []string `yaml:"topics" exact:"true" otherwise:"all"`
	// Conditions on headers: name=value, or name alone for any value. Of those with one name, one must hold.
	Headers []string `yaml:"headers" exact:"true" otherwise:"none"`
	// What one of these takes is left out.
	Except []Match `yaml:"except" otherwise:"none"`
}

// Match is a set of messages: those that all of its settings take.
type Match struct {
	// Types: exact, or a prefix and .*, such as order.*.
	Types []string `yaml:"types" exact:"true" otherwise:"all"`
	// Topics: exact, or a prefix and .*, such as orders.*.
	Topics []string `yaml:"topics" exact:"true" otherwise:"all"`
	// Conditions on headers: name=value, or name alone for any value. Of those with one name, one must hold.
	Headers []string `yaml:"headers" exact:"true" otherwise:"none"`
}

// Routes divide the messages of a box among several destinations. Each route is a subscription of its own.
type Routes struct {
	// Where a message goes that several routes take: first, to the first of them; all, to each.
	Match string `yaml:"match" oneof:"first all" default:"first"`
	// The routes, in sequence. Required.
	List []Route `yaml:"list"`
	// The route of what no other takes. Give either it or no_fallback.
	Fallback *Route `yaml:"fallback" otherwise:"none; write no_fallback: true"`
	// What no route takes is delivered by none. It is counted, and shown as filtered.
	NoFallback bool `yaml:"no_fallback" default:"false"`
}

// Route is a subscription with a part of the messages. What it leaves out is as its subscription says.
type Route struct {
	// Its name. The subscription is called by its own name, a dot, and this. Required.
	Name string `yaml:"name"`
	// What it takes. A fallback has none.
	Where Match `yaml:"where"`
	// The name of its destination.
	To string `yaml:"to" otherwise:"as the subscription says"`
	// The form in which its messages go out.
	Format *Format `yaml:"format" otherwise:"as the subscription says"`
	// Headers that are added at delivery, in place of those of the subscription.
	Headers map[string]string `yaml:"headers" otherwise:"as the subscription says"`
	// What a rejected message does to later ones of its key: block, skip or supersede.
	OnReject string `yaml:"on_reject" otherwise:"as the subscription says"`
	// The box that gets its dead letters.
	DeadTo *DeadTo `yaml:"dead_to" otherwise:"as the subscription says"`
	// Back-off of rejected messages, in place of that of the subscription.
	Retry *Retry `yaml:"retry" otherwise:"as the subscription says"`
	// Bounds of what is sent in a second, in place of those of the subscription.
	Rate *Rate `yaml:"rate" otherwise:"as the subscription says"`
	// The longest call to the destination.
	Timeout time.Duration `yaml:"timeout" range:"1ms..1h" otherwise:"as the subscription says"`
	// Most messages in a call.
	Batch int `yaml:"batch" range:"1..100000" otherwise:"as the subscription says"`
	// Most messages that are sent and not settled: what a crash may repeat.
	InFlight int `yaml:"in_flight" range:"1..1000000" otherwise:"as the subscription says"`
	// Most calls at a time.
	Concurrency int `yaml:"concurrency" range:"1..10000" otherwise:"as the subscription says"`
}

// Stored returns m as package store has it.
func (m *Match) Stored() store.Match {
	return store.Match{Types: m.Types, Topics: m.Topics, Headers: m.Headers}
}

// Filter returns what s takes.
func (s *Subscription) Filter() store.Filter {
	f := store.Filter{Types: s.Types, Where: store.Where{Topics: s.Where.Topics, Headers: s.Where.Headers}}
	for i := range s.Where.Except {
		f.Except = append(f.Except, s.Where.Except[i].Stored())
	}
	return f
}

// addRoutes puts the subscriptions that routes stand for in their place. A second time it
// changes nothing.
func (f *File) addRoutes() {
	if !slices.ContainsFunc(f.Subscriptions, func(s Subscription) bool { return s.Routes != nil && !s.routed }) {
		return
	}
	var out []Subscription
	for i := range f.Subscriptions {
		s := f.Subscriptions[i]
		where := cmp.Or(s.at, fmt.Sprintf("subscriptions[%d]", i))
		if s.at = where; s.Routes == nil || s.routed {
			out = append(out, s)
			continue
		}
		s.Routes.check(f.problems, &s, where)
		out = append(out, s.Routes.expand(&s, where+".routes")...)
	}
	f.Subscriptions = out
}

// expand returns the subscriptions that r stands for, s of them at least.
func (r *Routes) expand(s *Subscription, where string) []Subscription {
	var out []Subscription
	var above []Match
	for i := range r.List {
		one := r.List[i].subscription(s, fmt.Sprintf("%s.list[%d]", where, i))
		if r.Match != "all" {
			one.Where.Except = slices.Clone(above)
		}
		out, above = append(out, one), append(above, r.List[i].Where)
	}
	if r.Fallback != nil {
		one := r.Fallback.subscription(s, where+".fallback")
		one.Types, one.Where = nil, Where{Except: above}
		out = append(out, one)
	}
	if len(out) == 0 {
		s.routed = true
		out = append(out, *s)
	}
	return out
}

// subscription is the one that r stands for.
func (r *Route) subscription(s *Subscription, at string) Subscription {
	one := *s
	one.at, one.routed = at, true
	one.Name = s.Name + "." + r.Name
	one.Types, one.Where = r.Where.Types, Where{Topics: r.Where.Topics, Headers: r.Where.Headers}
	one.To, one.OnReject = cmp.Or(r.To, s.To), cmp.Or(r.OnReject, s.OnReject)
	one.Format, one.DeadTo = cmp.Or(r.Format, s.Format), cmp.Or(r.DeadTo, s.DeadTo)
	one.Retry, one.Rate = *cmp.Or(r.Retry, &s.Retry), *cmp.Or(r.Rate, &s.Rate)
	one.Timeout, one.Batch = cmp.Or(r.Timeout, s.Timeout), cmp.Or(r.Batch, s.Batch)
	one.InFlight, one.Concurrency = cmp.Or(r.InFlight, s.InFlight), cmp.Or(r.Concurrency, s.Concurrency)
	if r.Headers != nil {
		one.Headers = r.Headers
	}
	return one
}

// check adds every mistake in the routes of s, but for those in policies.
func (r *Routes) check(p *problems, s *Subscription, at string) {
	where := at + ".routes"
	if len(s.Types) > 0 || !s.whereEmpty() {
		p.atf(where, "stands beside types or where; put them into the where of each route")
	}
	switch {
	case len(r.List) == 0:
		p.atf(where, "has no list; name a route with where and to")
	case r.Fallback == nil && !r.NoFallback:
		p.atf(where, "does not say what becomes of messages that no route takes; write fallback: {name: rest, to: DESTINATION}, or no_fallback: true")
	case r.Fallback != nil && r.NoFallback:
		p.atf(where+".no_fallback", "stands beside a fallback; keep one")
	}
	matches := make([]store.Match, len(r.List))
	for i := range r.List {
		matches[i] = r.List[i].Where.Stored()
		r.List[i].check(p, fmt.Sprintf("%s.list[%d]", where, i))
	}
	for i, err := range store.CheckRoutes(matches, r.Match == "all", r.Fallback != nil) {
		if err != nil {
			p.atf(fmt.Sprintf("%s.list[%d]", where, i), "%v", err)
		}
	}
	if r.Fallback != nil {
		r.Fallback.check(p, where+".fallback")
		if m := r.Fallback.Where.Stored(); !m.Empty() {
			p.atf(where+".fallback.where", "is for the routes above it; take it out: a fallback gets what they leave")
		}
	}
	checkFields(p, where, reflect.ValueOf(r).Elem())
}

// check adds what is wrong with one route by itself.
func (r *Route) check(p *problems, where string) {
	if r.Name == "" {
		p.atf(where, "has no name; name it, such as eu")
	}
	checkFields(p, where, reflect.ValueOf(r).Elem())
}

func (s *Subscription) whereEmpty() bool {
	f := s.Filter()
	return f.Where.Empty()
}

// checkWhere adds what is wrong with the filter of s.
func (s *Subscription) checkWhere(p *problems, where string) {
	checkTypes(p, where+".types", s.Types)
	f := s.Filter()
	f.Types = nil
	if err := f.Validate(); err != nil && !(s.routed && s.Routes != nil) { // that of routes is said of each
		p.atf(where+".where", "is wrong: %v", err)
	}
}

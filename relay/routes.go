package relay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/postbag/postbag/store"
)

// Where narrows what a subscription takes beside its Types.
type Where = store.Where

// Match is a set of messages, by type, topic and header.
type Match = store.Match

// Routes divide the messages of a box among several destinations. Each route is a
// subscription of its own, with its own circuit, retries and rate: one whose destination is
// down holds up the keys of its own messages alone. The order of a key holds within a route,
// and not from one route to another.
//
// Subscriptions expands them. Put the result into Options.Subscriptions.
type Routes struct {
	// Box is read. Defaults to "outbox".
	Box string
	// Name begins the names of the subscriptions: Name, a dot, and the name of the route.
	// Required.
	Name string
	// All: a message goes to every route that takes it. Otherwise it goes to the first in
	// the sequence of Routes.
	All bool
	// Routes are the routes, in sequence. At least one.
	Routes []Route
	// Fallback gets what no route takes: its name, destination and policy. It takes no
	// filter of its own. Give either it or NoFallback.
	Fallback *Subscription
	// NoFallback: what no route takes is delivered by none. It is counted, and shown as
	// filtered.
	NoFallback bool
}

// Route is a set of messages, and where they go.
type Route struct {
	// Match is what the route takes. Required: what takes all messages is a Fallback, or
	// with Routes.All a route beside others.
	Match Match
	// Subscription has destination and policy. Its Name is that of the route. Its Box, Types
	// and Where are left out: those of the Routes and Match hold.
	Subscription Subscription
}

// Subscriptions returns the subscriptions that r stands for, one for each route, and the
// fallback last. The error names everything that is wrong with the routes. What is wrong
// with a policy New says.
func (r *Routes) Subscriptions() ([]Subscription, error) {
	errs := r.faults()
	var out []Subscription
	var above []Match
	for i := range r.Routes {
		match := r.Routes[i].Match
		where := Where{Topics: match.Topics, Headers: match.Headers}
		if !r.All {
			where.Except = above
		}
		one, err := r.subscription(&r.Routes[i].Subscription, match.Types, where)
		if err != nil {
			errs = append(errs, fmt.Errorf("route %d: %w", i+1, err))
		}
		out, above = append(out, one), append(slices.Clip(above), match)
	}
	if r.Fallback != nil {
		one, err := r.subscription(r.Fallback, nil, Where{Except: above})
		if err != nil {
			errs = append(errs, fmt.Errorf("the fallback: %w", err))
		}
		out = append(out, one)
	}
	errs = append(errs, sameNames(out)...)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("relay: routes %q: %w", r.Name, err)
	}
	return out, nil
}

// subscription is the one that a route, or the fallback, stands for.
func (r *Routes) subscription(s *Subscription, types []string, where Where) (Subscription, error) {
	one := *s
	one.Box, one.Types, one.Where = r.Box, types, where.Clone()
	one.Name = r.Name + "." + s.Name
	switch {
	case s.Name == "":
		return one, errors.New("it has no Name; name it")
	case len(s.Types) > 0 || !s.Where.Empty():
		return one, errors.New("its Subscription has Types or Where; leave them out, Match of the route says what it takes")
	case cmp.Or(s.Box, r.Box) != r.Box:
		return one, fmt.Errorf("its Box is %s, and that of the routes %q; leave it out", s.Box, r.Box)
	}
	return one, validName(one.ref())
}

// faults says what is wrong with the routes as a whole.
func (r *Routes) faults() []error {
	var errs []error
	switch {
	case r.Name == "":
		errs = append(errs, errors.New("Name is missing; the names of the subscriptions begin with it"))
	case len(r.Routes) == 0:
		errs = append(errs, errors.New("there is no route; give one at least"))
	}
	switch {
	case r.Fallback == nil && !r.NoFallback:
		errs = append(errs, errors.New("nothing says what becomes of messages that no route takes; give a Fallback, or set NoFallback"))
	case r.Fallback != nil && r.NoFallback:
		errs = append(errs, errors.New("there is a Fallback, and NoFallback is set; choose one"))
	}
	matches := make([]Match, len(r.Routes))
	for i := range r.Routes {
		matches[i] = r.Routes[i].Match
	}
	for i, err := range store.CheckRoutes(matches, r.All, r.Fallback != nil) {
		if err != nil {
			errs = append(errs, fmt.Errorf("route %d %w", i+1, err))
		}
	}
	return errs
}

// sameNames finds subscriptions that have one name.
func sameNames(all []Subscription) (errs []error) {
	seen := map[string]bool{}
	for i := range all {
		if seen[all[i].Name] {
			errs = append(errs, fmt.Errorf("two routes are named %q; give each a name of its own", all[i].Name))
		}
		seen[all[i].Name] = true
	}
	return errs
}

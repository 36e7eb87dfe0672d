package config

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/duration"
)

// check fills in the defaults that are words and adds every mistake.
func (s *Subscription) check(p *problems, where string, f *File) {
	if s.Name == "" {
		s.Name = "default"
	}
	if s.Box == "" {
		s.Box = "outbox"
	}
	if err := postbag.ValidBox(s.Box); err != nil {
		p.atf(where+".box", "is wrong: %v", err)
	}
	if err := postbag.ValidSubscription(s.Name); err != nil {
		p.atf(where+".name", "is wrong: %v", err)
	}
	named(p, where+".store", &s.Store, f.Stores, "stores")
	named(p, where+".to", &s.To, f.Destinations, "destinations")
	if to, known := f.Destinations[s.To]; known && s.ExactlyOnce && !to.hasTransactions() {
		p.atf(where+".exactly_once", "needs a destination with transactions, which kafka has; write transactions: {} in its settings, or leave this out")
	}
	s.Format.check(p, where+".format")
	if s.From != "" && s.From != "first" && s.From != "now" {
		if _, err := s.Begins(time.Now()); err != nil {
			p.atf(where+".from", "is neither first nor now nor a time; write a time as 2026-01-31T12:00:00Z, or how long ago as 3d")
		}
	}
	for i, t := range s.Types {
		if t == "" || len(t) > postbag.MaxName || strings.Contains(strings.TrimSuffix(t, ".*"), "*") {
			p.atf(where+".types", "entry %d is no type; write it out, or a prefix and .*, such as order.*", i+1)
		}
	}
	checkFields(p, where, reflect.ValueOf(s).Elem())
	s.Retry.check(p, where+".retry")
}

// named checks the name of a component and defaults to the only one.
func named[C any](p *problems, where string, name *string, components map[string]C, what string) {
	_, known := components[*name]
	switch {
	case known:
	case len(components) == 0 && (*name == "" || what == "destinations"): // that is said elsewhere
	case len(components) == 0:
		p.atf(where, "names a store, but there are no %s; take it out", what)
	case *name == "" && len(components) == 1:
		for only := range components {
			*name = only
		}
	default:
		p.atf(where, "names none of the %s; write one of %s", what, strings.Join(slices.Sorted(maps.Keys(components)), ", "))
	}
}

// Begins returns the time that From says, which is neither first nor now: a time, or a span before now.
func (s *Subscription) Begins(now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, s.From); err == nil {
		return at, nil
	}
	span, err := duration.Parse(s.From)
	if err != nil {
		return time.Time{}, err
	}
	if span <= 0 {
		return time.Time{}, errors.New("config: a time to come is no beginning")
	}
	return now.Add(-span), nil
}

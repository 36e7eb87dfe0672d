package config

import (
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
)

// check fills in the defaults that are words and adds every mistake.
func (s *Subscription) check(p *problems, where string, destinations map[string]Destination) {
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
	s.checkTo(p, where, destinations)
	if s.From != "" && s.From != "first" && s.From != "now" {
		if _, err := time.Parse(time.RFC3339, s.From); err != nil {
			p.atf(where+".from", "is neither first nor now nor a time; write a time as 2026-01-31T12:00:00Z")
		}
	}
	for i, t := range s.Types {
		if t == "" || len(t) > postbag.MaxName || strings.Contains(strings.TrimSuffix(t, ".*"), "*") {
			p.atf(where+".types", "entry %d is no type; write it out, or a prefix and .*, such as order.*", i+1)
		}
	}
	oneOf(p, where+".order", &s.Order, "key", "shard", "none")
	oneOf(p, where+".on_reject", &s.OnReject, "block", "skip")
	between(p, where+".timeout", s.Timeout, time.Millisecond, time.Hour)
	upTo(p, where+".shards", s.Shards, 4096)
	upTo(p, where+".batch", s.Batch, 100_000)
	upTo(p, where+".retry_batch", s.RetryBatch, 100_000)
	upTo(p, where+".in_flight", s.InFlight, 1_000_000)
	upTo(p, where+".concurrency", s.Concurrency, 10_000)
	s.Retry.check(p, where+".retry")
}

func (s *Subscription) checkTo(p *problems, where string, destinations map[string]Destination) {
	_, known := destinations[s.To]
	switch {
	case known || len(destinations) == 0:
	case s.To == "" && len(destinations) == 1:
		for name := range destinations {
			s.To = name
		}
	default:
		names := make([]string, 0, len(destinations))
		for name := range destinations {
			names = append(names, name)
		}
		slices.Sort(names)
		p.atf(where+".to", "names none of the destinations; write one of %s", strings.Join(names, ", "))
	}
}

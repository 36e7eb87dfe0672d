package relay_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

func TestARateThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for expected, r := range map[string]relay.Rate{
		"Rate.Messages is -1; choose between 0 (no limit) and 1e+09":           {Messages: -1},
		"Rate.Messages is NaN; choose":                                         {Messages: math.NaN()},
		"Rate.Bytes is +Inf; choose between 0 (no limit) and 1e+12":            {Bytes: math.Inf(1)},
		"Rate.Burst is -1; choose between 0 (the messages of a second)":        {Messages: 1, Burst: -1},
		"Rate.BurstBytes is -1; choose between 0 (the bytes of a second)":      {Bytes: 1, BurstBytes: -1},
		"Rate.Burst bounds nothing without Rate.Messages; set both, or none":   {Bytes: 1, Burst: 1},
		"Rate.BurstBytes bounds nothing without Rate.Bytes; set both, or none": {Messages: 1, BurstBytes: 1},
		"Rate.Shared shares nothing; set Rate.Messages or Rate.Bytes":          {Shared: true},
	} {
		s := relay.Subscription{To: membroker.Null(), Rate: r}
		_, err := relay.New(memstore.New(memstore.Options{}), relay.Options{Subscriptions: []relay.Subscription{s}})
		if err == nil || !strings.Contains(err.Error(), expected) {
			t.Errorf("the error is %v, want one with %q", err, expected)
		}
	}
}

// rated runs so many relays with a rate for a time, and returns them.
func (w *world) rated(rate relay.Rate, relays int, long time.Duration) (all []*relay.Relay, stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, relays)
	for range relays {
		r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{Rate: rate}}})
		all = append(all, r)
		go func() { ended <- r.Run(ctx) }()
	}
	<-time.After(long)
	return all, func() {
		cancel()
		for range relays {
			if err := <-ended; err != nil {
				w.t.Error(err)
			}
		}
	}
}

func TestARelaySendsAtItsRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		w.publish(190, 50)
		all, stop := w.rated(relay.Rate{Messages: 20, Burst: 5}, 1, 5*time.Second)
		defer stop()
		if n := w.to.Len(); n < 98 || n > 105 {
			t.Errorf("%d messages were sent in 5 s, at 20 in a second and a burst of 5", n)
		}
		s := all[0].Stats()
		if f := s.Subscriptions[0]; f.Throttled < 4500*time.Millisecond || f.Throttled > 5*time.Second || f.Unsent > 40 {
			t.Errorf("messages were held back for %v, and %d were read ahead", f.Throttled, f.Unsent)
		}
		if s.Turns > 5*40 {
			t.Errorf("the relay made %d turns in 5 s", s.Turns)
		}
		<-time.After(5 * time.Second)
		w.inOrder()
	})
}

func TestRelaysShareARate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shared bool
		least  int
		most   int
	}{
		"shared":                 {true, 500, 610},
		"each has it for itself": {false, 1000, 1220},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, memstore.Options{}, membroker.Options{})
				w.publish(3000, 200)
				_, stop := w.rated(relay.Rate{Messages: 20, Burst: 5, Shared: c.shared}, 2, 30*time.Second)
				defer stop()
				if n := w.to.Len(); n < c.least || n > c.most {
					t.Errorf("%d messages were sent in 30 s by two relays, at 20 in a second", n)
				}
			})
		})
	}
}

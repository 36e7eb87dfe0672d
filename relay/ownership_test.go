package relay_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// watched is a store whose calls are seen before they are made.
type watched struct {
	*memstore.Store
	onTurn func(store.Turn)
	onBeat func(store.Beat)
	onView func(*store.View)
	onLoad func(store.Lease)

	mu     sync.Mutex
	slowly bool // the first shard's blocked keys come late
}

func (s *watched) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	if s.onTurn != nil {
		s.onTurn(t)
	}
	return s.Store.Turn(ctx, t)
}

func (s *watched) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	if s.onBeat != nil {
		s.onBeat(b)
	}
	v, err := s.Store.Beat(ctx, b)
	if s.onView != nil && err == nil {
		s.onView(&v)
	}
	return v, err
}

func (s *watched) Blocked(ctx context.Context, l store.Lease) (store.Blocks, error) {
	if s.onLoad != nil {
		s.onLoad(l)
	}
	s.mu.Lock()
	late := s.slowly && l.Lo == 0
	s.mu.Unlock()
	if late {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return s.Store.Blocked(ctx, l)
}

func (w *world) relayOver(s store.Store, o relay.Options) *relay.Relay {
	w.t.Helper()
	if o.Subscriptions == nil {
		o.Subscriptions = []relay.Subscription{{}}
	}
	for i := range o.Subscriptions {
		o.Subscriptions[i].To = w.to
	}
	o.Logger = slog.New(slog.DiscardHandler)
	r, err := relay.New(s, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func TestShardsTakenTogetherShareTheirReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.publish(5000, 50)
	var mu sync.Mutex
	reads, partial := 0, 0
	s := &watched{Store: w.store, slowly: true, onTurn: func(turn store.Turn) {
		mu.Lock()
		defer mu.Unlock()
		for _, q := range turn.Read {
			if q.Limit == 0 {
				continue
			}
			slots := 0
			for _, r := range q.Slots {
				slots += r.Hi - r.Lo
			}
			reads++
			if slots < store.SlotCount {
				partial++
			}
		}
	}}
	w.run(w.relayOver(s, relay.Options{}))
	w.delivered(5000)
	w.inOrder()
	mu.Lock()
	defer mu.Unlock()
	if reads == 0 || partial > 0 {
		t.Errorf("%d of %d reads asked for a part of the shards", partial, reads)
	}
}

func TestARelayWithTooManyShardsGivesThemBackAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	const ttl = time.Minute // the next heartbeat that is due by itself is 20 s away
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	var once sync.Once
	s := &watched{Store: w.store, slowly: true}
	s.onBeat = func(b store.Beat) {
		if len(b.Take) == 0 {
			return
		}
		once.Do(func() { // another relay comes while this one takes all there is
			if _, err := s.Store.Beat(t.Context(), store.Beat{Relay: "other", New: true, TTL: ttl, Works: []store.Ref{ref}}); err != nil {
				t.Error(err)
			}
		})
	}
	w.run(w.relayOver(s, relay.Options{TTL: ttl}))
	begun := time.Now()
	w.eventually("the other relay can have its half", func() bool {
		v, err := w.store.Beat(t.Context(), store.Beat{Relay: "other", TTL: ttl, Works: []store.Ref{ref}})
		if err != nil {
			t.Fatal(err)
		}
		free := 0
		for _, sub := range v.Subscriptions {
			for _, sh := range sub.Shards {
				if sub.Ref == ref && sh.Owner == "" && len(v.Relays) == 2 {
					free++
				}
			}
		}
		return free == 2
	})
	if d := time.Since(begun); d > 10*time.Second {
		t.Errorf("it took %v: nothing but the periodic heartbeat gave them back", d)
	}
}

// A store that was set back to when a relay had the same lease refuses its settlement
// and says that the shard is still the relay's. The relay went on with it, and what was
// in flight there by then was never sent again.
func TestMessagesInFlightInARestoredStoreAreSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	var once sync.Once
	s := &watched{Store: w.store}
	s.onTurn = func(turn store.Turn) {
		for i := range turn.Settle {
			then := turn.Settle[i]
			if then.To == "" {
				continue
			}
			once.Do(func() { // what the relay had done under this lease, and does not know any more
				then.Tally = nil
				then.Park = []store.Park{{Seq: 1, Slot: then.Slots.Lo, State: store.ParkInFlight}}
				for range 2 {
					if _, err := s.Store.Turn(t.Context(), store.Turn{Settle: []store.Settlement{then}}); err != nil {
						t.Error(err)
					}
					then.Park, then.To = nil, ""
					then.Version++
				}
			})
		}
	}
	w.publish(1, 1)
	w.run(w.relayOver(s, relay.Options{}))
	w.eventually("it is sent again", func() bool { return w.to.Len() == 2 })
	w.eventually("nothing is parked", func() bool { return len(w.overview().Parked) == 0 })
}

// A store that was set back under a relay which gathered all shards for a reshape
// refused the reshape, for their versions; the relay, with nothing else to settle,
// asked again and again.
func TestARelayNoticesThatARestoredStoreSetItsShardsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	var mu sync.Mutex
	given := map[store.Lease]bool{} // to be
	s := &watched{Store: w.store}
	gave := make(chan struct{})
	s.onBeat = func(b store.Beat) {
		mu.Lock()
		defer mu.Unlock()
		for _, l := range b.Give {
			l.Version = 0
			if given[l] {
				close(gave)
				clear(given)
			}
		}
	}
	set := false
	s.onView = func(v *store.View) {
		mu.Lock()
		defer mu.Unlock()
		for i := range v.Subscriptions {
			for k := range v.Subscriptions[i].Shards {
				if sh := &v.Subscriptions[i].Shards[k]; !set && sh.Owner != "" && sh.Version > 1 {
					set = true
					sh.Version--
					l := sh.Lease
					l.Version = 0
					given[l] = true
				}
			}
		}
	}
	w.run(w.relayOver(s, relay.Options{TTL: 3 * time.Second}))
	w.publish(100, 100)
	w.delivered(100)
	w.await(gave, "the shard is given back")
	w.publish(100, 100)
	w.delivered(200)
	w.settled()
}

// A shard that was replaced while its blocked keys were read, by a store that was set
// back, came late, and took the slots of those in its place with it when it was lost.
func TestAShardLoadedTooLateTakesNoSlotsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.publish(10, 10)
	hidden, release := make(chan struct{}), make(chan struct{})
	var first, seen sync.Once
	var mu sync.Mutex
	var late store.Lease
	var used bool // a settlement under the late lease
	s := &watched{Store: w.store}
	s.onLoad = func(l store.Lease) {
		wait := false
		first.Do(func() {
			wait = true
			mu.Lock()
			late = l
			mu.Unlock()
		})
		if wait {
			<-release
		}
	}
	s.onView = func(v *store.View) { // the shard is another's while it is loaded
		mu.Lock()
		defer mu.Unlock()
		for i := range v.Subscriptions {
			for k := range v.Subscriptions[i].Shards {
				if sh := &v.Subscriptions[i].Shards[k]; late.Token != 0 && sh.Token == late.Token {
					sh.Owner, sh.Token = "another", sh.Token+1000
					seen.Do(func() { close(hidden) })
				}
			}
		}
	}
	s.onTurn = func(turn store.Turn) {
		mu.Lock()
		defer mu.Unlock()
		for i := range turn.Settle {
			used = used || late.Token != 0 && turn.Settle[i].Token == late.Token
		}
	}
	w.run(w.relayOver(s, relay.Options{TTL: 3 * time.Second}))
	w.await(hidden, "a heartbeat says that the shard is gone")
	close(release)
	w.eventually("the others are settled", func() bool { return w.overview().Delivered > 0 })
	mu.Lock()
	defer mu.Unlock()
	if used {
		t.Error("the relay settles under a lease that it had lost before it came")
	}
}

package survival

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/store"

	"github.com/postbag/postbag/proof/internal/daemon"
)

// The number of shards of a live subscription is changed again and again.
func TestSplittingAndMergingShardsUnderLoadLosesNothing(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	ws := &writers{w: w, count: 8, keys: 50}
	relays := []*daemon.Process{w.start("a", relayConfig{}), w.start("b", relayConfig{})}
	finish := ws.meanwhile(t.Context())
	for _, r := range relays {
		r.Ready()
	}
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	counts := []int{16, 1, 7}
	if full() {
		counts = append(counts, 256, 2, 64, 3, 1, 128, 4)
	}
	for _, n := range counts {
		pause(time.Second)
		if err := w.store.SetShards(t.Context(), store.Audit{Who: "test", Why: "another size"}, ref, n); err != nil {
			t.Fatal(err)
		}
		w.eventually(30*time.Second, fmt.Sprintf("%d shards, each with an owner", n), func() bool { return w.owned(ref, n) })
	}
	finish()
	w.expectOnce(ws, time.Minute)
	for _, r := range relays {
		r.Stop()
	}
}

// owned says whether the subscription has n shards, each with an owner.
func (w *world) owned(ref store.Ref, n int) bool {
	o, err := w.store.Overview(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, b := range o.Boxes {
		for _, s := range b.Subscriptions {
			if s.Ref == ref {
				return len(s.Shards) == n && !slices.ContainsFunc(s.Shards, func(sh store.ShardState) bool { return sh.Owner == "" })
			}
		}
	}
	return false
}

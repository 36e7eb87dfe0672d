package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/postbag/postbag/internal/engine"
)

// town is relays that share the shards of a subscription.
type town struct {
	relays []string
	shards []engine.Holding
	gather bool
	moves  int
}

func newTown(relays, shards int) *town {
	t := &town{}
	for i := range relays {
		t.relays = append(t.relays, fmt.Sprintf("relay-%d", i))
	}
	for i := range shards {
		t.shards = append(t.shards, engine.Holding{Lo: i * 4096 / shards, Hi: (i + 1) * 4096 / shards})
	}
	return t
}

// view is what a relay sees: the town as it is now, or as it was.
func (t *town) view() []engine.Holding { return slices.Clone(t.shards) }

// beat has relay me plan over view and carries the plan out as a store would.
func (t *town) beat(me string, view []engine.Holding) bool {
	take, give := engine.Plan(me, t.relays, "outbox/default", view, t.gather)
	changed := false
	for i := range t.shards {
		s := &t.shards[i]
		if slices.Contains(give, s.Lo) && s.Owner == me {
			s.Owner, changed = "", true
		}
	}
	for i := range t.shards {
		s := &t.shards[i]
		if slices.Contains(take, s.Lo) && s.Owner == "" {
			s.Owner, changed = me, true
			t.moves++
		}
	}
	return changed
}

func (t *town) counts() map[string]int {
	n := map[string]int{}
	for _, s := range t.shards {
		n[s.Owner]++
	}
	return n
}

// die frees what a relay holds.
func (t *town) die(relay string) {
	for i := range t.shards {
		if t.shards[i].Owner == relay {
			t.shards[i].Owner = ""
		}
	}
	t.relays = slices.DeleteFunc(t.relays, func(r string) bool { return r == relay })
}

// rest lets the relays beat in any order, with fresh views, until none wants a
// change, and returns how many rounds that took.
func (t *town) rest(tb testing.TB, rng *rand.Rand) int {
	tb.Helper()
	for round := range 50 {
		changed := false
		for _, i := range rng.Perm(len(t.relays)) {
			changed = t.beat(t.relays[i], t.view()) || changed
		}
		if !changed {
			return round
		}
	}
	tb.Fatalf("no rest after 50 rounds: %v", t.counts())
	return 0
}

func (t *town) mustBeBalanced(tb testing.TB) {
	tb.Helper()
	n := t.counts()
	if n[""] > 0 {
		tb.Fatalf("%d shards are nobody's: %v", n[""], n)
	}
	least, most := len(t.shards)/len(t.relays), (len(t.shards)+len(t.relays)-1)/len(t.relays)
	for _, r := range t.relays {
		if n[r] < least || n[r] > most {
			tb.Fatalf("%s holds %d of %d shards among %d relays, not %d to %d", r, n[r], len(t.shards), len(t.relays), least, most)
		}
	}
}

func TestOneRelayTakesAllShards(t *testing.T) {
	t.Parallel()
	town := newTown(1, 4)
	take, give := engine.Plan("relay-0", town.relays, "outbox/default", town.shards, false)
	if len(take) != 4 || len(give) != 0 {
		t.Fatalf("take %v, give %v", take, give)
	}
}

func TestARelayThatCannotWorkTheSubscriptionGivesEverythingBack(t *testing.T) {
	t.Parallel()
	town := newTown(2, 4)
	for i := range town.shards {
		town.shards[i].Owner = "other"
	}
	take, give := engine.Plan("other", town.relays, "outbox/default", town.shards, false)
	if len(take) != 0 || len(give) != 4 {
		t.Fatalf("take %v, give %v", take, give)
	}
}

func TestAShardOfALiveRelayIsNeverTaken(t *testing.T) {
	t.Parallel()
	town := newTown(2, 4)
	for i := range town.shards {
		town.shards[i].Owner = "relay-0"
	}
	take, give := engine.Plan("relay-1", town.relays, "outbox/default", town.shards, false)
	if len(take) != 0 || len(give) != 0 {
		t.Fatalf("take %v, give %v", take, give)
	}
}

func TestNoShardsAndNoRelaysNeedNoPlan(t *testing.T) {
	t.Parallel()
	for _, relays := range [][]string{nil, {"a"}, {"a", "b"}} {
		take, give := engine.Plan("a", relays, "outbox/default", nil, false)
		if len(take)+len(give) != 0 {
			t.Fatalf("%v: take %v, give %v", relays, take, give)
		}
	}
}

func TestRelaysTakeFreeShardsInDifferentOrders(t *testing.T) {
	t.Parallel()
	town := newTown(4, 64)
	wanted := map[int]int{}
	for _, r := range town.relays {
		take, _ := engine.Plan(r, town.relays, "outbox/default", town.shards, false)
		if len(take) != 16 {
			t.Fatalf("%s takes %d", r, len(take))
		}
		for _, lo := range take {
			wanted[lo]++
		}
	}
	if len(wanted) < 36 { // by chance 64 × (1 − 0.75⁴) = 43.75
		t.Fatalf("four relays with 16 wishes each want only %d different shards", len(wanted))
	}
}

func TestTheRemainderOfDifferentSubscriptionsGoesToDifferentRelays(t *testing.T) {
	t.Parallel()
	town := newTown(4, 1)
	winners := map[string]int{}
	for i := range 200 {
		for _, r := range town.relays {
			if take, _ := engine.Plan(r, town.relays, fmt.Sprintf("outbox/s%d", i), town.shards, false); len(take) > 0 {
				winners[r]++
			}
		}
	}
	total := 0
	for _, r := range town.relays {
		total += winners[r]
		if winners[r] < 25 || winners[r] > 80 {
			t.Errorf("%s would hold %d of 200", r, winners[r])
		}
	}
	if total != 200 {
		t.Errorf("%d winners for 200 subscriptions", total)
	}
}

func TestRelaysComeToRestInBalance(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		town := newTown(1+rng.IntN(7), 1+rng.IntN(40))
		for i := range town.shards { // any beginning
			if k := rng.IntN(len(town.relays) + 1); k < len(town.relays) {
				town.shards[i].Owner = town.relays[k]
			}
		}
		if rounds := town.rest(t, rng); rounds > 3 {
			t.Fatalf("seed %d: %d rounds to rest", seed, rounds)
		}
		town.mustBeBalanced(t)
	}
}

func TestRelaysWithOldViewsComeToRestInBalance(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		town := newTown(1+rng.IntN(6), 1+rng.IntN(30))
		views := map[string][]engine.Holding{}
		for range 20 * len(town.relays) {
			me := town.relays[rng.IntN(len(town.relays))]
			if view := views[me]; view != nil {
				town.beat(me, view) // planned on what its last beat showed
			}
			views[me] = town.view()
		}
		for _, r := range town.relays { // what was planned before still happens once
			town.beat(r, views[r])
		}
		town.rest(t, rng)
		town.mustBeBalanced(t)
	}
}

func TestAShardMovesOnlyWhenItMust(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		town := newTown(2+rng.IntN(6), 1+rng.IntN(40))
		town.rest(t, rng)
		before := town.counts()

		joined := "newcomer"
		town.relays, town.moves = append(town.relays, joined), 0
		town.rest(t, rng)
		town.mustBeBalanced(t)
		if got := town.counts()[joined]; town.moves != got {
			t.Fatalf("seed %d: %d moves to give a newcomer %d shards", seed, town.moves, got)
		}

		dead := town.relays[0]
		free := town.counts()[dead]
		town.die(dead)
		town.moves = 0
		town.rest(t, rng)
		town.mustBeBalanced(t)
		if town.moves != free {
			t.Fatalf("seed %d: %d moves to replace a relay with %d shards (%v)", seed, town.moves, free, before)
		}
	}
}

func TestGatheredShardsEndWithTheRelayThatHeldTheMost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		town := newTown(1+rng.IntN(6), 1+rng.IntN(20))
		town.rest(t, rng)
		most, want := 0, map[string]bool{}
		for _, r := range town.relays {
			most = max(most, town.counts()[r])
		}
		for _, r := range town.relays {
			want[r] = town.counts()[r] == most
		}
		town.gather = true
		town.rest(t, rng)
		for r, n := range town.counts() {
			if n != len(town.shards) || !want[r] {
				t.Fatalf("seed %d: gathered as %v", seed, town.counts())
			}
		}
		town.relays = append(town.relays, "newcomer")
		town.moves = 0
		town.rest(t, rng)
		if town.moves != 0 {
			t.Fatalf("seed %d: a newcomer moved %d gathered shards", seed, town.moves)
		}
		town.gather = false
		town.rest(t, rng)
		town.mustBeBalanced(t)
	}
}

func TestScoresStayTheSameAcrossVersions(t *testing.T) {
	t.Parallel()
	// Relays of two versions must see the same, or they never come to rest.
	equal(t, "of a relay", engine.Score("relay-1", "outbox/default", -1), uint64(11571573460315279181))
	equal(t, "of a shard", engine.Score("relay-1", "outbox/default", 1024), uint64(14525394664443958323))
}

func TestARelayPredictsThePlanOfAnother(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		relays := make([]string, 1+chance.IntN(6))
		for i := range relays {
			relays[i] = string(rune('a' + i))
		}
		shards := make([]engine.Holding, 1+chance.IntN(9))
		for i := range shards {
			shards[i] = engine.Holding{Lo: i, Hi: i + 1}
			if chance.IntN(3) > 0 {
				shards[i].Owner = string(rune('a' + chance.IntN(7)))
			}
		}
		gather := chance.IntN(4) == 0
		want := false
		for _, other := range relays[1:] {
			_, gifts := engine.Plan(other, relays, "s", shards, gather)
			want = want || len(gifts) > 0
		}
		_, _, expect := engine.Share("a", relays, "s", shards, gather)
		equal(t, fmt.Sprint(relays, shards, gather), expect, want)
	}
}

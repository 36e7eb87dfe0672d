package store_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

func TestTheSlotComesFromShardKeyThenKeyThenID(t *testing.T) {
	t.Parallel()
	id := postbag.ID{1, 2, 3}
	ofID := func(id postbag.ID) int {
		sum := sha256.Sum256(id[:])
		return int(binary.BigEndian.Uint16(sum[:2]) >> 4)
	}
	for _, c := range []struct {
		name string
		m    postbag.Message
		want int
	}{
		{"a key", postbag.Message{Key: "k"}, 2085}, // the first three hex digits of SHA-256 of "k" are 825
		{"a key beside an id", postbag.Message{Key: "k", ID: id}, 2085},
		{"a shard key beside another key", postbag.Message{Key: "other", ShardKey: "k"}, 2085},
		{"a key in place of an empty shard key", postbag.Message{Key: "k", ShardKey: ""}, 2085},
		{"no key", postbag.Message{ID: id}, ofID(id)},
		{"neither key nor id", postbag.Message{}, ofID(postbag.ID{})},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := store.SlotOf(&c.m); got != c.want {
				t.Errorf("slot %d, not %d", got, c.want)
			}
		})
	}
}

func TestEverySlotIsUsedByRandomKeys(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for i := range 100_000 {
		slot := store.SlotOf(&postbag.Message{Key: fmt.Sprint(i)})
		if !store.AllSlots.Contains(slot) {
			t.Fatalf("key %d is in slot %d", i, slot)
		}
		seen[slot] = true
	}
	if len(seen) != store.SlotCount {
		t.Errorf("100,000 keys lie in %d slots of %d", len(seen), store.SlotCount)
	}
}

func TestSplitCutsAllSlotsIntoEvenRanges(t *testing.T) {
	t.Parallel()
	for n := -1; n <= store.SlotCount+1; n++ {
		parts := store.Split(n)
		if want := min(max(n, 1), store.SlotCount); len(parts) != want {
			t.Fatalf("split into %d: %d ranges, not %d", n, len(parts), want)
		}
		next, least, most := 0, store.SlotCount, 0
		for _, p := range parts {
			if p.Lo != next || p.Hi <= p.Lo {
				t.Fatalf("split into %d: range %s does not begin at %d", n, p, next)
			}
			next = p.Hi
			least, most = min(least, p.Hi-p.Lo), max(most, p.Hi-p.Lo)
		}
		if next != store.SlotCount || most-least > 1 {
			t.Fatalf("split into %d: it ends at %d, with ranges of %d to %d", n, next, least, most)
		}
	}
}

func TestRangesHoldTheirLowestSlotAndNotTheirEnd(t *testing.T) {
	t.Parallel()
	r := store.Slots{Lo: 10, Hi: 20}
	for slot, want := range map[int]bool{9: false, 10: true, 19: true, 20: false} {
		if r.Contains(slot) != want {
			t.Errorf("%s holds slot %d: %v", r, slot, !want)
		}
	}
}

func TestKeyHashesAreStable(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("k"))
	if got, want := store.KeyHash("k"), binary.BigEndian.Uint64(sum[:8]); got != want {
		t.Errorf("the hash of k is %x, not %x", got, want)
	}
	if got := store.KeyHash(""); got != 0 {
		t.Errorf("the hash of no key is %x; it must be zero, which blocks nothing", got)
	}
	seen := map[uint64]bool{0: true}
	for i := range 10_000 {
		h := store.KeyHash(fmt.Sprint(i))
		if seen[h] {
			t.Fatalf("the hash of key %d is another's, or zero", i)
		}
		seen[h] = true
	}
}

func TestStringFormsOfRefsSlotsAndStates(t *testing.T) {
	t.Parallel()
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	for want, got := range map[string]fmt.Stringer{
		"outbox/default":            ref,
		"0-4095":                    store.AllSlots,
		"outbox/default[1024-2047]": store.Shard{Ref: ref, Slots: store.Split(4)[1]},
		"retrying":                  store.ParkRetrying,
		"blocked":                   store.ParkBlocked,
		"in-flight":                 store.ParkInFlight,
		"dead":                      store.ParkDead,
		"unknown":                   store.ParkState(0),
	} {
		if got.String() != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if s := store.ParkState(99).String(); s != "unknown" {
		t.Errorf("a state that there is not is called %q", s)
	}
}

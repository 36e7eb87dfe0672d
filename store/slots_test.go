package store_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

func TestASlotByNumberIsTheNumberModulo4096(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]int{
		"0": 0, "1": 1, "4095": 4095, "4096": 0, "4097": 1, "10000": 1808, "1234567890": 722,
		"-0": 0, "-1": 4095, "-4096": 0, "-4097": 4095, "007": 7, "-007": 4089, "00000000000000000000000000000000005": 5,
		"9223372036854775807": 4095, "-9223372036854775808": 0, "18446744073709551615": 4095,
		"100000000000000000000000000000000000000017": 17,
	} {
		if got, ok := store.NumberSlot(key); !ok || got != want {
			t.Errorf("%s is in slot %d, %v; want %d", key, got, ok, want)
		}
	}
	for range 500 {
		var b strings.Builder
		if rand.IntN(2) == 0 {
			b.WriteByte('-')
		}
		for range 1 + rand.IntN(40) {
			b.WriteByte(byte('0' + rand.IntN(10)))
		}
		n, _ := new(big.Int).SetString(b.String(), 10)
		want := int(new(big.Int).Mod(n, big.NewInt(store.SlotCount)).Int64())
		if got, ok := store.NumberSlot(b.String()); !ok || got != want {
			t.Errorf("%s is in slot %d, %v; want %d", b.String(), got, ok, want)
		}
	}
}

func TestAKeyThatIsNoNumberHasNoSlotByNumber(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "-", "--1", "+1", " 1", "1 ", "1\n", "1.0", "1e3", "0x10", "1_000", "1,000", "a", "1a", "a1", "٣", "−1", "\x001"} {
		if slot, ok := store.NumberSlot(key); ok {
			t.Errorf("%q is in slot %d", key, slot)
		}
	}
}

func TestARuleForSlotsLooksAtTheShardKeyFirst(t *testing.T) {
	t.Parallel()
	id := postbag.NewID()
	for _, c := range []struct {
		by   store.SlotRule
		m    postbag.Message
		want int
		ok   bool
	}{
		{store.SlotsByNumber, postbag.Message{Key: "8"}, 8, true},
		{store.SlotsByNumber, postbag.Message{Key: "8", ShardKey: "9"}, 9, true},
		{store.SlotsByNumber, postbag.Message{Key: "customer", ShardKey: "9"}, 9, true},
		{store.SlotsByNumber, postbag.Message{Key: "8", ShardKey: "customer"}, 0, false},
		{store.SlotsByNumber, postbag.Message{Key: "customer"}, 0, false},
		{store.SlotsByNumber, postbag.Message{ID: id}, store.SlotOf(&postbag.Message{ID: id}), true},
		{store.SlotsByHash, postbag.Message{Key: "8"}, store.SlotOf(&postbag.Message{Key: "8"}), true},
		{"", postbag.Message{Key: "8"}, store.SlotOf(&postbag.Message{Key: "8"}), true},
	} {
		if got, ok := c.by.SlotOf(&c.m); got != c.want || ok != c.ok {
			t.Errorf("by %q, key %q and shard key %q: slot %d, %v; want %d, %v", c.by, c.m.Key, c.m.ShardKey, got, ok, c.want, c.ok)
		}
		if err := c.by.Check(&c.m); (err == nil) != c.ok || err != nil && !errors.Is(err, store.ErrNoNumber) {
			t.Errorf("by %q, key %q and shard key %q: %v", c.by, c.m.Key, c.m.ShardKey, err)
		}
	}
}

func TestARuleForSlotsIsHashOrNumber(t *testing.T) {
	t.Parallel()
	for _, by := range []store.SlotRule{"", store.SlotsByHash, store.SlotsByNumber} {
		if err := by.Validate(); err != nil {
			t.Errorf("%q: %v", by, err)
		}
	}
	for _, by := range []store.SlotRule{"Number", "custom", "1"} {
		if err := by.Validate(); err == nil || !strings.Contains(err.Error(), "say hash or number") {
			t.Errorf("%q: %v", by, err)
		}
	}
}

package storekit_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

func TestAnErasedMessageKeepsItsSlotAndShowsNoShardKey(t *testing.T) {
	t.Parallel()
	id := make([]byte, 16)
	for slot := range store.SlotCount {
		key := storekit.ErasedShardKey(store.SlotsByNumber, id, "", slotKey(slot))
		if key == "" {
			continue // its id keeps it there
		}
		if got, ok := store.NumberSlot(key); !ok || got != slot || storekit.ShownShardKey(key) != "" {
			t.Fatalf("in slot %d the shard key of an erased message is %q, of slot %d, and shows as %q", slot, key, got, storekit.ShownShardKey(key))
		}
	}
}

// slotKey returns a number of a slot.
func slotKey(slot int) string { return "4096" + strings.Repeat("0", 12) + strconv.Itoa(slot) }

func TestRealShardKeysShow(t *testing.T) {
	t.Parallel()
	for _, key := range []string{strings.Repeat("0", 64), strings.Repeat("0", 60), strings.Repeat("0", 60) + "1234", "-0", "-1", "-007"} {
		if got := storekit.ShownShardKey(key); got != key {
			t.Errorf("the shard key %q shows as %q", key, got)
		}
	}
}

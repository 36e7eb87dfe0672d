package storekit

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"

	"github.com/postbag/postbag/store"
)

// Place returns the slot of a message in a box with a rule for slots, and the hash of its
// key. It is SlotRule.SlotOf and store.KeyHash, and computes only one SHA-256 if the key
// decides both. A row by number whose key is no number, which its table refuses, is placed
// by hash.
func Place(by store.SlotRule, id []byte, key, shardKey string) (slot int, hash uint64) {
	slot, hash = placeByHash(id, key, shardKey)
	if by == store.SlotsByNumber {
		if n, ok := store.NumberSlot(cmp.Or(shardKey, key)); ok {
			slot = n
		}
	}
	return slot, hash
}

func placeByHash(id []byte, key, shardKey string) (slot int, hash uint64) {
	if key != "" {
		sum := sha256.Sum256([]byte(key))
		slot, hash = slotOfSum(&sum), max(binary.BigEndian.Uint64(sum[:8]), 1)
	}
	switch {
	case shardKey != "" && shardKey != key:
		sum := sha256.Sum256([]byte(shardKey))
		slot = slotOfSum(&sum)
	case key == "":
		sum := sha256.Sum256(id)
		slot = slotOfSum(&sum)
	}
	return slot, hash
}

func slotOfSum(sum *[32]byte) int { return int(sum[0])<<4 | int(sum[1])>>4 }

// HoldsAll says whether leases are exactly shards, and all of them belong to the relay and
// are at one position. A reshape needs that.
func HoldsAll(relay string, shards []store.ShardState, leases []store.Lease) bool {
	if len(shards) == 0 || len(shards) != len(leases) {
		return false
	}
	held := make(map[store.Lease]bool, len(leases))
	for _, l := range leases {
		held[l] = true
	}
	for _, h := range shards {
		if !held[h.Lease] || h.Owner != relay || h.Position != shards[0].Position {
			return false
		}
	}
	return true
}

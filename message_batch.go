package postbag

import (
	"bytes"
	"fmt"
	"slices"
)

// distinctIDs refuses one ID for two messages. IDs that grow, as drawn ones do,
// cost one comparison each and nothing else.
func distinctIDs(f *faults, msgs []Message) {
	if idsGrow(msgs) {
		return
	}
	first := make(map[ID]int, len(msgs))
	for i := range msgs {
		at, known := first[msgs[i].ID]
		if !known {
			first[msgs[i].ID] = i
			continue
		}
		f.add(&MessageError{
			Index: i, Field: "ID",
			Reason: fmt.Sprintf("is that of message %d too; give each its own, or none to have it drawn", at),
		})
	}
}

func idsGrow(msgs []Message) bool {
	for i := 1; i < len(msgs); i++ {
		if bytes.Compare(msgs[i-1].ID[:], msgs[i].ID[:]) >= 0 {
			return false
		}
	}
	return true
}

// oneShardKey refuses two shard keys for one key, which would put messages that
// are ordered with one another on two shards.
func oneShardKey(f *faults, msgs []Message) {
	if !anyShardKey(msgs) {
		return
	}
	first := make(map[string]int, len(msgs))
	for i := range msgs {
		m := &msgs[i]
		if m.Key == "" {
			continue
		}
		at, known := first[m.Key]
		if !known {
			first[m.Key] = i
			continue
		}
		if shardKey(m) != shardKey(&msgs[at]) {
			f.add(&MessageError{
				Index: i, Field: "ShardKey",
				Reason: fmt.Sprintf("differs from that of message %d, which has the same Key; derive it from the Key alone", at),
			})
		}
	}
}

func anyShardKey(msgs []Message) bool {
	for i := range msgs {
		if msgs[i].ShardKey != "" {
			return true
		}
	}
	return false
}

// shardKey returns what decides the slot of a message with a key.
func shardKey(m *Message) string {
	if m.ShardKey != "" {
		return m.ShardKey
	}
	return m.Key
}

// orderKeys returns the keys of msgs that are not empty, distinct and sorted.
func orderKeys(msgs []Message) []string {
	keys := make([]string, 0, len(msgs))
	for i := range msgs {
		if msgs[i].Key != "" {
			keys = append(keys, msgs[i].Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

package storekit

import (
	"fmt"
	"strings"
)

// erasedMark begins the shard key that keeps an erased message in its slot. No message
// has such a key by itself but on purpose.
const erasedMark = "\x01postbag erased "

// ErasedShardKey returns a shard key for a message whose key is overwritten. It tells
// nothing, and keeps the message in the slot in which it was counted. Empty: the message
// needs none.
func ErasedShardKey(id []byte, key, shardKey string) string {
	slot, _ := Place(id, key, shardKey)
	if without, _ := Place(id, "", ""); without == slot {
		return ""
	}
	for n := 0; ; n++ {
		try := fmt.Sprint(erasedMark, n)
		if at, _ := Place(id, "", try); at == slot {
			return try
		}
	}
}

// ShownShardKey returns a stored shard key as people see it: that of an erased message
// is empty.
func ShownShardKey(key string) string {
	if strings.HasPrefix(key, erasedMark) {
		return ""
	}
	return key
}

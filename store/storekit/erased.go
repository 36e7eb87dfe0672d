package storekit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/postbag/postbag/store"
)

// ErasedHeaders are the headers of an erased message, as stores write them.
const ErasedHeaders = `{"` + store.ErasedHeader + `":"true"}`

// erasedMark begins the shard key that keeps an erased message in its slot. No message
// has such a key by itself but on purpose.
const erasedMark = "\x01postbag erased "

// erasedNumber begins it in a box with slots by number: zeros of which nobody takes away
// anything. Zeros alone are real keys, such as a hash that stands for none.
var erasedNumber = "-" + strings.Repeat("0", 60)

// ErasedShardKey returns a shard key for a message whose key is overwritten. It tells
// nothing, and keeps the message in the slot in which it was counted. Empty: the message
// needs none.
func ErasedShardKey(by store.SlotRule, id []byte, key, shardKey string) string {
	slot, _ := Place(by, id, key, shardKey)
	if without, _ := Place(by, id, "", ""); without == slot {
		return ""
	}
	if by == store.SlotsByNumber {
		return erasedNumber + strconv.Itoa((store.SlotCount-slot)%store.SlotCount) // the number is negative
	}
	for n := 0; ; n++ {
		try := fmt.Sprint(erasedMark, n)
		if at, _ := Place(by, id, "", try); at == slot {
			return try
		}
	}
}

// ShownShardKey returns a stored shard key as people see it: that of an erased message
// is empty.
func ShownShardKey(key string) string {
	if strings.HasPrefix(key, erasedMark) || strings.HasPrefix(key, erasedNumber) {
		return ""
	}
	return key
}

package store

import (
	"fmt"
	"strings"

	"github.com/postbag/postbag"
)

// SlotRule says how the messages of a box get their slots. It is an option of the box: the
// store keeps it, and it never changes. The database computes the slot by it, whatever
// program publishes. "" says nothing: see where a SlotRule is asked for.
type SlotRule string

const (
	// SlotsByHash is the rule of most boxes: see [SlotOf].
	SlotsByHash SlotRule = "hash"
	// SlotsByNumber takes the shard key, else the key, as a decimal integer: an optional
	// minus sign and ASCII digits, as many as a key may have. Zeros may come first. The slot is the number modulo
	// SlotCount, never negative: -1 is in slot 4095. A box by number refuses another key. A
	// message that has neither key nor shard key is in the slot that it would have by hash.
	SlotsByNumber SlotRule = "number"
)

// Validate returns an error if the rule is none of "", "hash" and "number".
func (r SlotRule) Validate() error {
	switch r {
	case "", SlotsByHash, SlotsByNumber:
		return nil
	}
	return fmt.Errorf("slots %.64q are no rule; say %s or %s", string(r), SlotsByHash, SlotsByNumber)
}

// SlotOf returns the slot of a message in a box with this rule ("" is SlotsByHash), and
// whether the box takes the message.
func (r SlotRule) SlotOf(m *postbag.Message) (slot int, ok bool) {
	key := m.ShardKey
	if key == "" {
		key = m.Key
	}
	if r != SlotsByNumber || key == "" {
		return SlotOf(m), true
	}
	return NumberSlot(key)
}

// Check returns ErrNoNumber for a message that a box with this rule refuses. As
// PublisherOptions.Check it refuses such messages before anything is written.
func (r SlotRule) Check(m *postbag.Message) error {
	if _, ok := r.SlotOf(m); !ok {
		return ErrNoNumber
	}
	return nil
}

// numberDigits is how many of the last digits of a number decide its slot: SlotCount
// divides ten to that power.
const numberDigits = 12

// NumberSlot returns the slot of a key by [SlotsByNumber], and whether it is a number.
func NumberSlot(key string) (slot int, ok bool) {
	digits, negative := strings.CutPrefix(key, "-")
	if digits == "" {
		return 0, false
	}
	n := 0
	for i := range len(digits) {
		d := digits[i] - '0'
		if d > 9 {
			return 0, false
		}
		if i >= len(digits)-numberDigits {
			n = (10*n + int(d)) % SlotCount
		}
	}
	if negative {
		n = (SlotCount - n) % SlotCount
	}
	return n, true
}

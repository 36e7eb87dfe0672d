package storekit

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// defaultBox is made with Create if no box is named.
const defaultBox = "outbox"

// Boxes are those that a store makes as it opens: with its option Create those that Boxes names, or "outbox" if
// that is nil.
func Boxes(create bool, named []string) []string {
	if create && named == nil {
		return []string{defaultBox}
	}
	return named
}

// BadSlots returns every fault of the option Slots of a store, a package such as pgstore.
func BadSlots(pkg string, slots map[string]store.SlotRule) (faults []error) {
	for _, box := range slices.Sorted(maps.Keys(slots)) {
		if err := errors.Join(postbag.ValidBox(box), slots[box].Validate()); err != nil {
			faults = append(faults, fmt.Errorf("%s: Options.Slots of box %.64q: %w", pkg, box, err))
		}
	}
	return faults
}

// ruleNumbers are the rules for slots as stores keep them.
var ruleNumbers = []store.SlotRule{store.SlotsByHash, store.SlotsByNumber}

// RuleNumber returns a rule for slots as stores keep it, in a column slots.
func RuleNumber(by store.SlotRule) int { return max(0, slices.Index(ruleNumbers, by)) }

// RuleOf is the reverse. A number of a newer version is as SlotsByHash.
func RuleOf(number int) store.SlotRule {
	if number < 0 || number >= len(ruleNumbers) {
		return store.SlotsByHash
	}
	return ruleNumbers[number]
}

// SameRule returns store.ErrSlotRule if a box that exists was made with another rule than is
// asked for. "" asks for none.
func SameRule(box string, has, asked store.SlotRule) error {
	if asked == "" || has == asked {
		return nil
	}
	return fmt.Errorf("box %s has slots by %s, not by %s: %w", box, has, asked, store.ErrSlotRule)
}

// LettersFit says what stands against dead letters of a box in another, as far as their
// rules for slots go: keys that are no numbers.
func LettersFit(from, to store.SlotRule, box string) error {
	if to == store.SlotsByNumber && from != store.SlotsByNumber {
		return fmt.Errorf("box %s, for its dead letters, takes slots by number, and keys of dead letters may be any text; name a box by hash", box)
	}
	return nil
}

// BadBoxes returns every fault of the options Create and Boxes of a store, a package such as pgstore.
func BadBoxes(store string, create bool, named []string) (faults []error) {
	for _, box := range named {
		if err := postbag.ValidBox(box); err != nil {
			faults = append(faults, err)
		}
	}
	if len(named) > 0 && !create {
		faults = append(faults, errors.New(store+": Options.Boxes are only made with Options.Create; set it, or leave them out"))
	}
	return faults
}

package config

import (
	"maps"
	"slices"

	"github.com/postbag/postbag/store"
)

// slotRules are the rules for slots of boxes, by name.
type slotRules struct {
	of map[string]store.SlotRule
	// used are those of them that the file uses in a store.
	used map[string]store.SlotRule
}

// slotRules are those that the file says, for the store of a name; empty: its only one.
func (f *File) slotRules(name string) *slotRules {
	out := &slotRules{of: make(map[string]store.SlotRule), used: make(map[string]store.SlotRule)}
	for box, b := range f.Boxes {
		if b.Slots == "" {
			continue
		}
		out.of[box] = store.SlotRule(b.Slots)
		if b.Unread || f.uses(name, box) {
			out.used[box] = out.of[box]
		}
	}
	return out
}

// uses says whether the file reads or fills a box in a store.
func (f *File) uses(name, box string) bool {
	of := func(in string) bool { return in == "" || in == name }
	return slices.ContainsFunc(f.Subscriptions, func(s Subscription) bool { return s.Box == box && of(s.Store) }) ||
		slices.ContainsFunc(f.Sources, func(s Intake) bool { return s.Box == box && of(s.Store) })
}

// Slots are the rules for slots that are said of boxes, by name: one that is made in the
// store is made so.
func (s *Store) Slots() map[string]store.SlotRule {
	if s.slots == nil {
		return nil
	}
	return s.slots.of
}

// UsedSlots are those of Slots whose boxes the file uses in this store. Another store may have
// a box of the same name that has nothing to do with the file.
func (s *Store) UsedSlots() map[string]store.SlotRule {
	if s.slots == nil {
		return nil
	}
	return s.slots.used
}

// WithSlots returns the store with a rule for the slots of some boxes, in place of what the
// file says of them. "" changes nothing.
func (s *Store) WithSlots(by store.SlotRule, boxes []string) Store {
	out := *s
	if by == "" {
		return out
	}
	out.slots = &slotRules{of: make(map[string]store.SlotRule), used: s.UsedSlots()}
	maps.Copy(out.slots.of, s.Slots())
	for _, box := range boxes {
		out.slots.of[box] = by
	}
	return out
}

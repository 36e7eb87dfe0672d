package config

import (
	"maps"

	"github.com/postbag/postbag/store"
)

// slotRules are the rules for slots of boxes, by name.
type slotRules struct{ of map[string]store.SlotRule }

// slotRules are those that the file says.
func (f *File) slotRules() *slotRules {
	out := &slotRules{of: make(map[string]store.SlotRule)}
	for name, box := range f.Boxes {
		if box.Slots != "" {
			out.of[name] = store.SlotRule(box.Slots)
		}
	}
	return out
}

// Slots are the rules for slots that are said of boxes, by name.
func (s *Store) Slots() map[string]store.SlotRule {
	if s.slots == nil {
		return nil
	}
	return s.slots.of
}

// WithSlots returns the store with a rule for the slots of some boxes, in place of what the
// file says of them. "" changes nothing.
func (s *Store) WithSlots(by store.SlotRule, boxes []string) Store {
	out := *s
	if by == "" {
		return out
	}
	out.slots = &slotRules{of: make(map[string]store.SlotRule)}
	maps.Copy(out.slots.of, s.Slots())
	for _, box := range boxes {
		out.slots.of[box] = by
	}
	return out
}

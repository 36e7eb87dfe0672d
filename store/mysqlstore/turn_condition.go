package mysqlstore

import (
	"fmt"
	"strings"

	"github.com/postbag/postbag/store/storekit"
)

// rowsText reads rows of the log that meet a condition, without the bytes of those
// that are not wanted.
func (w *reading) rowsText(condition string) string {
	asks := &w.about.asks
	if w.slots.All && len(asks.Types)+len(asks.Topics) == 0 {
		return fmt.Sprintf(sqlPage, tableOf(w.about.Box), condition)
	}
	in := slotCondition(w.slots)
	want := in
	if len(asks.Types) > 0 {
		want += " AND " + nameCondition("type", asks.Types)
	}
	if len(asks.Topics) > 0 {
		want += " AND " + nameCondition("topic", asks.Topics)
	}
	return fmt.Sprintf(sqlSomePage, tableOf(w.about.Box), in, want, condition)
}

func slotCondition(slots storekit.SlotSet) string {
	if slots.All {
		return "slot < 4096"
	}
	parts := []string{"FALSE"}
	for _, r := range slots.Ranges {
		parts = append(parts, fmt.Sprintf("slot >= %d AND slot < %d", r.Lo, r.Hi))
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// nameCondition compares exact names, and a prefix as a range: the columns
// compare bytes, and '/' comes next after '.'.
func nameCondition(column string, names []string) string {
	parts := make([]string, 0, len(names))
	for _, t := range names {
		if prefix, ok := storekit.TypePrefix(t); ok {
			end := prefix[:len(prefix)-1] + "/"
			parts = append(parts, fmt.Sprintf("%s >= x'%x' AND %s < x'%x'", column, prefix, column, end))
		} else {
			parts = append(parts, fmt.Sprintf("%s = x'%x'", column, t))
		}
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// seqCondition asks for the seqs of a set; "" for none.
func seqCondition(r ranges) string {
	if len(r) == 0 {
		return ""
	}
	var b strings.Builder
	var single []int64
	for _, s := range r {
		if s.lo == s.hi {
			single = append(single, s.lo)
			continue
		}
		if b.Len() > 0 {
			b.WriteString(" OR ")
		}
		fmt.Fprintf(&b, "seq BETWEEN %d AND %d", s.lo, s.hi)
	}
	switch {
	case len(single) == 0:
	case b.Len() == 0:
		return "(seq IN (" + list(single) + "))"
	default:
		b.WriteString(" OR seq IN (" + list(single) + ")")
	}
	return "(" + b.String() + ")"
}

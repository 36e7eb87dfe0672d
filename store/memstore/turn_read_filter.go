package memstore

import (
	"slices"
	"strings"
)

// filter is a subscription's Types, ready to be asked. The zero filter takes
// everything.
type filter struct {
	exact    []string
	prefixes []string // each with its dot
}

func newFilter(types []string) filter {
	var f filter
	for _, t := range types {
		if p, ok := strings.CutSuffix(t, "*"); ok && strings.HasSuffix(p, ".") {
			f.prefixes = append(f.prefixes, p)
			continue
		}
		f.exact = append(f.exact, t)
	}
	return f
}

// refuses says whether a message of the type is kept from the subscription.
func (f filter) refuses(typ string) bool {
	if len(f.exact) == 0 && len(f.prefixes) == 0 {
		return false
	}
	return !slices.Contains(f.exact, typ) &&
		!slices.ContainsFunc(f.prefixes, func(p string) bool { return strings.HasPrefix(typ, p) })
}

// sameTypes says whether two lists are one filter.
func sameTypes(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

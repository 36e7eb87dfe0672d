package operations

import (
	"context"
	"fmt"
	"slices"

	"github.com/postbag/postbag/store"
)

// OlderRelays returns the names of live relays that work a subscription and are of version 0.1.0. Such a relay knows the
// types of a filter alone, and delivers what the rest of it refuses. Later ones say in each heartbeat that they know pauses,
// and all that know pauses know filters.
func OlderRelays(ref store.Ref, relays []store.RelayState) (names []string) {
	for i := range relays {
		if olderThan(&relays[i], ref) {
			names = append(names, relays[i].Name)
		}
	}
	return names
}

// olderThan says whether a relay works a subscription, and does not say in its heartbeat what later versions say.
func olderThan(r *store.RelayState, ref store.Ref) bool {
	return slices.Contains(r.Works, ref) &&
		!slices.ContainsFunc(r.Conditions, func(c store.Condition) bool { return c.Ref == ref && c.Pauses })
}

// OlderText says what stands against a filter that a relay of version 0.1.0 does not know.
func OlderText(relay string) string {
	return fmt.Sprintf("relay %s is of an older version, which knows the types of a filter alone: it delivers what the rest of it refuses; stop it or upgrade it", relay)
}

// FilterNotes are what an operator should know who gives a subscription a filter, one line each. If the filter asks for more
// than types, they name each live relay that does not know that.
func (s Store) FilterNotes(ctx context.Context, r store.Ref, f store.Filter) (notes []string, err error) {
	if f.Where.Empty() {
		return nil, nil
	}
	o, err := s.Overview(ctx)
	for _, name := range OlderRelays(r, o.Relays) {
		notes = append(notes, OlderText(name))
	}
	return notes, err
}

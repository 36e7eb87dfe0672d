package operations

import (
	"slices"

	"github.com/postbag/postbag/store"
)

// unworked says why no live relay works a subscription that an operator has given a destination.
// Empty: one works it, or nobody gave it one.
func unworked(s *store.SubscriptionView, relays []store.RelayState) string {
	to, _ := store.DestinationOf(s.Settings)
	works := slices.ContainsFunc(relays, func(r store.RelayState) bool { return slices.Contains(r.Works, s.Ref) })
	switch {
	case to == "" || works || s.Replay != nil:
		return ""
	case len(relays) == 0:
		return "no relay is running"
	}
	return "no running relay can use a destination " + to + "; add it to the configuration of one and restart that, or choose another one with postbag subscriptions set --destination"
}

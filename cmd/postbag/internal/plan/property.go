package plan

import (
	"context"
	"slices"
	"strconv"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// property is a setting of subscriptions that the store keeps, and that a configuration says. To
// compare one more, add a row to the table below.
type property struct {
	// setting is its name in postbag.yaml.
	setting string
	rank    rank
	// compare returns what the configuration says and what the store has, for people, and who set that
	// with a command. It says whether they differ.
	compare func(w *Subscription, h *store.SubscriptionView) (want, have, by string, differs bool)
	// change gives the store what the configuration says.
	change func(ctx context.Context, s operations.Store, a store.Audit, w *Subscription) error
	// export is what a configuration is to say, as a string, an int or a list of strings. Nil: nothing.
	export func(h *store.SubscriptionView) any
}

// properties are all that are compared, in the sequence in which people read them.
var properties = []property{
	{
		setting: "types", rank: filters,
		compare: func(w *Subscription, h *store.SubscriptionView) (want, have, by string, differs bool) {
			return operations.TypesText(w.Types), operations.TypesText(h.Types), h.TypesBy, !SameTypes(w.Types, h.Types)
		},
		change: func(ctx context.Context, s operations.Store, a store.Audit, w *Subscription) error {
			return s.SetTypes(ctx, a, w.Ref(), w.Types)
		},
		export: func(h *store.SubscriptionView) any {
			if len(h.Types) == 0 {
				return nil
			}
			return h.Types
		},
	},
	{
		setting: "shards", rank: reshapes,
		compare: func(w *Subscription, h *store.SubscriptionView) (want, have, by string, differs bool) {
			return strconv.Itoa(w.Shards), strconv.Itoa(wantedShards(h)), h.WantedBy, w.Shards != 0 && w.Shards != wantedShards(h)
		},
		change: func(ctx context.Context, s operations.Store, a store.Audit, w *Subscription) error {
			return s.SetShards(ctx, a, w.Ref(), w.Shards)
		},
		export: func(h *store.SubscriptionView) any { return wantedShards(h) },
	},
}

// wantedShards is how many shards a subscription has, or is to have soon.
func wantedShards(h *store.SubscriptionView) int {
	if h.Wanted > 0 {
		return h.Wanted
	}
	return len(h.Shards)
}

// SameTypes says whether two lists are one filter.
func SameTypes(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

package plan

import (
	"context"
	"strconv"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
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
	// export is what a configuration is to say, as a string, an int, a list of strings or settings. Nil: nothing.
	export func(h *store.SubscriptionView) any
}

// properties are all that are compared, in the sequence in which people read them.
var properties = []property{
	{
		setting: "types", rank: filters,
		compare: func(w *Subscription, h *store.SubscriptionView) (want, have, by string, differs bool) {
			return operations.TypesText(w.Types), operations.TypesText(h.Types), h.TypesBy, !sameTypes(w.Types, h.Types)
		},
		change: func(ctx context.Context, s operations.Store, a store.Audit, w *Subscription) error {
			return s.SetFilter(ctx, a, w.Ref(), w.Filter())
		},
		export: func(h *store.SubscriptionView) any {
			if len(h.Types) == 0 {
				return nil
			}
			return h.Types
		},
	},
	{
		setting: "where", rank: filters,
		compare: func(w *Subscription, h *store.SubscriptionView) (want, have, by string, differs bool) {
			asks, has := store.Filter{Where: w.Filter().Where}, store.Filter{Where: h.Where}
			return asks.String(), has.String(), h.TypesBy, !storekit.SameFilter(asks, has)
		},
		change: func(ctx context.Context, s operations.Store, a store.Audit, w *Subscription) error {
			return s.SetFilter(ctx, a, w.Ref(), w.Filter())
		},
		export: func(h *store.SubscriptionView) any { return whereSettings(&h.Where) },
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

// sameTypes says whether two lists are one filter.
func sameTypes(a, b []string) bool {
	return storekit.SameFilter(store.Filter{Types: a}, store.Filter{Types: b})
}

// whereSettings are what narrows a filter beside its types, as a configuration says it; nil: nothing does.
func whereSettings(w *store.Where) any {
	if w.Empty() {
		return nil
	}
	out := lists(Setting{"topics", w.Topics}, Setting{"headers", w.Headers})
	except := make([][]Setting, len(w.Except))
	for i := range w.Except {
		m := &w.Except[i]
		except[i] = lists(Setting{"types", m.Types}, Setting{"topics", m.Topics}, Setting{"headers", m.Headers})
	}
	if len(except) > 0 {
		out = append(out, Setting{"except", except})
	}
	return out
}

// lists are those settings whose lists are not empty.
func lists(of ...Setting) (out []Setting) {
	for _, s := range of {
		if list, ok := s.Value.([]string); ok && len(list) > 0 {
			out = append(out, s)
		}
	}
	return out
}

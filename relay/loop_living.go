package relay

import (
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// vanished notes that the subscription of a flow is not in the store any more, or cannot be read. A new one of its name
// begins with nothing that was known of this one.
func (l *loop) vanished(f *flow, unsettled int) {
	l.log.vanished(f, unsettled)
	f.begun, f.waited, f.paused, f.filter = false, false, false, ""
	f.holders, f.shards, f.pauses = nil, 0, nil
	f.condition, f.lastError = condition{}, ""
}

// noteFilter logs once that the filter is an operator's, and whether this relay's settings have
// another one.
func (l *loop) noteFilter(f *flow, s *store.SubscriptionState) {
	if s.Unreadable != nil { // the view has but a part of it
		return
	}
	now := ""
	if s.TypesBy != "" {
		now = filterText(store.Filter{Types: s.Types, Where: s.Where})
	}
	if f.filter == now {
		return
	}
	f.filter = now
	l.log.filtered(f, s, filterText(f.subscription.filter()) != now)
}

// filterText is the same for two filters that ask the same.
func filterText(f store.Filter) string {
	types, err := storekit.TypesText(f.Types)
	where, whereErr := storekit.WhereText(f.Where)
	if err != nil || whereErr != nil { // lists of texts have one
		return f.String()
	}
	return types + where
}

// vanished says that nothing of a subscription is delivered any more, and why.
func (j *journal) vanished(f *flow, unsettled int) {
	if why := f.Unreadable(); why != nil {
		j.logger.Error("relay: the filter of the subscription cannot be read; this relay delivers nothing of it until it is updated, or the filter is set again",
			append(between(f), "in_flight", unsettled, "error", why.Error())...)
		return
	}
	j.logger.Warn("relay: the subscription is not in the store; an operator removed it, and nothing of it is delivered",
		append(between(f), "in_flight", unsettled)...)
}

// returned says that a subscription that was removed was declared again, or that its filter can be
// read again.
func (j *journal) returned(f *flow) {
	j.logger.Info("relay: the subscription is in the store again", between(f)...)
}

// withoutValues leaves the values of headers out: they may be personal, and a log goes far.
func withoutValues(w store.Where) store.Where {
	names := func(headers []string) (out []string) {
		for _, h := range headers {
			if name, _, valued := strings.Cut(h, "="); valued {
				h = name + "=..."
			}
			out = append(out, h)
		}
		return out
	}
	w = w.Clone()
	w.Headers = names(w.Headers)
	for i := range w.Except {
		w.Except[i].Headers = names(w.Except[i].Headers)
	}
	return w.Clone() // what says the same now stands once
}

// filtered says that an operator has set the filter. Who, and why, is in the audit log.
func (j *journal) filtered(f *flow, s *store.SubscriptionState, differs bool) {
	said := strings.Join(s.Types, ",")
	if len(s.Types) == 0 {
		said = "all"
	}
	out := append(between(f), "types", said)
	if !s.Where.Empty() {
		where := store.Filter{Where: withoutValues(s.Where)}
		out = append(out, "where", where.String())
	}
	if differs {
		j.logger.Warn("relay: the filter is the one that an operator set, and not that of this relay's settings", out...)
		return
	}
	j.logger.Info("relay: the filter is the one that an operator set", out...)
}

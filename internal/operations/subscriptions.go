package operations

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// SubscriptionList is the subscriptions of a store in JSON. Names of fields are a contract.
type SubscriptionList struct {
	// The subscriptions, by box.
	Subscriptions []SubscriptionDetail `json:"subscriptions"`
	// Those that an operator removed. Relays do not declare them again.
	Removed []RemovedSubscription `json:"removed"`
}

// SubscriptionDetail is a subscription with its settings in JSON.
type SubscriptionDetail struct {
	// The box.
	Box string `json:"box"`
	// The subscription.
	Name string `json:"name"`
	// It is a replay of this subscription.
	ReplayOf string `json:"replay_of,omitempty"`
	// When it was declared.
	Declared time.Time `json:"declared"`
	// It began behind about this seq of the log; zero: with the first message.
	Begun int64 `json:"began_behind"`
	// Its filter of types; none: all types.
	Types []string `json:"types,omitempty"`
	// What narrows that; none: nothing.
	Where *store.Where `json:"where,omitempty"`
	// Who set the filter with a command; none: it is as declared.
	TypesBy string `json:"types_by,omitempty"`
	// Why this version cannot read the filter, which types and where then leave out; none: it can.
	Unreadable string `json:"filter_unreadable,omitempty"`
	// How many shards it has.
	Shards int `json:"shards"`
	// How many it is to have.
	Wanted int `json:"shards_wanted"`
	// Who asked for that many with a command; none: it is as declared.
	WantedBy string `json:"shards_wanted_by,omitempty"`
	// An operator holds it.
	Paused bool `json:"paused"`
	// What operators hold of it, with who and why; none: nothing.
	Pauses []Pause `json:"pauses,omitempty"`
	// The relays that own its shards, by name.
	Owners []string `json:"owners"`
	// About how many messages wait to be read or settled.
	Backlog int64 `json:"backlog"`
	// The age of the oldest message that waits to be read or is parked; zero: there is none.
	Oldest float64 `json:"oldest_seconds"`
	// Parked messages by state.
	Parked map[string]int64 `json:"parked"`
	// The destination that an operator has given it, which relays that run begin it with; none: nobody gave one.
	AddedTo string `json:"added_to,omitempty"`
	// Why no live relay works it although an operator has given it a destination; none: one does, or nobody gave one.
	Unworked string `json:"unworked,omitempty"`
	// How the destination is, as the relays say; none: no relay says.
	Destination *Destination `json:"destination,omitempty"`
	// With -c: what the configuration says of it.
	Settings []Setting `json:"settings,omitempty"`

	// tuned are the settings that operators have set.
	tuned []store.Setting
}

// Setting is a setting of a subscription in JSON.
type Setting struct {
	// The setting, as in postbag.yaml.
	Name string `json:"name"`
	// Its value.
	Value string `json:"value"`
	// Where it comes from: declared (with the subscription, and kept in the store), operator (a
	// command, kept in the store), or deployment (the configuration).
	Source string `json:"source"`
	// Who set it, of a setting of the policy that is an operator's.
	By string `json:"by,omitempty"`
	// Why they set it.
	Why string `json:"why,omitempty"`
	// When they set it.
	At time.Time `json:"at,omitzero"`
	// The configuration says so, and something else is in force.
	Unused bool `json:"unused,omitempty"`
}

// RemovedSubscription is a subscription that an operator removed, in JSON.
type RemovedSubscription struct {
	// The box.
	Box string `json:"box"`
	// The subscription.
	Name string `json:"name"`
	// When it was removed.
	At time.Time `json:"at"`
	// Who removed it.
	By string `json:"by"`
}

// FromDeclaration is the source of what was said when the subscription was declared.
const FromDeclaration = "declared"

// Subscriptions makes a list of the subscriptions in an overview.
func Subscriptions(o *store.Overview) *SubscriptionList {
	l := &SubscriptionList{Subscriptions: []SubscriptionDetail{}, Removed: []RemovedSubscription{}}
	for i := range o.Boxes {
		b := &o.Boxes[i]
		for j := range b.Subscriptions {
			d := detailOf(&b.Subscriptions[j], o.Relays)
			for k := range o.Pauses {
				if p := &o.Pauses[k]; concerns(p, b.Subscriptions[j].Ref, o.Relays) {
					d.Paused = d.Paused || p.Scope == store.PauseDestination
					d.Pauses = append(d.Pauses, pauseOf(p))
				}
			}
			l.Subscriptions = append(l.Subscriptions, d)
		}
		for _, r := range b.Removed {
			l.Removed = append(l.Removed, RemovedSubscription{Box: b.Name, Name: r.Name, At: r.At, By: r.By})
		}
	}
	return l
}

func detailOf(s *store.SubscriptionView, relays []store.RelayState) SubscriptionDetail {
	state := subscriptionOf(s)
	state.conditions(s.Ref, relays)
	d := SubscriptionDetail{
		Box: s.Box, Name: s.Subscription, Declared: s.Made, Begun: s.Begun, TypesBy: s.TypesBy,
		Shards: state.Shards, Wanted: state.Wanted, WantedBy: s.WantedBy, Paused: s.Paused, Owners: []string{},
		Backlog: state.Backlog, Oldest: state.Oldest, Parked: state.Parked, Destination: state.Destination, tuned: s.Settings,
	}
	d.AddedTo, _ = store.DestinationOf(s.Settings)
	d.Unworked = unworked(s, relays)
	for i := range relays {
		if slices.ContainsFunc(s.Shards, func(sh store.ShardState) bool { return sh.Owner == relays[i].ID }) {
			d.Owners = append(d.Owners, relays[i].Name)
		}
	}
	d.Types, d.Where, d.Unreadable = filterOf(&s.SubscriptionState)
	if s.Replay != nil {
		d.ReplayOf = s.Replay.Of
	}
	return d
}

// filterOf is the filter of a subscription, or why it cannot be read.
func filterOf(s *store.SubscriptionState) (types []string, where *store.Where, unreadable string) {
	if s.Unreadable != nil {
		return nil, nil, s.Unreadable.Error()
	}
	if !s.Where.Empty() {
		w := s.Where.Clone()
		where = &w
	}
	return s.Types, where, ""
}

// Find returns a subscription of the list. One that is not there is store.ErrNoSubscription.
func (l *SubscriptionList) Find(r store.Ref) (*SubscriptionDetail, error) {
	for i := range l.Subscriptions {
		if d := &l.Subscriptions[i]; d.Box == r.Box && d.Name == r.Subscription {
			return d, nil
		}
	}
	for _, gone := range l.Removed {
		if gone.Box == r.Box && gone.Name == r.Subscription {
			return nil, refusef(ErrNotFound, "%s removed subscription %s on %s; postbag subscriptions readmit lets relays declare it again",
				gone.By, r, gone.At.UTC().Format(time.RFC3339))
		}
	}
	return nil, store.ErrNoSubscription
}

// TypesText is a filter for people.
func TypesText(types []string) string {
	if len(types) == 0 {
		return "all"
	}
	return strings.Join(types, ",")
}

// Filter is what the subscription takes.
func (d *SubscriptionDetail) Filter() store.Filter {
	f := store.Filter{Types: d.Types}
	if d.Where != nil {
		f.Where = *d.Where
	}
	return f
}

// WhereText is what narrows a filter beside its types, for people; empty: nothing.
func WhereText(w store.Where) string {
	if w.Empty() {
		return ""
	}
	f := store.Filter{Where: w}
	return f.String()
}

// Stored are the settings that the store keeps of a subscription, and where each comes from.
func (d *SubscriptionDetail) Stored() []Setting {
	from := func(by string) string {
		if by == "" {
			return FromDeclaration
		}
		return FromOperator
	}
	types := TypesText(d.Types)
	if d.Unreadable != "" {
		types = store.ConditionUnreadable
	}
	out := []Setting{{Name: "types", Value: types, Source: from(d.TypesBy)}}
	if d.Where != nil {
		out = append(out, Setting{Name: "where", Value: WhereText(*d.Where), Source: from(d.TypesBy)})
	}
	out = append(out, Setting{Name: "shards", Value: strconv.Itoa(d.Wanted), Source: from(d.WantedBy)})
	return append(out, d.Tuned()...)
}

// Loss is what the removal of a subscription takes away.
type Loss struct {
	*SubscriptionDetail

	// Waiting is how many messages wait for another attempt, for one before them, or for a topic; Dead
	// how many are dead.
	Waiting, Dead int64
}

// LossOf returns what the removal of a subscription would take away.
func LossOf(d *SubscriptionDetail) Loss {
	l := Loss{SubscriptionDetail: d}
	for _, state := range ParkStates {
		if n := d.Parked[state.String()]; state == store.ParkDead {
			l.Dead += n
		} else {
			l.Waiting += n
		}
	}
	return l
}

// SetFilter gives a subscription another filter. Each read that begins after it goes by that.
func (s Store) SetFilter(ctx context.Context, a store.Audit, r store.Ref, f store.Filter) error {
	if err := storekit.CheckNewFilter(f); err != nil {
		return refusef(ErrInvalid, "%v; nothing was done", err)
	}
	return s.steward(a, func(w store.Steward) error { return w.SetFilter(ctx, a, r, f) })
}

// Remove deletes a subscription and all that is its own. Its relays let go of it within a moment.
func (s Store) Remove(ctx context.Context, a store.Audit, r store.Ref, force bool) error {
	return s.steward(a, func(w store.Steward) error { return w.Remove(ctx, a, r, force) })
}

// Readmit lets relays declare a removed subscription again.
func (s Store) Readmit(ctx context.Context, a store.Audit, r store.Ref) error {
	return s.steward(a, func(w store.Steward) error { return w.Readmit(ctx, a, r) })
}

func (s Store) steward(a store.Audit, do func(store.Steward) error) error {
	if err := ValidAudit(a); err != nil {
		return err
	}
	if s.Steward == nil {
		return refusef(ErrUnsupported, "this kind of store changes no subscriptions; nothing was done")
	}
	return do(s.Steward)
}

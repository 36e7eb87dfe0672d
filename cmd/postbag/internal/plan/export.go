package plan

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// FillIn is the address of destinations in an exported file. There is no such server and there
// never will be (RFC 2606), so that a relay with such a file delivers nothing, and loses nothing.
const FillIn = "nats://fill-in.invalid:4222"

// fillIn is the name of a destination that no live relay names.
const fillIn = "fill-in"

// Exported is a configuration of what a store holds.
type Exported struct {
	Store         Section
	Destinations  []Section
	Boxes         []Section
	Subscriptions []Section
	// Notes are what a file cannot say.
	Notes []string
}

// Section is a part of an exported file.
type Section struct {
	// Name is its name; of a subscription it is empty.
	Name string
	// Settings are in the sequence in which they are written.
	Settings []Setting
	// Comment is for people.
	Comment string
}

// Setting is a setting with its value: a string, an int, a bool, a list of strings,
// settings, or a list of settings.
type Setting struct {
	Name  string
	Value any
}

// Export returns a configuration of what an overview holds, of the store in a place, and of the
// rules by which the slots of its boxes are made.
func Export(o *store.Overview, rules map[string]store.SlotRule, where *config.Store) *Exported {
	e := &Exported{Store: Section{Name: "store", Settings: storeSettings(where)}}
	called := calledBy(o.Relays)
	destinations := make(map[string][]string)
	for i := range o.Boxes {
		b := &o.Boxes[i]
		if b.Missing {
			e.notef("box %s is left out: %s", b.Name, operations.MissingTable(b.Name))
			continue
		}
		before := len(e.Subscriptions)
		for j := range b.Subscriptions {
			e.subscription(&b.Subscriptions[j], called, destinations)
		}
		unread := len(e.Subscriptions) == before && !slices.ContainsFunc(b.Subscriptions, func(s store.SubscriptionView) bool { return s.Unreadable != nil })
		e.box(b, rules[b.Name], unread)
		for _, gone := range b.Removed {
			e.notef("%s/%s was removed by %s on %s; relays do not declare it again", b.Name, gone.Name, gone.By, gone.At.UTC().Format(time.RFC3339))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(destinations)) {
		e.Destinations = append(e.Destinations, Section{
			Name: name, Settings: []Setting{{"nats", []Setting{{"url", FillIn}}}},
			Comment: "correct this: it gets " + strings.Join(destinations[name], ", "),
		})
	}
	for i := range o.Pauses {
		e.notef("%s is paused by %s: %s", o.Pauses[i].String(), o.Pauses[i].Who, o.Pauses[i].Why)
	}
	return e
}

func (e *Exported) notef(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// storeSettings say where the store is, as it was given.
func storeSettings(where *config.Store) (out []Setting) {
	for _, s := range []Setting{{"kind", where.Kind}, {"dsn", where.DSN}, {"dsn_env", where.DSNEnv}, {"dsn_file", where.DSNFile}} {
		if s.Value != "" {
			out = append(out, s)
		}
	}
	return out
}

// nameOfDestination is a name that a file can have for a destination.
var nameOfDestination = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}$`)

// calledBy returns what live relays call the destinations of subscriptions, as far as a file can.
func calledBy(relays []store.RelayState) map[store.Ref]string {
	called := make(map[store.Ref]string)
	for i := range relays {
		for _, c := range relays[i].Conditions {
			if nameOfDestination.MatchString(c.Destination) {
				called[c.Ref] = c.Destination
			}
		}
	}
	return called
}

// subscription adds one. A replay is no subscription that a file declares.
func (e *Exported) subscription(h *store.SubscriptionView, called map[store.Ref]string, destinations map[string][]string) {
	if h.Replay != nil {
		e.notef("%s is a replay of %s, which no file has", h.Ref, h.Replay.Of)
		return
	}
	if h.Unreadable != nil {
		e.notef("%s is left out: this version cannot read its filter: %v; export it with a later version", h.Ref, h.Unreadable)
		return
	}
	given, giver := store.DestinationOf(h.Settings)
	to := cmp.Or(called[h.Ref], given, fillIn)
	destinations[to] = append(destinations[to], h.Ref.String())
	s := Section{Settings: []Setting{{"name", h.Subscription}, {"box", h.Box}, {"to", to}}}
	var by []string
	if given != "" {
		by = append(by, "destination "+given+" by "+giver)
	}
	for i := range properties {
		p := &properties[i]
		value := p.export(h)
		if value != nil {
			s.Settings = append(s.Settings, Setting{p.setting, value})
		}
		if _, _, who, _ := p.compare(&Subscription{&config.Subscription{}}, h); who != "" {
			by = append(by, p.setting+" by "+who)
		}
	}
	for _, set := range h.Settings {
		if set.Name == store.SettingDestination && set.Value == to {
			continue // the file says it
		}
		e.notef("%s has %s %s by %s: %s", h.Ref, set.Name, set.Value, set.Who, set.Why)
	}
	s.Comment = strings.Join(by, ", ")
	e.Subscriptions = append(e.Subscriptions, s)
}

// box adds a box, if there is something to say of it.
func (e *Exported) box(b *store.BoxView, rule store.SlotRule, unread bool) {
	s := Section{Name: b.Name}
	if b.Retention != nil {
		if held := e.retention(b); len(held) > 0 {
			s.Settings = append(s.Settings, Setting{"retention", held})
			s.Comment = operatorOrRelay(b.Retention)
		}
	}
	if rule == store.SlotsByNumber {
		s.Settings = append(s.Settings, Setting{"slots", string(rule)})
	}
	if unread {
		s.Settings = append(s.Settings, Setting{"unread", true})
	}
	if len(s.Settings) > 0 {
		e.Boxes = append(e.Boxes, s)
	}
}

// retention is what people and relays have said of how long messages stay. What nobody said is left out.
func (e *Exported) retention(b *store.BoxView) (out []Setting) {
	said, holds := b.Retention.Operator.Or(b.Retention.Deployed), b.Retention.Lifetimes(store.DefaultLifetime)
	for _, l := range lifetimes {
		switch d := *l.of(&holds); {
		case *l.of(&said) == 0:
		case d < store.LeastLifetime:
			e.notef("box %s keeps %s messages for %s, which is shorter than a file can say", b.Name, l.name, operations.Lifetime(d))
		default:
			out = append(out, Setting{l.name, operations.Lifetime(d)})
		}
	}
	return out
}

// operatorOrRelay says where a retention comes from.
func operatorOrRelay(r *store.BoxRetention) string {
	if !r.Operator.IsZero() {
		return "set by an operator"
	}
	return "said by relay " + r.By
}

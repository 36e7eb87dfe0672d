package plan

import (
	"cmp"
	"slices"
)

// Plan is what differs between a configuration and its stores, in JSON. Names of fields are a
// contract.
type Plan struct {
	// Whether the stores lack something that the configuration says, or have what --allow-remove removes.
	Different bool `json:"different"`
	// What differs, in the sequence in which apply does it.
	Differences []*Difference `json:"differences"`
	// What people should know, and no difference.
	Notes []Note `json:"notes"`
}

// Difference is one step of a plan in JSON.
type Difference struct {
	// The store, by its name in the configuration; none: there is one store.
	Store string `json:"store,omitempty"`
	// The box.
	Box string `json:"box,omitempty"`
	// The subscription; none: it is of the box, or of the schema.
	Subscription string `json:"subscription,omitempty"`
	// What apply would do: create, change, remove or migrate.
	Action string `json:"action"`
	// The setting to change, as in postbag.yaml.
	Setting string `json:"setting,omitempty"`
	// What the store has.
	Have string `json:"have,omitempty"`
	// What the configuration says.
	Want string `json:"want,omitempty"`
	// Who set what the store has with a command, or which relay said it; none: it is as declared.
	By string `json:"by,omitempty"`
	// What comes of it, such as how many messages are lost.
	Effect string `json:"effect,omitempty"`
	// What apply needs first, and leaves the difference otherwise: a flag, or something to do.
	Needs string `json:"needs,omitempty"`
	// Of apply: done, failed, not done, or left, since it needs something first.
	Outcome string `json:"outcome,omitempty"`

	rank rank
	do   step
}

// The actions.
const (
	Create  = "create"
	Change  = "change"
	Remove  = "remove"
	Migrate = "migrate"
)

// The outcomes.
const (
	Done    = "done"
	Failed  = "failed"
	NotDone = "not done"
	Left    = "left"
)

// Note is something in a store that is no difference, in JSON.
type Note struct {
	// The store, by its name in the configuration; none: there is one store.
	Store string `json:"store,omitempty"`
	// The box.
	Box string `json:"box,omitempty"`
	// The subscription.
	Subscription string `json:"subscription,omitempty"`
	// What there is to know.
	Text string `json:"text"`
}

// rank is where a difference has its place among others: what makes comes first, what loses last.
type rank int

const (
	migrates rank = iota
	makesBox
	keepsLonger
	declares
	filters
	reshapes
	keepsShorter
	removes
)

// Options are what somebody allows.
type Options struct {
	// Remove allows what deletes: subscriptions that the configuration does not name, and messages
	// that would be kept for less time.
	Remove bool
	// Readmit allows the declaration of subscriptions that an operator removed.
	Readmit bool
	// Migrate allows migrations.
	Migrate bool
}

// The flags that allow what a difference needs.
const (
	NeedsRemove  = "--allow-remove"
	NeedsReadmit = "--readmit"
	NeedsMigrate = "--migrate"
)

// needs returns a flag that is not given.
func needs(flag string, given bool) string {
	if given {
		return ""
	}
	return flag
}

// Of is the box or the subscription that a difference is of.
func (d *Difference) Of() string { return of(d.Box, d.Subscription) }

// Of is the box or the subscription that a note is of.
func (n *Note) Of() string { return of(n.Box, n.Subscription) }

func of(box, subscription string) string {
	if subscription == "" {
		return box
	}
	return box + "/" + subscription
}

// add adds what differs in one store. In the end, Order puts all into their sequence.
func (p *Plan) add(name string, differences []*Difference, notes []Note) {
	for _, d := range differences {
		d.Store = name
	}
	for i := range notes {
		notes[i].Store = name
	}
	p.Differences, p.Notes = append(p.Differences, differences...), append(p.Notes, notes...)
	p.Different = len(p.Differences) > 0
	slices.SortStableFunc(p.Differences, func(a, b *Difference) int { return cmp.Compare(a.rank, b.rank) })
}

// Ready are the differences that apply may bring to an end.
func (p *Plan) Ready() []*Difference {
	return slices.DeleteFunc(slices.Clone(p.Differences), func(d *Difference) bool { return d.Needs != "" })
}

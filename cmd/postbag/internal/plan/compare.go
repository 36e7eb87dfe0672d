package plan

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// comparison is of one store.
type comparison struct {
	want    *Wanted
	have    store.Overview
	target  *Target
	options Options

	differences []*Difference
	notes       []Note
	audited     []store.AuditEntry // read when it is needed first
}

// compare returns what differs in a store, and what else people should know of it.
func compare(ctx context.Context, t *Target, o Options) ([]*Difference, []Note, error) {
	c := comparison{want: &t.Want, target: t, options: o, notes: slices.Clone(t.Want.Notes)}
	if len(t.missing) > 0 {
		c.migration()
	}
	if t.version > 0 && len(t.missing) > 0 { // an old schema cannot be read
		c.notef("", "", "the rest can be compared after the migration")
		return c.differences, c.notes, nil
	}
	if t.version > 0 {
		var err error
		if c.have, err = t.operations().Overview(ctx); err != nil {
			return nil, nil, err
		}
	}
	for i := range c.want.Boxes {
		if err := c.box(ctx, &c.want.Boxes[i]); err != nil {
			return nil, nil, err
		}
	}
	for i := range c.want.Subscriptions {
		c.subscription(&c.want.Subscriptions[i])
	}
	c.rest()
	if len(t.missing) > 0 && !o.Migrate {
		for _, d := range c.differences {
			d.Needs = NeedsMigrate
		}
	}
	return c.differences, c.notes, nil
}

func (c *comparison) differs(d *Difference) { c.differences = append(c.differences, d) }

func (c *comparison) notef(box, subscription, format string, args ...any) {
	c.notes = append(c.notes, Note{Box: box, Subscription: subscription, Text: fmt.Sprintf(format, args...)})
}

// migration is what the schema lacks.
func (c *comparison) migration() {
	names := make([]string, len(c.target.missing))
	for i := range names {
		names[i] = c.target.missing[i].Name
	}
	c.differs(&Difference{
		Action: Migrate, rank: migrates, Needs: needs(NeedsMigrate, c.options.Migrate), do: migrate,
		Have: "version " + strconv.Itoa(c.target.version), Want: "version " + strconv.Itoa(c.target.missing[len(names)-1].Version),
		Effect: "steps " + strings.Join(names, ", "),
	})
}

// view returns a box of the store; nil: there is none.
func (c *comparison) view(name string) *store.BoxView {
	for i := range c.have.Boxes {
		if c.have.Boxes[i].Name == name {
			return &c.have.Boxes[i]
		}
	}
	return nil
}

// box compares a box.
func (c *comparison) box(ctx context.Context, w *Box) error {
	have := c.view(w.Name)
	switch {
	case have == nil:
		c.differs(c.newBox(w))
		if !w.Retention.IsZero() {
			d := &Difference{Box: w.Name, Action: Change, Setting: "retention", rank: keepsLonger, do: setRetention(w, true, c.options.Remove)}
			d.Have, d.Want = retentionTexts(&store.BoxRetention{}, w.Retention)
			if d.Have != d.Want {
				c.differs(d)
			}
		}
		return nil
	case have.Missing:
		c.differs(&Difference{Box: w.Name, Action: Create, rank: makesBox, Needs: operations.MissingTable(w.Name)})
		return nil
	case have.Retention == nil:
		return nil
	}
	return c.retention(ctx, w, have)
}

// newBox is a box that the store lacks. How its slots are made is for good.
func (c *comparison) newBox(w *Box) *Difference {
	d := &Difference{Box: w.Name, Action: Create, rank: makesBox, do: createBox(w.Name)}
	rule := c.target.where.Slots()[w.Name]
	if rule != "" {
		d.Want = "slots by " + string(rule)
	}
	if rule == store.SlotsByNumber && c.target.Kind != "postgresql" {
		d.Effect = "programs of older versions cannot open the store then"
	}
	return d
}

// subscription compares a subscription.
func (c *comparison) subscription(w *Subscription) {
	box := c.view(w.Box)
	var have *store.SubscriptionView
	if box != nil {
		if box.Missing {
			return // that is said of the box
		}
		for i := range box.Subscriptions {
			if box.Subscriptions[i].Subscription == w.Name {
				have = &box.Subscriptions[i]
			}
		}
	}
	switch {
	case have == nil:
		c.declaration(w, box)
	case have.Replay != nil:
		c.differs(&Difference{
			Box: w.Box, Subscription: w.Name, Action: Create, rank: declares,
			Needs: "another name: this one is that of a replay; or wait until the replay is over",
		})
	default:
		c.properties(w, have)
	}
	if where := w.Filter().Where; !where.Empty() {
		for _, name := range operations.OlderRelays(w.Ref(), c.have.Relays) {
			c.notef(w.Box, w.Name, "%s", operations.OlderText(name))
		}
	}
}

// declaration is what a subscription that the store lacks needs.
func (c *comparison) declaration(w *Subscription, box *store.BoxView) {
	d := &Difference{Box: w.Box, Subscription: w.Name, Action: Create, rank: declares, do: declare(w, false)}
	var says []string
	for i := range properties {
		p := &properties[i]
		if want, _, _, differs := p.compare(w, &store.SubscriptionView{}); differs {
			says = append(says, p.setting+" "+want)
		}
	}
	from := w.From
	if from == "" {
		from = "first"
	}
	d.Want = strings.Join(append(says, "from "+from), ", ")
	if box != nil {
		for _, gone := range box.Removed {
			if gone.Name == w.Name {
				d.do, d.Needs = declare(w, true), needs(NeedsReadmit, c.options.Readmit)
				d.Effect = fmt.Sprintf("%s removed it on %s; it would be made again as a new one", gone.By, gone.At.UTC().Format(time.RFC3339))
			}
		}
	}
	c.differs(d)
}

// properties compares those of a subscription that is there.
func (c *comparison) properties(w *Subscription, have *store.SubscriptionView) {
	if have.Unreadable != nil {
		c.notef(w.Box, w.Name, "this version cannot read its filter, which is not compared: %v; update postbag, or set the filter with postbag subscriptions set --as-configured", have.Unreadable)
	}
	for i := range properties {
		p := &properties[i]
		if p.rank == filters && have.Unreadable != nil {
			continue
		}
		want, has, by, differs := p.compare(w, have)
		if differs {
			d := &Difference{
				Box: w.Box, Subscription: w.Name, Action: Change, Setting: p.setting, rank: p.rank,
				Have: has, Want: want, By: operator(by), do: changeProperty(p, w),
			}
			if p.rank == filters {
				d.Effect = "what it has passed is not read again: what moves to or from another subscription may go to both, or to none"
			}
			c.differs(d)
		}
	}
	for _, s := range have.Settings {
		if s.Name == store.SettingDestination {
			c.given(w, &s)
			continue
		}
		c.notef(w.Box, w.Name, "%s is %s by %s: %s; what the file says of it has no effect until postbag subscriptions set --reset %s", s.Name, s.Value, s.Who, s.Why, s.Name)
	}
	if n := len(have.Shards); n > 0 && n != wantedShards(have) {
		c.notef(w.Box, w.Name, "it has %s, and relays are to make %d", terminal.Count(n, "shard"), wantedShards(have))
	}
}

// given tells of a destination that an operator has given a subscription of the file, which has its own.
func (c *comparison) given(w *Subscription, s *store.Setting) {
	const reset = "postbag subscriptions set --reset destination ends that"
	if s.Value == w.To {
		c.notef(w.Box, w.Name, "%s has given it the destination %s, as the file does: %s; relays without the file's subscription work it, too; %s", s.Who, s.Value, s.Why, reset)
		return
	}
	c.notef(w.Box, w.Name, "%s has given it the destination %s: %s; relays with this file go by %s, and others by that; %s", s.Who, s.Value, s.Why, w.To, reset)
}

// operator names who gave a command.
func operator(who string) string {
	if who == "" {
		return ""
	}
	return "operator " + who
}

// rest looks through what is in the store and not in the configuration.
func (c *comparison) rest() {
	list := operations.Subscriptions(&c.have)
	for i := range c.have.Boxes {
		box := &c.have.Boxes[i]
		if !c.want.hasBox(box.Name) {
			c.notef(box.Name, "", "the box is not in the file; no command removes a box")
		}
	}
	for i := range list.Subscriptions {
		d := &list.Subscriptions[i]
		switch ref := (store.Ref{Box: d.Box, Subscription: d.Name}); {
		case d.ReplayOf != "":
			c.notef(d.Box, d.Name, "it is a replay of %s, with %s to go; nothing here touches it", d.ReplayOf, terminal.Count(d.Backlog, "message"))
		case !c.want.has(ref):
			c.unnamed(ref, d)
		}
	}
	for i := range c.have.Pauses {
		p := &c.have.Pauses[i]
		ends := ""
		if !p.Until.IsZero() {
			ends = " until " + p.Until.UTC().Format(time.RFC3339)
		}
		c.notef("", "", "%s is paused by %s%s: %s", p.String(), p.Who, ends, p.Why)
	}
}

// unnamed is a subscription that the configuration does not name.
func (c *comparison) unnamed(ref store.Ref, d *operations.SubscriptionDetail) {
	loss := operations.LossOf(d)
	text := fmt.Sprintf("a backlog of %d, %d parked and %d dead messages", d.Backlog, loss.Waiting, loss.Dead)
	if d.AddedTo != "" {
		c.notef(d.Box, d.Name, "an operator has added it for the destination %s: relays that have that work it, without the file", d.AddedTo)
	}
	if !c.options.Remove {
		c.notef(d.Box, d.Name, "it is not in the file; %s removes it, with %s", NeedsRemove, text)
		return
	}
	out := &Difference{
		Box: d.Box, Subscription: d.Name, Action: Remove, rank: removes, do: remove(ref),
		Effect: "it is not in the file, and is lost with " + text,
	}
	if len(d.Owners) > 0 && !c.paused(ref) {
		out.Needs = fmt.Sprintf("a pause, since a live relay works it (%s): postbag subscriptions pause --box %s --subscription %s", strings.Join(d.Owners, " "), d.Box, d.Name)
	}
	c.differs(out)
}

// paused says whether the subscription itself is paused. A pause of its destination is another thing: the store removes
// nothing that a live relay works then.
func (c *comparison) paused(ref store.Ref) bool {
	box := c.view(ref.Box)
	return box != nil && slices.ContainsFunc(box.Subscriptions, func(v store.SubscriptionView) bool { return v.Ref == ref && v.Paused })
}

package operations

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// The sources of settings: a time of a retention, a filter.
const (
	FromOperator   = "operator"
	FromDeployment = "deployment"
	FromDefault    = "default"
)

func retentionOf(r *store.BoxRetention) *Retention {
	if r == nil {
		return nil
	}
	l := r.Lifetimes(store.DefaultLifetime)
	from := func(operator, deployed time.Duration) string {
		switch {
		case operator != 0:
			return FromOperator
		case deployed != 0:
			return FromDeployment
		}
		return FromDefault
	}
	v := &Retention{
		Delivered: l.Delivered.Seconds(), DeliveredFrom: from(r.Operator.Delivered, r.Deployed.Delivered),
		Discarded: l.Discarded.Seconds(), DiscardedFrom: from(r.Operator.Discarded, r.Deployed.Discarded),
		DeadFrom:   from(r.Operator.Dead, r.Deployed.Dead),
		DeployedBy: r.By, DeployedAgo: r.Ago.Seconds(),
	}
	if l.Dead != store.Forever {
		dead := l.Dead.Seconds()
		v.Dead = &dead
	}
	return v
}

// InWords says what holds and where it comes from.
func (r *Retention) InWords() string {
	dead := "dead never"
	if r.Dead != nil {
		dead = "dead " + Lifetime(Seconds(*r.Dead))
	}
	return fmt.Sprintf("delivered %s (%s), discarded %s (%s), %s (%s)", Lifetime(Seconds(r.Delivered)), r.DeliveredFrom,
		Lifetime(Seconds(r.Discarded)), r.DiscardedFrom, dead, r.DeadFrom)
}

// Lifetime is a time of a retention as people write it, such as 3d or 36h.
func Lifetime(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == store.Forever:
		return "never"
	case d > 0 && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// RetentionChange is what an operator would change of a box's retention.
type RetentionChange struct {
	Box string
	// Operator is what is set: what was set before, and what is said now. Zero: it is reset.
	Operator store.Lifetimes
	// Before and After are what holds.
	Before, After store.Lifetimes
	// Messages is about how many messages of the log housekeeping would remove at once, and Dead how many are dead now, of
	// which those go that are older than After says.
	Messages, Dead int64
}

// Shorter names what would be kept for less than half as long as before. Such a change is to be confirmed.
func (c *RetentionChange) Shorter() []string {
	var out []string
	for _, f := range []struct {
		name          string
		before, after time.Duration
	}{
		{"delivered", c.Before.Delivered, c.After.Delivered}, {"discarded", c.Before.Discarded, c.After.Discarded}, {"dead", c.Before.Dead, c.After.Dead},
	} {
		if f.after < f.before/2 {
			out = append(out, fmt.Sprintf("%s messages %s instead of %s", f.name, Lifetime(f.after), keptFor(f.before)))
		}
	}
	return out
}

// keptFor says a time behind which nothing is removed in words that fit.
func keptFor(d time.Duration) string {
	if d == store.Forever {
		return "for ever"
	}
	return Lifetime(d)
}

var errNoRetainer = refusef(ErrUnsupported, "this kind of store does not hold the retention of its boxes; nothing was done")

// PreviewRetention says what would change if an operator said l, besides what operators have set. It refuses what is too short.
func (s Store) PreviewRetention(ctx context.Context, box string, l store.Lifetimes) (RetentionChange, error) {
	if l.IsZero() {
		return RetentionChange{}, refusef(ErrInvalid, "no time is given; say how long delivered, discarded or dead messages stay")
	}
	if err := l.Validate(store.LeastLifetime); err != nil {
		return RetentionChange{}, refusef(ErrInvalid, "%s", strings.TrimPrefix(err.Error(), "store: "))
	}
	return s.previewRetention(ctx, box, l.Or, l)
}

// PreviewReset says what would change if nothing were set by operators any more.
func (s Store) PreviewReset(ctx context.Context, box string) (RetentionChange, error) {
	return s.previewRetention(ctx, box, func(store.Lifetimes) store.Lifetimes { return store.Lifetimes{} }, store.Lifetimes{})
}

func (s Store) previewRetention(ctx context.Context, box string, change func(store.Lifetimes) store.Lifetimes, said store.Lifetimes) (RetentionChange, error) {
	c := RetentionChange{Box: box}
	if s.Retainer == nil {
		return c, errNoRetainer
	}
	o, err := s.Look(ctx, box)
	if err != nil {
		return c, err
	}
	if o.Boxes[0].Retention == nil {
		return c, refusef(ErrNotFound, "%s", MissingTable(box))
	}
	held := *o.Boxes[0].Retention
	c.Before = held.Lifetimes(store.DefaultLifetime)
	c.Operator = change(held.Operator)
	held.Operator = c.Operator
	if c.Operator.IsZero() && held.Ago > store.DeployHeld {
		held.Deployed = store.Lifetimes{}
	}
	c.After = held.Lifetimes(store.DefaultLifetime)
	if said.Discarded != 0 && said.Discarded < c.After.Delivered {
		return c, refusef(ErrInvalid, "discarded messages cannot be kept for %s, less than delivered ones (%s), among which they lie; the least is %s",
			Lifetime(said.Discarded), Lifetime(c.After.Delivered), Lifetime(c.After.Delivered))
	}
	if c.Operator.Discarded != 0 && c.Operator.Discarded < c.Operator.Delivered { // they are kept as long as these anyway
		c.Operator.Discarded = c.Operator.Delivered
	}
	for i := range o.Boxes[0].Subscriptions {
		c.Dead += o.Boxes[0].Subscriptions[i].Parked[store.ParkDead]
	}
	c.Messages, err = s.Retainer.Expired(ctx, box, c.After)
	return c, err
}

// SetRetention sets what a preview says.
func (s Store) SetRetention(ctx context.Context, a store.Audit, c *RetentionChange) error {
	if s.Retainer == nil {
		return errNoRetainer
	}
	if err := ValidAudit(a); err != nil {
		return err
	}
	return s.Retainer.SetRetention(ctx, a, c.Box, c.Operator)
}

package storekit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// RetentionRow is how a store keeps a store.BoxRetention. Times are in microseconds: zero
// is nothing, and forever is for ever. At is when a relay said Deployed last, since 1970.
type RetentionRow struct {
	Operator, Deployed [3]int64
	At                 int64
	By                 string
}

// forever is store.Forever in a row.
const forever = -1

// Dest returns where the columns are scanned to, in sequence: delivered, discarded and dead
// of operators, the same of relays, At, By.
func (r *RetentionRow) Dest() []any {
	o, d := &r.Operator, &r.Deployed
	return []any{&o[0], &o[1], &o[2], &d[0], &d[1], &d[2], &r.At, &r.By}
}

// Args returns the columns in the same sequence.
func (r *RetentionRow) Args() []any {
	o, d := &r.Operator, &r.Deployed
	return []any{o[0], o[1], o[2], d[0], d[1], d[2], r.At, r.By}
}

// View returns what the row says at a time, in microseconds since 1970.
func (r *RetentionRow) View(now int64) store.BoxRetention {
	v := store.BoxRetention{Operator: lifetimesOf(r.Operator), Deployed: lifetimesOf(r.Deployed), By: r.By}
	if r.At > 0 {
		v.Ago = time.Duration(max(now-r.At, 0)) * time.Microsecond
	}
	return v
}

// Lifetimes returns what holds. def is how long a delivered message stays if nobody says.
func (r *RetentionRow) Lifetimes(def time.Duration) store.Lifetimes {
	v := r.View(0)
	return v.Lifetimes(def)
}

func lifetimesOf(row [3]int64) store.Lifetimes {
	var out [3]time.Duration
	for i, micros := range row {
		switch {
		case micros == forever:
			out[i] = store.Forever
		case micros > 0:
			out[i] = time.Duration(min(micros, math.MaxInt64/1000-1)) * time.Microsecond
		}
	}
	return store.Lifetimes{Delivered: out[0], Discarded: out[1], Dead: out[2]}
}

func rowOf(l store.Lifetimes) (row [3]int64) {
	for i, d := range []time.Duration{l.Delivered, l.Discarded, l.Dead} {
		switch {
		case d == store.Forever:
			row[i] = forever
		case d > 0:
			row[i] = max(d.Microseconds(), 1)
		}
	}
	return row
}

// RetentionChange is what becomes of a row.
type RetentionChange struct {
	Row RetentionRow
	// Write: the row is another one than before.
	Write bool
	// Audit and What go to the audit log. What is empty: nothing does.
	Audit store.Audit
	What  string
	// Once: they go there only if no notice of the box says the same.
	Once bool
}

// SetRetention is what becomes of a row if an operator sets lifetimes.
func SetRetention(r RetentionRow, box string, now int64, a store.Audit, l store.Lifetimes) (RetentionChange, error) {
	if err := errors.Join(CheckAudit(a), l.Validate(time.Microsecond)); err != nil {
		return RetentionChange{}, err
	}
	c := RetentionChange{Row: r, Write: true, Audit: a}
	c.Row.Operator = rowOf(l)
	if l.IsZero() && now-r.At > store.DeployHeld.Microseconds() {
		c.Row.Deployed, c.Row.At, c.Row.By = [3]int64{}, 0, ""
	}
	c.What = fmt.Sprintf("set the retention of %s: %s; before: %s", box, textOf(&c.Row), textOf(&r))
	if l.IsZero() {
		c.What = fmt.Sprintf("reset the retention of %s: %s; before: %s", box, textOf(&c.Row), textOf(&r))
	}
	return c, nil
}

// confirmAfter is how old the last word of a relay is before another one is written.
const confirmAfter = time.Minute

// DeployRetention is what becomes of a row if a relay says what it has deployed.
func DeployRetention(r RetentionRow, now int64, d *store.Deployment) (RetentionChange, error) {
	c := RetentionChange{Row: r}
	if err := d.Lifetimes.Validate(time.Microsecond); err != nil || d.Lifetimes.IsZero() {
		return c, err
	}
	said, held := rowOf(d.Lifetimes), lifetimesOf(r.Deployed)
	relay := cmp.Or(d.Relay, "unknown")
	switch {
	case said == r.Deployed:
		if c.Write = now-r.At > confirmAfter.Microseconds(); !c.Write {
			return c, nil
		}
	case held.IsZero(), longer(d.Lifetimes, held), now-r.At > store.DeployHeld.Microseconds():
		c.Write, c.Row.Deployed = true, said
		c.Audit = store.Audit{Who: "relay " + relay, Why: "its configuration says so"}
		c.What = fmt.Sprintf("deploy the retention of %s: %s; before: %s", d.Box, textOf(&c.Row), textOf(&r))
	case d.Refused > 0 && r.At > now-d.Refused.Microseconds():
		c.Audit = store.Audit{Who: Itself, Why: "relays disagree: give them the same configuration, or use postbag retention set"}
		c.What = fmt.Sprintf("%s%s: the retention %s, since another relay says %s", keeping, d.Box, LifetimesText(held), LifetimesText(d.Lifetimes))
		c.Once = true
		return c, nil
	default:
		return c, nil
	}
	c.Row.At, c.Row.By = now, relay
	return c, nil
}

// longer says whether l keeps nothing for less time than held does.
func longer(l, held store.Lifetimes) bool {
	a := (&store.BoxRetention{Deployed: l}).Lifetimes(store.DefaultLifetime)
	b := (&store.BoxRetention{Deployed: held}).Lifetimes(store.DefaultLifetime)
	return a.Delivered >= b.Delivered && a.Discarded >= b.Discarded && a.Dead >= b.Dead
}

func textOf(r *RetentionRow) string { return LifetimesText(r.Lifetimes(store.DefaultLifetime)) }

// LifetimesText says lifetimes in words. What is not said is left out.
func LifetimesText(l store.Lifetimes) string {
	var words []string
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"delivered", l.Delivered}, {"discarded", l.Discarded}, {"dead", l.Dead}} {
		switch f.d {
		case 0:
		case store.Forever:
			words = append(words, f.name+" for ever")
		default:
			words = append(words, f.name+" "+f.d.String())
		}
	}
	return strings.Join(words, ", ")
}

// NoteEvery is how often a store notes what all subscriptions have passed, so that it can
// tell later what they had passed keep ago, and longest ago: about a hundred notes cover
// keep or a minute apart, and there are no more than some ten thousand.
func NoteEvery(keep, longest time.Duration) time.Duration {
	return max(min(keep/128, time.Minute), longest/20_000)
}

// Of dead messages: how many one look of housekeeping goes through, how many commands it
// queues at once, and how many may wait already.
const (
	ExpireLook = 1000
	ExpireMost = 500
	ExpireWait = 1000
)

// ExpireAudit is who discards dead messages whose time is over, and why.
func ExpireAudit(dead time.Duration) store.Audit {
	return store.Audit{Who: Itself, Why: "dead for more than " + dead.String() + ", the retention of the box"}
}

// SweepMost is how many rows of a subscription that is gone one transaction deletes, or about as many.
const SweepMost = 1000

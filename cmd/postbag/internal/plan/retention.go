package plan

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// lifetime is one of the times of a retention.
type lifetime struct {
	name string
	of   func(*store.Lifetimes) *time.Duration
}

var lifetimes = []lifetime{
	{"delivered", func(l *store.Lifetimes) *time.Duration { return &l.Delivered }},
	{"discarded", func(l *store.Lifetimes) *time.Duration { return &l.Discarded }},
	{"dead", func(l *store.Lifetimes) *time.Duration { return &l.Dead }},
}

// fits returns what a configuration says of the retention of a box, as the store takes it from a relay: discarded messages lie
// among delivered ones, and are kept as long as those at least.
func fits(w store.Lifetimes, r *store.BoxRetention) store.Lifetimes {
	if w.Discarded != 0 {
		b := store.BoxRetention{Operator: w.Or(r.Operator), Deployed: r.Deployed}
		w.Discarded = b.Lifetimes(store.DefaultLifetime).Discarded
	}
	return w
}

// retentionTexts are the times that the configuration says and the box does not hold: as they are, and as they are wanted.
func retentionTexts(r *store.BoxRetention, want store.Lifetimes) (have, wanted string) {
	holds, want := r.Lifetimes(store.DefaultLifetime), fits(want, r)
	var are, be []string
	for _, l := range lifetimes {
		if w, h := *l.of(&want), *l.of(&holds); w != 0 && w != h {
			are, be = append(are, l.name+" "+operations.Lifetime(h)), append(be, l.name+" "+operations.Lifetime(w))
		}
	}
	return strings.Join(are, ", "), strings.Join(be, ", ")
}

// retention compares how long messages of a box stay.
func (c *comparison) retention(ctx context.Context, w *Box, have *store.BoxView) error {
	r := have.Retention
	texts, wanted := retentionTexts(r, w.Retention)
	if texts == wanted {
		return c.unsaid(ctx, w, r)
	}
	p, err := c.target.operations().PreviewRetention(ctx, w.Name, fits(w.Retention, r))
	if err != nil {
		return err
	}
	by, err := c.retentionBy(ctx, w.Name, r)
	if err != nil {
		return err
	}
	d := &Difference{Box: w.Name, Action: Change, Setting: "retention", rank: keepsLonger, Have: texts, Want: wanted, By: by}
	short := shorter(&p)
	if short {
		d.rank = keepsShorter
		d.Effect = fmt.Sprintf("the next housekeeping would remove about %s of the log", terminal.Count(p.Messages, "message"))
		if p.Dead > 0 && p.After.Dead != store.Forever {
			d.Effect += fmt.Sprintf(", and discard those of %d dead ones that are older", p.Dead)
		}
		if have.Rows > 0 || p.Dead > 0 { // there is something to lose
			d.Needs = needs(NeedsRemove, c.options.Remove)
		}
	}
	d.do = setRetention(w, short, c.options.Remove)
	c.differs(d)
	return nil
}

// shorter says that something would be kept for less time than before.
func shorter(p *operations.RetentionChange) bool {
	for _, l := range lifetimes {
		if *l.of(&p.After) < *l.of(&p.Before) {
			return true
		}
	}
	return false
}

// unsaid notes what an operator has set of a retention of which the configuration says nothing.
func (c *comparison) unsaid(ctx context.Context, w *Box, r *store.BoxRetention) error {
	var set []string
	for _, l := range lifetimes {
		if d := *l.of(&r.Operator); d != 0 && *l.of(&w.Retention) == 0 {
			set = append(set, l.name+" "+operations.Lifetime(d))
		}
	}
	if len(set) == 0 {
		return nil
	}
	by, err := c.retentionBy(ctx, w.Name, r)
	c.notef(w.Name, "", "the retention is %s by %s, and the file does not say it; postbag retention reset ends that", strings.Join(set, ", "), by)
	return err
}

// auditedLines is how far back the audit log is looked through for who set a retention.
const auditedLines = 1000

// retentionBy says who set the retention of a box: an operator, as far as the latest audit log tells, or a relay.
func (c *comparison) retentionBy(ctx context.Context, box string, r *store.BoxRetention) (string, error) {
	if r.Operator.IsZero() {
		if r.By == "" {
			return "", nil
		}
		return "relay " + r.By, nil
	}
	if c.audited == nil {
		var err error
		if c.audited, err = c.target.operations().Audited(ctx, auditedLines); err != nil {
			return "", err
		}
	}
	for _, line := range c.audited {
		if strings.HasPrefix(line.What, "set the retention of "+box+": ") {
			return operator(line.Who), nil
		}
	}
	return "an operator", nil
}

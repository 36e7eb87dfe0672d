package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// retention returns what the options say of a box.
func (o *Options) retention(box string) store.Lifetimes {
	l := o.Boxes[box].Retention.Or(store.Lifetimes{Delivered: o.Keep})
	for _, d := range []*time.Duration{&l.Delivered, &l.Discarded, &l.Dead} {
		if *d != store.Forever {
			*d = d.Truncate(time.Microsecond)
		}
	}
	return l
}

// validRetention reports what is wrong with the retention of a box.
func (o *Options) validRetention(box string) error {
	said := o.Boxes[box].Retention
	if said.IsZero() {
		return nil
	}
	err := said.Validate(store.LeastLifetime)
	if err == nil {
		err = said.Or(store.Lifetimes{Delivered: o.Keep}).Validate(time.Microsecond)
	}
	if err != nil {
		return fmt.Errorf("relay: Boxes[%.64q].Retention: %w", box, err)
	}
	return nil
}

// validKeep reports whether Keep is out of its range.
func (o *Options) validKeep() error {
	const least, most = time.Second, 100 * 365 * 24 * time.Hour
	if o.Keep != 0 && (o.Keep < least || o.Keep > most) {
		return fmt.Errorf("relay: Keep is %v; choose between %v and %v", o.Keep, least, most)
	}
	return nil
}

// deployment is what the relay says of the retention of a box, and what came of that.
type deployment struct {
	box  string
	says store.Lifetimes

	next      time.Duration // when it is said again
	busy      bool
	refused   bool
	since     time.Time // of the first refusal
	overruled bool      // by an operator, and that is in the log
}

// deployments returns those of all boxes of which the options say something.
func deployments(o *Options) []*deployment {
	var all []*deployment
	seen := make(map[string]bool)
	for i := range o.Subscriptions {
		if o.Subscriptions[i].Replay != nil {
			continue // it is there for a while, and the box's relays say what holds
		}
		box := o.Subscriptions[i].ref().Box
		if says := o.retention(box); !seen[box] && !says.IsZero() {
			all = append(all, &deployment{box: box, says: says})
		}
		seen[box] = true
	}
	return all
}

// deployAll says what is deployed, before anything is maintained.
func (l *loop) deployAll(ctx context.Context) error {
	retainer, ok := l.store.(store.Retainer)
	if !ok {
		return nil
	}
	for _, d := range l.deployed {
		v, err := retainer.DeployRetention(ctx, d.word(l.options.Name))
		if err != nil {
			return fmt.Errorf("say the retention of box %s: %w", d.box, err)
		}
		l.retained(d, &v)
	}
	return nil
}

// word is what the relay says.
func (d *deployment) word(relay string) store.Deployment {
	out := store.Deployment{Box: d.box, Relay: relay, Lifetimes: d.says}
	if d.refused {
		out.Refused = time.Since(d.since)
	}
	return out
}

// deployAgain says it again when it is time: other relays cannot replace it meanwhile.
func (l *loop) deployAgain(now time.Duration) {
	retainer, ok := l.store.(store.Retainer)
	if !ok || l.ending {
		return
	}
	for _, d := range l.deployed {
		if d.busy || now < d.next {
			continue
		}
		d.busy = true
		word := d.word(l.options.Name)
		l.start(func() func() {
			ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
			defer cancel()
			v, err := retainer.DeployRetention(ctx, word)
			return func() {
				d.busy = false
				if err != nil {
					d.next = l.now() + deployRetry
					l.heard(err)
					return
				}
				l.retained(d, &v)
			}
		})
	}
}

// deployRetry is the pause after a word that the store did not take.
const deployRetry = time.Minute

// retained takes what the box holds now.
func (l *loop) retained(d *deployment, v *store.BoxRetention) {
	d.next = l.now() + store.DeployEvery
	holds := v.Lifetimes(store.DefaultLifetime)
	refused := v.Deployed != d.says
	if refused && !d.refused {
		d.since = time.Now()
		l.log.retentionRefused(d, v)
	}
	if d.refused && !refused {
		l.log.logger.Info("relay: the box has the retention that this relay's configuration says", "box", d.box, "retention", storekit.LifetimesText(holds))
	}
	d.refused = refused
	overruled := v.Operator.Or(d.says) != d.says.Or(v.Operator)
	if overruled && !d.overruled {
		l.log.logger.Warn("relay: an operator has set another retention than this relay's configuration says",
			"box", d.box, "retention", storekit.LifetimesText(holds), "configured", storekit.LifetimesText(d.says))
	}
	d.overruled = overruled
}

// retentionRefused warns that the box goes by another relay's configuration.
func (j *journal) retentionRefused(d *deployment, v *store.BoxRetention) {
	j.logger.Warn("relay: the box keeps the retention of another relay, because this one's is shorter; it changes an hour after the other was last heard",
		"box", d.box, "retention", storekit.LifetimesText(v.Deployed), "configured", storekit.LifetimesText(d.says), "by", v.By)
}

// keepOf is how long the relay has delivered messages kept if the box says nothing. A store whose
// boxes hold their retention has what this relay says already.
func (l *loop) keepOf(box string) time.Duration {
	if _, ok := l.store.(store.Retainer); ok {
		return store.DefaultLifetime
	}
	if d := l.options.retention(box).Delivered; d > 0 {
		return d
	}
	return store.DefaultLifetime
}

// upkeepExpired says how many dead messages housekeeping has discarded.
func (j *journal) upkeepExpired(box string, n int64) {
	if n > 0 {
		j.logger.Info("relay: dead messages are discarded, because their time is over", "box", box, "messages", n)
	}
}

var errNoRetainer = errors.New("relay: the store keeps no retention of its own: Discarded and Dead of Boxes[...].Retention have no effect; use one of Postbag's stores, or leave them out")

// retains reports what the store cannot do.
func (o *Options) retains(s store.Store) error {
	if _, ok := s.(store.Retainer); ok || s == nil {
		return nil
	}
	for _, b := range o.Boxes {
		if b.Retention.Discarded != 0 || b.Retention.Dead != 0 {
			return errNoRetainer
		}
	}
	return nil
}

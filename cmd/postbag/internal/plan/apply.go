package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// step does what a difference needs.
type step func(ctx context.Context, t *Target, a store.Audit) error

// Apply does what the plan may do, in its sequence, and tells told of each difference that has
// come to an end. It stops at the first error, which says what was done and what was not. Each
// difference has its Outcome then. It may be run again.
func (p *Plan) Apply(ctx context.Context, targets []*Target, a store.Audit, told func(*Difference)) error {
	ready := p.Ready()
	for _, d := range p.Differences {
		if d.Outcome = NotDone; d.Needs != "" {
			d.Outcome = Left
		}
	}
	for i, d := range ready {
		t := targets[slices.IndexFunc(targets, func(t *Target) bool { return t.Name == d.Store })]
		err := ctx.Err()
		if err == nil {
			err = d.do(ctx, t, a)
		}
		if err != nil {
			d.Outcome = Failed
			return stopped(ready, i, named(d.Store, err))
		}
		d.Outcome = Done
		told(d)
	}
	return nil
}

// stopped says what was done and what was not when a step failed.
func stopped(ready []*Difference, at int, err error) error {
	text := fmt.Errorf("apply stopped: %s: %w; %d of %d were done", ready[at].Summary(), err, at, len(ready))
	if at+1 < len(ready) {
		var rest []string
		for _, d := range ready[at+1:] {
			rest = append(rest, d.Summary())
		}
		text = fmt.Errorf("%w; not done: %s", text, strings.Join(rest, "; "))
	}
	return exit.With(exit.Of(err), fmt.Errorf("%w; correct that and run apply again, which goes on with the rest", text))
}

// Summary is what a difference does, in a few words.
func (d *Difference) Summary() string {
	words := []string{d.Action, "box", d.Of()}
	switch {
	case d.Action == Migrate:
		words = []string{"migrate the schema"}
	case d.Setting != "":
		words = []string{"change", d.Setting, "of", d.Of()}
	case d.Subscription != "":
		words = []string{d.Action, "subscription", d.Of()}
	}
	if d.Store != "" {
		words = append(words, "in store", d.Store)
	}
	return strings.Join(words, " ")
}

// named says in which store an error was.
func named(name string, err error) error {
	if name == "" {
		return err
	}
	return fmt.Errorf("store %s: %w", name, err)
}

// migrate brings the schema up to date.
func migrate(ctx context.Context, t *Target, _ store.Audit) error {
	if err := t.reopen(ctx, component.StoreOptions{Create: true, Unmigrated: true}); err != nil {
		return err
	}
	if _, err := t.open.Schema().Up(ctx, nil); err != nil {
		return err
	}
	return t.reopen(ctx, component.StoreOptions{})
}

func createBox(name string) step {
	return func(ctx context.Context, t *Target, _ store.Audit) error {
		if err := t.ready(); err != nil {
			return err
		}
		return t.open.Migrator.CreateBox(ctx, name)
	}
}

// errDeclared says that a subscription was left out, since its name was removed after the plan was made.
var errDeclared = errors.New("it is not declared: somebody removed it meanwhile; plan again")

// declare adds a subscription as postbag subscriptions add does, and first lets it be made if somebody removed one of its name.
func declare(w *Subscription, readmit bool) step {
	return func(ctx context.Context, t *Target, a store.Audit) error {
		if err := t.ready(); err != nil {
			return err
		}
		spec, err := w.spec(time.Now())
		if err != nil {
			return err
		}
		if readmit {
			if err := t.operations().Readmit(ctx, a, spec.Ref); err != nil && !errors.Is(err, store.ErrNoSubscription) {
				return err
			}
		} else if err := notRemoved(ctx, t, spec.Ref); err != nil {
			return err
		}
		err = t.operations().Add(ctx, a, spec)
		if errors.Is(err, operations.ErrExists) { // somebody declared it meanwhile, perhaps with another filter
			err = t.open.Declare(ctx, []store.Spec{spec})
		}
		return err
	}
}

// notRemoved returns errDeclared if somebody removed a subscription of a name: to add it would forget that.
func notRemoved(ctx context.Context, t *Target, r store.Ref) error {
	o, err := t.operations().Look(ctx, r.Box)
	if err == nil && slices.ContainsFunc(o.Boxes[0].Removed, func(gone store.Removed) bool { return gone.Name == r.Subscription }) {
		err = errDeclared
	}
	return err
}

func changeProperty(p *property, w *Subscription) step {
	return func(ctx context.Context, t *Target, a store.Audit) error { return p.change(ctx, t.operations(), a, w) }
}

// errShorter says that a retention would be shorter than it was when the plan was made.
var errShorter = errors.New("messages would be kept for less time than the plan says: somebody changed the retention meanwhile; plan again")

// setRetention says of a box what the configuration says, and keeps what operators have set besides.
func setRetention(w *Box, mayShorten, mayRemove bool) step {
	return func(ctx context.Context, t *Target, a store.Audit) error {
		if err := t.ready(); err != nil {
			return err
		}
		o, err := t.operations().Look(ctx, w.Name)
		if err != nil {
			return err
		}
		want := w.Retention
		if r := o.Boxes[0].Retention; r != nil {
			want = fits(want, r)
		}
		p, err := t.operations().PreviewRetention(ctx, w.Name, want)
		if err != nil {
			return err
		}
		if shorter(&p) && (!mayShorten || !mayRemove && (p.Messages > 0 || p.Dead > 0)) {
			return errShorter
		}
		return t.operations().SetRetention(ctx, a, &p)
	}
}

func remove(ref store.Ref) step {
	return func(ctx context.Context, t *Target, a store.Audit) error {
		err := t.operations().Remove(ctx, a, ref, false)
		if errors.Is(err, store.ErrNoSubscription) || errors.Is(err, operations.ErrNotFound) {
			return nil // it is gone already
		}
		return err
	}
}

package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Target is a store that is compared, with what the configuration says of it.
type Target struct {
	// Name is its name in the configuration. Empty: there is one store.
	Name string
	// Kind is its kind's name.
	Kind string
	Want Wanted

	where   config.Store
	open    *component.Store // nil: the file of the database is not there
	version int
	missing []store.Step
}

// Open opens the store that settings name, as it is: nothing is made. Close it.
func Open(ctx context.Context, name string, where config.Store, want Wanted) (*Target, error) {
	dsn, err := component.DSN(where)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s: %w", where.Place(), err))
	}
	where.Create, where.DSN = false, dsn // a pipe can be read once
	t := &Target{Name: name, Want: want, where: where}
	if kind, absent := component.Absent(where); absent {
		steps, err := component.Script(kind, 0, nil, nil)
		t.Kind, t.missing = kind, steps
		return t, err
	}
	err = t.reopen(ctx, component.StoreOptions{})
	if !errors.Is(err, store.ErrSchema) {
		return t, err
	}
	if e := t.reopen(ctx, component.StoreOptions{Unmigrated: true}); e != nil {
		return t, errors.Join(err, e)
	}
	state, e := t.open.Schema().State(ctx)
	t.version, t.missing = state.Version, state.Missing
	if e == nil && len(t.missing) > 0 {
		return t, nil
	}
	return t, errors.Join(err, e, t.Close()) // the schema is too new
}

// reopen opens the store again, in another way.
func (t *Target) reopen(ctx context.Context, o component.StoreOptions) error {
	if err := t.Close(); err != nil {
		return err
	}
	s, err := component.OpenStore(ctx, t.where, o)
	if err != nil {
		return err
	}
	t.open, t.Kind, t.version, t.missing = s, s.Kind, 1, nil
	return nil
}

// Close frees what was opened.
func (t *Target) Close() error {
	if t.open == nil {
		return nil
	}
	err := t.open.Close()
	t.open = nil
	return err
}

func (t *Target) operations() operations.Store { return t.open.Operations() }

// errNoStore says that a step needs a store that is not there yet.
var errNoStore = errors.New("plan: the store has no schema yet; run postbag migrate up")

// ready refuses a step of a store that was not made.
func (t *Target) ready() error {
	if t.open == nil || len(t.missing) > 0 {
		return exit.With(exit.Schema, errNoStore)
	}
	return nil
}

// Compare returns the plan of all targets.
func Compare(ctx context.Context, targets []*Target, o Options) (*Plan, error) {
	p := &Plan{Differences: []*Difference{}, Notes: []Note{}}
	for _, t := range targets {
		differences, notes, err := compare(ctx, t, o)
		if err != nil {
			return nil, named(t.Name, err)
		}
		p.add(t.Name, differences, notes)
	}
	return p, nil
}

// Again says that one plan of the targets is not all: what an old schema hides can be compared only after its migration.
func Again(targets []*Target, o Options) bool {
	return o.Migrate && slices.ContainsFunc(targets, func(t *Target) bool { return t.version > 0 && len(t.missing) > 0 })
}

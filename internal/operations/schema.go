package operations

import (
	"context"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Schema is what operations need to make and update a store's schema.
type Schema struct {
	store.Migrator
	// Inspector says which boxes there are.
	Inspector store.Inspector
}

// Up brings the schema up to date, makes boxes, and returns the steps that it took. A name that no box can have is an error, and
// nothing is done.
func (s Schema) Up(ctx context.Context, boxes []string) ([]string, error) {
	for _, box := range boxes {
		if err := postbag.ValidBox(box); err != nil {
			return nil, &refusal{ErrInvalid, err.Error()}
		}
	}
	steps, err := s.Migrate(ctx)
	if err != nil {
		return nil, err
	}
	for _, box := range boxes {
		if err := s.CreateBox(ctx, box); err != nil {
			return steps, err
		}
	}
	return steps, nil
}

// SchemaState is how far a schema is.
type SchemaState struct {
	// Version is that of the schema; zero: there is none.
	Version int
	// Missing are the steps to come.
	Missing []store.Step
}

// State returns how far the schema is.
func (s Schema) State(ctx context.Context) (SchemaState, error) {
	version, steps, err := s.Pending(ctx)
	return SchemaState{version, steps}, err
}

// Names are the names of the steps that are missing.
func (s *SchemaState) Names() []string {
	names := make([]string, len(s.Missing))
	for i := range s.Missing {
		names[i] = s.Missing[i].Name
	}
	return names
}

// Err is store.ErrSchema if a step is missing.
func (s *SchemaState) Err() error {
	switch n := len(s.Missing); n {
	case 0:
		return nil
	case 1:
		return refusef(store.ErrSchema, "the schema lacks 1 step; run postbag migrate up")
	default:
		return refusef(store.ErrSchema, "the schema lacks %d steps; run postbag migrate up", n)
	}
}

// Script is all that makes the schema and boxes in an empty database of a store's kind. What makes a box has no version.
type Script func(boxes []string) ([]store.Step, error)

// Missing returns the steps that the store lacks, and those that make the boxes that are not there.
func (s Schema) Missing(ctx context.Context, boxes []string, script Script) ([]store.Step, error) {
	state, err := s.State(ctx)
	if err != nil || len(boxes) == 0 {
		return state.Missing, err
	}
	if state.Version > 0 {
		o, err := s.Inspector.Overview(ctx)
		if err != nil {
			return nil, err
		}
		boxes = slices.DeleteFunc(slices.Clone(boxes), func(box string) bool {
			return slices.ContainsFunc(o.Boxes, func(b store.BoxView) bool { return b.Name == box })
		})
	}
	all, err := script(boxes)
	return append(state.Missing, slices.DeleteFunc(all, func(s store.Step) bool { return s.Version > 0 })...), err
}

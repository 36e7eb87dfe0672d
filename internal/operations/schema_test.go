package operations_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// lagging is a store whose schema lacks steps.
type lagging struct {
	*memstore.Store

	version int
	missing []store.Step
}

func (l *lagging) Pending(context.Context) (int, []store.Step, error) {
	return l.version, l.missing, nil
}

func (l *lagging) Migrate(context.Context) (names []string, err error) {
	for _, s := range l.missing {
		names = append(names, s.Name)
		l.version = s.Version
	}
	l.missing = nil
	return names, nil
}

func schemaOf(l *lagging) operations.Schema {
	return operations.Schema{Migrator: l, Inspector: l}
}

// script writes two steps, and one for each box.
func script(boxes []string) ([]store.Step, error) {
	steps := []store.Step{{Version: 1, Name: "begin"}, {Version: 2, Name: "go on"}}
	for _, box := range boxes {
		steps = append(steps, store.Step{Name: box})
	}
	return steps, nil
}

func names(steps []store.Step) string {
	all := make([]string, len(steps))
	for i := range steps {
		all[i] = steps[i].Name
	}
	return strings.Join(all, ", ")
}

func TestASchemaSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	l := &lagging{Store: memstore.New(memstore.Options{})}
	s := schemaOf(l)
	l.missing, _ = script(nil)
	state, err := s.State(t.Context())
	if err != nil || state.Version != 0 || !slices.Equal(state.Names(), []string{"begin", "go on"}) {
		t.Errorf("an empty database: %+v, %v", state, err)
	}
	if err := state.Err(); !errors.Is(err, store.ErrSchema) || err.Error() != "the schema lacks 2 steps; run postbag migrate up" {
		t.Errorf("it says %v", err)
	}
	if one := (&operations.SchemaState{Missing: l.missing[:1]}).Err(); !errors.Is(one, store.ErrSchema) || !strings.Contains(one.Error(), "lacks 1 step;") {
		t.Errorf("of one step it says %v", one)
	}
	if _, err := s.Up(t.Context(), []string{"outbox", "no box"}); !errors.Is(err, operations.ErrInvalid) || l.version != 0 {
		t.Errorf("a name that no box can have: %v, and the schema has version %d", err, l.version)
	}
	if steps, err := s.Up(t.Context(), []string{"outbox", "outbox"}); err != nil || !slices.Equal(steps, []string{"begin", "go on"}) {
		t.Errorf("it took %v: %v", steps, err)
	}
	if state, err = s.State(t.Context()); err != nil || state.Err() != nil || state.Version != 2 {
		t.Errorf("after it: %+v, %v", state, err)
	}
}

// What is printed for a store is what that store lacks: of its boxes, those that are not there.
func TestWhatAStoreLacksHasNoBoxThatIsThere(t *testing.T) {
	t.Parallel()
	l := &lagging{Store: memstore.New(memstore.Options{})}
	s := schemaOf(l)
	l.missing, _ = script(nil)
	lacks := func(want string, boxes ...string) {
		t.Helper()
		steps, err := s.Missing(t.Context(), boxes, script)
		if err != nil || names(steps) != want {
			t.Errorf("it lacks %s (%v), want %s", names(steps), err, want)
		}
	}
	lacks("begin, go on")
	lacks("begin, go on, outbox, orders", "outbox", "orders")
	if _, err := s.Up(t.Context(), []string{"outbox"}); err != nil {
		t.Fatal(err)
	}
	lacks("", "outbox")
	lacks("orders", "outbox", "orders")
	no := errors.New("no script")
	if _, err := s.Missing(t.Context(), []string{"more"}, func([]string) ([]store.Step, error) { return nil, no }); !errors.Is(err, no) {
		t.Errorf("without a script: %v", err)
	}
}

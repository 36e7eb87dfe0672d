package storetest

import (
	"testing"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// TestFalselyDeclaredFeaturesAreCaught declares what is not so, and sees it caught.
func TestFalselyDeclaredFeaturesAreCaught(t *testing.T) {
	t.Parallel()
	concurrent := store.Features{ConcurrentWriters: true, Prepared: true, Savepoints: true, Conditions: true, Editing: true, HeldTopics: true, DeadLetters: true, SlotRules: true}
	single := store.Features{Savepoints: true, OneGroup: true, Conditions: true, Editing: true, HeldTopics: true, DeadLetters: true, SlotRules: true}
	for _, c := range []struct {
		name     string
		declared store.Features
		options  memstore.Options
		caught   []string
	}{
		{"one writer is declared, two can write", single, memstore.Options{}, []string{
			"Check reports the features that the harness declares",
			"The harness has what the features ask for, and no more",
			"Without concurrent writers a second transaction waits for the first",
			"A new subscription has as many shards as the store's grouping says",
		}},
		{"two writers are declared, one can write", concurrent, memstore.Options{SingleWriter: true}, []string{
			"Check reports the features that the harness declares",
			"With concurrent writers two transactions write at a time",
			"A new subscription has as many shards as the store's grouping says",
		}},
		{"partitions are declared, there are none", with(concurrent, func(f *store.Features) { f.Partitions = true }), memstore.Options{}, []string{
			"Without partitions Maintain adds none, with them it makes room",
		}},
		{"no conditions are declared, they are kept", with(concurrent, func(f *store.Features) { f.Conditions = false }), memstore.Options{}, []string{
			"Check reports the features that the harness declares",
			"Without conditions a view shows none",
		}},
		{"no held topics are declared, there are some", with(concurrent, func(f *store.Features) { f.HeldTopics = false }), memstore.Options{}, []string{
			"Check reports the features that the harness declares",
			"Without held topics none are named",
		}},
		{"no savepoints are declared, there are some", with(concurrent, func(f *store.Features) { f.Savepoints = false }), memstore.Options{}, []string{
			"The harness has what the features ask for, and no more",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := harness(300*time.Millisecond, func(*database) {})
			h.Features = c.declared
			h.New = func(testing.TB) *database { return referenceOf(c.options) }
			for _, s := range cases() {
				for _, name := range c.caught {
					if s.name != name {
						continue
					}
					if !s.applies(c.declared) {
						t.Errorf("the case %q is not run", name)
					}
					if r := record(t, func(tb testing.TB) { s.run(newEnv(tb, h)) }); !r.failed {
						t.Errorf("the case %q passes", name)
					}
				}
			}
		})
	}
}

func with(f store.Features, change func(*store.Features)) store.Features {
	change(&f)
	return f
}

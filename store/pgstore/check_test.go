package pgstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

func TestASequenceWithUnsafeOptionsIsRefused(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(5, "a")...)
	refused := func(what, words string) {
		t.Helper()
		if _, err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("a sequence %s is checked with %v", what, err)
		}
	}
	s.exec("SELECT setval('postbag.outbox__seq', 4)")
	refused("that was set back below the highest row", "was set back")
	s.exec("SELECT setval('postbag.outbox__seq', 5)")
	if _, err := s.Check(t.Context()); err != nil {
		t.Errorf("a sequence that stands at the highest row is checked with %v", err)
	}
	s.exec("ALTER SEQUENCE postbag.outbox__seq CACHE 10")
	refused("that gives each session numbers of its own", "CACHE 10")
	s.exec("ALTER SEQUENCE postbag.outbox__seq CACHE 1 INCREMENT -1 MINVALUE 1 MAXVALUE 1000")
	refused("that counts down", "INCREMENT -1")
	s.exec("ALTER SEQUENCE postbag.outbox__seq INCREMENT 1 CYCLE")
	refused("that begins again", "CYCLE")
}

func TestUnsafeServerSettingsAreWarnedOf(t *testing.T) {
	t.Parallel()
	dsn := shared.Database(t)
	f := newFixture(t, dsn)
	warned := func(f *fixture) bool {
		info, err := f.Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(strings.Join(info.Warnings, "\n"), "synchronous_commit is off")
	}
	if warned(f) {
		t.Error("synchronous_commit is said to be off, and is on")
	}
	if _, err := f.plain.Exec(t.Context(), `ALTER DATABASE "`+f.name+`" SET synchronous_commit = off`); err != nil {
		t.Fatal(err)
	}
	if !warned(newFixture(t, dsn)) { // its sessions begin with the new setting
		t.Error("nothing is said of synchronous_commit")
	}
}

func TestASchemaThatNeedsANewerProgramIsRefused(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec("UPDATE postbag._meta SET reader = 30000")
	if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrSchema) {
		t.Errorf("it is checked with %v", err)
	}
	s.exec("DELETE FROM postbag._life") // as such a migration does
	if _, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{boxtest.Request(outbox, s.At, 10)}}); !errors.Is(err, store.ErrSchema) {
		t.Errorf("one that was at work when it was migrated goes on with %v", err)
	}
	s.exec("UPDATE postbag._meta SET reader = 2")
	if _, err := s.Check(t.Context()); err != nil {
		t.Errorf("one that does not is checked with %v", err)
	}
}

// A program from before commands for pending messages would delete them, and does not know held ones.
func TestAProgramOlderThanTheSchemaIsRefused(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	const known = 1 // by the program that took the first two steps
	if got := s.number("SELECT reader FROM postbag._meta"); got <= known {
		t.Errorf("the schema takes programs that know version %d", got)
	}
}

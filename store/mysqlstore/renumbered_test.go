package mysqlstore_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// emptied are the ways in which an owner empties a log and begins its numbering again.
var emptied = map[string][]string{
	"truncated":                        {"TRUNCATE TABLE postbag_outbox"},
	"rows deleted, numbering set back": {"DELETE FROM postbag_outbox", "ALTER TABLE postbag_outbox AUTO_INCREMENT = 1"},
}

// What was put into a log that was emptied is delivered, however much it is and
// wherever its seqs have holes, no matter who looks first: the relay that was at work, or
// one that begins.
func TestALogThatWasEmptiedAndRenumberedIsReadFromTheStart(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for name, statements := range emptied {
			for _, more := range []int{3, 10, 25} {
				for _, how := range []string{"at work", "restarted", "with a hole", "after retention"} {
					t.Run(fmt.Sprintf("%s, %d more, %s", name, more, how), func(t *testing.T) {
						t.Parallel()
						emptyAndFill(t, k, statements, more, how)
					})
				}
			}
		}
	})
}

func emptyAndFill(t *testing.T, k *kind, statements []string, more int, how string) {
	t.Helper()
	s := newTestBox(t, k)
	s.publish(boxtest.Messages(10, "a", "b")...)
	s.Deliver()
	at := int64(10)
	if how == "after retention" {
		s.Eventually("all but the last row is deleted", func() bool {
			s.Housekeep()
			return s.number("SELECT COUNT(*) FROM postbag_outbox") == 1
		})
	}
	s.Read() // nothing: the next one looks at the status alone
	for _, statement := range statements {
		s.exec(statement)
	}
	if how == "with a hole" { // a transaction was rolled back just where the position is
		s.exec(fmt.Sprintf("ALTER TABLE postbag_outbox AUTO_INCREMENT = %d", at-1))
		s.publish(boxtest.Messages(1, "a")...)
		s.exec(fmt.Sprintf("ALTER TABLE postbag_outbox AUTO_INCREMENT = %d", at+1))
		s.publish(boxtest.Messages(1, "a")...)
		if s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq = ?", at) != 0 {
			t.Fatal("there is no hole")
		}
	}
	s.publish(boxtest.Messages(more, "a", "b")...)
	all := s.number("SELECT COUNT(*) FROM postbag_outbox WHERE slot < 4096")
	f := s.fixture
	if how == "restarted" {
		f = newFixture(t, s.dsn)
	} else if _, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{request(s.At, 100)}}); !errors.Is(err, store.ErrMoved) {
		t.Errorf("the next turn returned %v, want ErrMoved", err)
	}
	if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Errorf("Check returned %v, want ErrMoved", err)
	}
	if _, err := f.Check(t.Context()); err != nil {
		t.Fatalf("Check after that: %v", err)
	}
	again := boxtest.Of(t, f)
	again.Take("another relay", outbox)
	got, _ := again.ReadFrom(outbox, s.position(outbox))
	ids := make(map[postbag.ID]bool)
	for _, r := range got {
		ids[r.ID] = true
	}
	if int64(len(ids)) != all {
		t.Errorf("%d of %d messages come after that", len(ids), all)
	}
	if entries, err := f.Audited(t.Context(), 10); err != nil || len(entries) != 1 {
		t.Errorf("the audit log says %v (error: %v)", entries, err)
	}
}

// Housekeeping that has looked below the log's beginning, and deletes there when the log was emptied, numbered
// again and begun again meanwhile, deletes nothing: what is there now nobody has read.
func TestHousekeepingLeavesALogThatWasJustRenumbered(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for name, statements := range emptied {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newTestBox(t, k)
				s.publish(boxtest.Messages(10, "a", "b")...)
				s.Deliver()
				s.exec("UPDATE postbag__box SET swept = 8 WHERE name = 'outbox'") // as after retention
				for _, statement := range statements {
					s.exec(statement)
				}
				s.publish(boxtest.Messages(5, "a", "b")...)
				if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
					t.Fatalf("Check returned %v, want ErrMoved", err)
				}
				if err := s.RemoveKept(t.Context(), s.House, 0, 8); err != nil {
					t.Fatal(err)
				}
				if n := s.number("SELECT COUNT(*) FROM postbag_outbox WHERE slot < 4096"); n != 5 {
					t.Errorf("of 5 messages %d are left", n)
				}
			})
		}
	})
}

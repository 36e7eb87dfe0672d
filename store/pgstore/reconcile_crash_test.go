package pgstore_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
)

// After a crash the ids of transactions that left no trace are given out again, and seqs with them: what a snapshot of before
// has passed may be another row now.
func TestAPositionThatWasOnlyReadBeforeACrashIsRefusedAfterIt(t *testing.T) {
	t.Parallel()
	pg := servertest.Postgres(t, testserver.PostgresOptions{NoSync: true, Settings: settings})
	s := testBoxOn(t, pg.DSN("postgres"))
	s.publish(boxtest.Messages(5, "a", "b")...)
	s.Deliver()
	settled := s.At
	s.publish(boxtest.Messages(5, "a", "b")...)
	if got := len(s.Read()); got != 5 {
		t.Fatalf("%d messages were read, not 5", got)
	}
	unsettled := s.At
	s.Must(pg.Kill(t.Context()))
	s.Must(pg.Start(t.Context()))
	s.plain.Reset()
	s.Eventually("the store answers after the crash", func() bool {
		_, err := s.Check(t.Context())
		return err == nil
	})
	read := store.Request{Ref: outbox, Slots: []store.Slots{store.AllSlots}, From: unsettled, Limit: 10, Bytes: 1 << 20}
	if _, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{read}}); !errors.Is(err, store.ErrRestarted) {
		t.Errorf("a read from what was only read before the crash gives %v", err)
	}
	read.From, read.Until = settled, unsettled
	if _, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{read}}); !errors.Is(err, store.ErrRestarted) {
		t.Errorf("a read towards what was only read before the crash gives %v", err)
	}
	st := store.Settlement{Lease: s.Lease, To: unsettled}
	if _, err := s.Turn(t.Context(), store.Turn{Settle: []store.Settlement{st}}); !errors.Is(err, store.ErrRestarted) {
		t.Errorf("a settlement at what was only read before the crash gives %v", err)
	}
	if again, _ := s.ReadFrom(outbox, settled); len(again) != 5 {
		t.Errorf("from what was settled %d messages come, not 5", len(again))
	}
}

package memstore_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// begun opens a transaction.
func begun(t *testing.T, s *memstore.Store) *memstore.Tx {
	t.Helper()
	tx, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// markOf marks one id, of consumer c.
func markOf(ctx context.Context, s *memstore.Store, tx *memstore.Tx, id store.MessageID) (fresh bool, err error) {
	got, err := s.Mark(ctx, tx, "c", []store.Mark{{ID: id}})
	return err == nil && got[0], err
}

// expectMark marks one id, and holds the answer to want.
func expectMark(t *testing.T, s *memstore.Store, tx *memstore.Tx, id store.MessageID, want bool) {
	t.Helper()
	if fresh, err := markOf(t.Context(), s, tx, id); err != nil || fresh != want {
		t.Errorf("id %q is fresh: %v, error %v; want %v", id, fresh, err, want)
	}
}

func TestForgetLeavesMarksOfOpenTransactionsAlone(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s := memstore.New(memstore.Options{Now: c.Now})
	tx := begun(t, s)
	expectMark(t, s, tx, "open", true)
	c.Advance(store.DefaultKeep + time.Hour)
	got, err := s.Forget(t.Context())
	if want := (store.Forgotten{Done: true}); err != nil || got != want {
		t.Errorf("Forget: %+v, error %v; want %+v", got, err, want)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err = s.Forget(t.Context())
	if want := (store.Forgotten{Looked: 1, Removed: 1, Done: true}); err != nil || got != want {
		t.Errorf("Forget after the commit: %+v, error %v; want %+v", got, err, want)
	}
}

func TestAMarkIsKeptForExactlyAsLongAsWasDeclared(t *testing.T) {
	t.Parallel()
	var now time.Time
	s := memstore.New(memstore.Options{Now: func() time.Time { return now }})
	if err := s.DeclareConsumer(t.Context(), "c", time.Hour); err != nil {
		t.Fatal(err)
	}
	tx := begun(t, s)
	expectMark(t, s, tx, "a", true)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{0, 1} {
		now = time.Time{}.Add(time.Hour + time.Duration(want))
		if got, err := s.Forget(t.Context()); err != nil || got.Removed != want {
			t.Errorf("after %s: %+v, error %v; want %d removed", now.Sub(time.Time{}), got, err, want)
		}
	}
}

func TestACircleOfThreeTransactionsEndsWithErrAgain(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	ids := []store.MessageID{"a", "b", "c"}
	var txs []*memstore.Tx
	for _, id := range ids {
		tx := begun(t, s)
		expectMark(t, s, tx, id, true)
		txs = append(txs, tx)
	}
	results := make(chan error)
	for i, tx := range txs {
		go func() {
			_, err := markOf(t.Context(), s, tx, ids[(i+1)%3])
			err = errors.Join(err, tx.Rollback(t.Context()))
			results <- err
		}()
	}
	again := 0
	for range txs {
		if err := <-results; errors.Is(err, store.ErrAgain) {
			again++
		} else if err != nil {
			t.Error(err)
		}
	}
	if again != 1 {
		t.Errorf("of three transactions in a circle %d got ErrAgain", again)
	}
}

func TestAfterAnErrorNothingOfTheCallIsMarked(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	tx := begun(t, s)
	one, two := store.Sum{1}, store.Sum{2}
	if _, err := s.Mark(t.Context(), tx, "c", []store.Mark{{ID: "b", Sum: one}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Mark(t.Context(), tx, "c", []store.Mark{{ID: "a"}, {ID: "b", Sum: two}}); !errors.Is(err, store.ErrOtherBytes) {
		t.Errorf("another sum: %v, not ErrOtherBytes", err)
	}
	expectMark(t, s, tx, "a", true)
	expectMark(t, s, tx, "b", false)
}

func TestMarkRefusesWhatNoDatabaseTakes(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	ended := begun(t, s)
	if err := ended.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	one := []store.Mark{{ID: "a"}}
	for what, c := range map[string]struct {
		tx       *memstore.Tx
		consumer string
		marks    []store.Mark
	}{
		"no transaction":                 {nil, "c", one},
		"a transaction of another store": {begun(t, memstore.New(memstore.Options{})), "c", one},
		"a transaction that ended":       {ended, "c", one},
		"no consumer":                    {begun(t, s), "", one},
		"a consumer of 101 bytes":        {begun(t, s), string(make([]byte, 101)), one},
		"no marks":                       {begun(t, s), "c", nil},
		"10,001 marks":                   {begun(t, s), "c", slices.Repeat(one, 10_001)},
		"an empty id":                    {begun(t, s), "c", []store.Mark{{}}},
		"an id of 256 bytes":             {begun(t, s), "c", []store.Mark{{ID: store.MessageID(make([]byte, 256))}}},
	} {
		if got, err := s.Mark(t.Context(), c.tx, c.consumer, c.marks); err == nil || got != nil {
			t.Errorf("%s is taken: %v", what, got)
		}
	}
	for _, c := range []store.Consumer{{Name: "", Keep: time.Hour}, {Name: string(make([]byte, 101)), Keep: time.Hour}, {Name: "c", Keep: time.Minute - 1}} {
		if err := s.DeclareConsumer(t.Context(), c.Name, c.Keep); err == nil {
			t.Errorf("a name of %d bytes and a keep of %s are taken", len(c.Name), c.Keep)
		}
	}
}

func TestACrashEndsAMarkThatWaits(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	first, second := begun(t, s), begun(t, s)
	expectMark(t, s, first, "a", true)
	result := make(chan error)
	go func() {
		_, err := markOf(t.Context(), s, second, "a")
		result <- err
	}()
	s.Crash()
	if err := <-result; err == nil {
		t.Error("a transaction from before a crash goes on")
	}
	expectMark(t, s, begun(t, s), "a", true)
}

func TestCallsOfAnInboxCanBeMadeToFail(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	var fails memstore.Op
	s := memstore.New(memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if op == fails {
			return memstore.Fault{Err: away}
		}
		return memstore.Fault{}
	}})
	tx := begun(t, s)
	for op, call := range map[memstore.Op]func() error{
		memstore.OpMark:      func() error { _, err := markOf(t.Context(), s, tx, "a"); return err },
		memstore.OpConsumer:  func() error { return s.DeclareConsumer(t.Context(), "c", time.Hour) },
		memstore.OpConsumers: func() error { _, err := s.Consumers(t.Context()); return err },
		memstore.OpForget:    func() error { _, err := s.Forget(t.Context()); return err },
	} {
		fails = op
		if err := call(); !errors.Is(err, away) {
			t.Errorf("%s fails: %v", op, err)
		}
	}
	fails = ""
	expectMark(t, s, tx, "a", true)
	if all, err := s.Consumers(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("a declaration that failed left %v, error %v", all, err)
	}
}

func TestAMarkWhoseCommitIsUnknownCanBeCommitted(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if op == memstore.OpCommit {
			return memstore.Fault{Err: context.DeadlineExceeded, Acted: true}
		}
		return memstore.Fault{}
	}})
	tx := begun(t, s)
	expectMark(t, s, tx, "a", true)
	if err := tx.Commit(t.Context()); !errors.Is(err, postbag.ErrCommitUnknown) {
		t.Errorf("a lost answer: %v", err)
	}
	expectMark(t, s, begun(t, s), "a", false)
}

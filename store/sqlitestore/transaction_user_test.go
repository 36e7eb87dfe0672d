package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store/sqlitestore"
)

func TestATransactionThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	f := open(t)
	failed := errors.New("no stock")
	err := f.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		f.check(f.Append(ctx, tx, "outbox", messages(3, "k")))
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatalf("InTx returned %v, want the function's own error", err)
	}
	if got := f.readAll(""); len(got) != 0 {
		t.Fatalf("read %d messages of a transaction that was rolled back", len(got))
	}
}

func TestAPanicRollsBackAndGoesOn(t *testing.T) {
	t.Parallel()
	f := open(t)
	func() {
		defer func() {
			if recover() != "stop" {
				t.Error("the panic did not come through")
			}
		}()
		_ = f.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			f.check(f.Append(ctx, tx, "outbox", messages(1, "k")))
			panic("stop")
		})
	}()
	f.publish(messages(1, "k")...)
	if got := f.readAll(""); len(got) != 1 {
		t.Fatalf("read %d messages, want the one that was committed", len(got))
	}
}

func TestATransactionOfTheStoreQueries(t *testing.T) {
	t.Parallel()
	f := open(t)
	var n int
	f.check(f.SQL().InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if err := f.SQL().Append(ctx, tx, "outbox", messages(2, "k")); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM postbag_outbox`).Scan(&n)
	}))
	if n != 2 {
		t.Fatalf("the transaction sees %d of its own messages", n)
	}
}

func TestANestedTransactionIsBusyInsteadOfDeadlocked(t *testing.T) {
	t.Parallel()
	f := openAt(t, open(t).path, sqlitestore.Options{BusyTimeout: 50 * time.Millisecond})
	err := f.InTx(t.Context(), func(ctx context.Context, _ postbag.SQLTx) error {
		return f.InTx(ctx, func(context.Context, postbag.SQLTx) error { return nil })
	})
	if !errors.Is(err, sqlitestore.ErrBusy) {
		t.Fatalf("the inner transaction returned %v, want ErrBusy", err)
	}
}

func TestWaitingForTheLockEndsWithTheContext(t *testing.T) {
	t.Parallel()
	f := open(t)
	other := openAt(t, f.path, sqlitestore.Options{BusyTimeout: time.Minute})
	for name, s := range map[string]*fixture{"of this process": f, "of another": other} {
		f.check(f.InTx(t.Context(), func(context.Context, postbag.SQLTx) error {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := s.Beat(ctx, beat("r1"))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("against a writer %s: %v, want a deadline exceeded", name, err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("against a writer %s it took %s to give up", name, took)
			}
			return nil
		}))
	}
}

func TestAFunctionThatEndsItsTransactionGetsAnError(t *testing.T) {
	t.Parallel()
	f := open(t)
	err := f.InTx(t.Context(), func(_ context.Context, tx postbag.SQLTx) error { return tx.Rollback() })
	if !errors.Is(err, sql.ErrTxDone) || errors.Is(err, postbag.ErrCommitUnknown) {
		t.Fatalf("InTx returned %v", err)
	}
}

func TestAContextThatEndsRollsBack(t *testing.T) {
	t.Parallel()
	f := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := f.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		f.check(f.Append(ctx, tx, "outbox", messages(1, "k")))
		cancel()
		return nil
	})
	if err == nil || errors.Is(err, postbag.ErrCommitUnknown) {
		t.Fatalf("InTx returned %v, want the end of its context", err)
	}
	if got := f.readAll(""); len(got) != 0 {
		t.Fatalf("read %d messages of a transaction whose context ended", len(got))
	}
}

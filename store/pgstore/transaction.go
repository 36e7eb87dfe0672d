package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postbag/postbag"
)

// inTx runs fn in a transaction.
func (s *Store) inTx(ctx context.Context, fn func(context.Context, pgx.Tx) error) (err error) {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() {
		// After a commit this does nothing; after a panic it is what ends the
		// transaction.
		if undo := tx.Rollback(context.WithoutCancel(ctx)); undo != nil && !errors.Is(undo, pgx.ErrTxClosed) && err == nil {
			err = undo
		}
	}()
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if tx.Conn().IsClosed() {
		return errors.New("the connection was lost before the commit, which ends the transaction") // certain: nothing was committed
	}
	return commitError(tx.Commit(ctx))
}

// inOwnTx is inTx for what the store does itself: it sees every row, or fails, and calls nothing but the server's own.
func (s *Store) inOwnTx(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
	return s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.statements.get("unfiltered", "").sql, pgx.QueryExecModeExec); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// InTx implements postbag.Appender.
func (s *Store) InTx(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
	var own error
	err := s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		own = fn(ctx, tx)
		return own
	})
	if own != nil && errors.Is(err, own) {
		return own
	}
	return translateError("transaction", err)
}

// commitError tells a commit that failed from one whose answer was lost. The
// server's own refusal is certain, unless it ended the session: that may come
// after the commit was written, while it waited for a standby. Of other errors
// nothing is, not even where pgx says that it is safe to try again: it also says
// so of a connection that it closed while it waited for the answer.
func commitError(err error) error {
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return errors.New("pgstore: commit: the transaction had failed before and was rolled back; look at the first error")
	case errors.Is(err, pgx.ErrTxClosed): // by a commit, or by a rollback
		return &fault{
			doing: "commit", said: "the function ended the transaction itself", fix: "leave the end to InTx", cause: postbag.ErrCommitUnknown,
		}
	case errors.As(err, &refused) && refused.SeverityUnlocalized == "ERROR" && refused.Code[:2] != "08":
		return err
	default:
		return fmt.Errorf("commit: %w", postbag.ErrCommitUnknown)
	}
}

package pgstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
)

func TestAFunctionThatEndsItsTransactionIsToldSo(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	for name, end := range map[string]func(context.Context, pgx.Tx) error{
		"commit":   func(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) },
		"rollback": func(ctx context.Context, tx pgx.Tx) error { return tx.Rollback(ctx) },
	} {
		err := s.InTx(t.Context(), end)
		if !errors.Is(err, postbag.ErrCommitUnknown) {
			t.Errorf("after its %s: %v, which is not ErrCommitUnknown", name, err)
		}
		if err == nil || !strings.Contains(err.Error(), "leave the end to InTx") {
			t.Errorf("after its %s it is told %v", name, err)
		}
	}
}

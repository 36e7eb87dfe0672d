package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// ddl is a transaction in which the schema is looked at and changed.
type ddl interface {
	exec(ctx context.Context, sql string, args ...any) error
	// one reads one row.
	one(ctx context.Context, sql string, args []any, into ...any) error
}

// inDDL runs fn in a transaction.
type inDDL func(ctx context.Context, fn func(ddl) error) error

type pgxDDL struct{ tx pgx.Tx }

func (d pgxDDL) exec(ctx context.Context, sql string, args ...any) error {
	_, err := d.tx.Exec(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	return err
}

func (d pgxDDL) one(ctx context.Context, sql string, args []any, into ...any) error {
	return d.tx.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...).Scan(into...)
}

// script runs a script of several statements as one, which is all that a driver
// with prepared statements can send.
func script(ctx context.Context, tx ddl, text string) error {
	return tx.exec(ctx, "DO $postbag$ BEGIN EXECUTE $script$"+text+"$script$; END $postbag$")
}

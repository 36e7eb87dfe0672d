package postbag

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// fakeSQLTx has the methods of a transaction of database/sql.
type fakeSQLTx struct{}

func (*fakeSQLTx) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	return driver.ResultNoRows, nil
}

func (*fakeSQLTx) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	return nil, driver.ErrSkip
}
func (*fakeSQLTx) Commit() error   { return nil }
func (*fakeSQLTx) Rollback() error { return nil }

var _ SQLTx = (*sql.Tx)(nil)

package sqlkit

import (
	"context"

	"github.com/postbag/postbag"
)

// Try runs fn behind a savepoint of an application's transaction, as store.Lanes has it.
// failed is what fn returned: what it did is taken back. broken is an error of the
// savepoint itself, as it comes from the driver.
func Try(ctx context.Context, tx postbag.SQLTx, fn func(context.Context) error) (failed, broken error) {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT postbag_try"); err != nil {
		return nil, err
	}
	if failed = fn(ctx); failed != nil {
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT postbag_try"); err != nil {
			return failed, err
		}
	}
	_, broken = tx.ExecContext(ctx, "RELEASE SAVEPOINT postbag_try")
	return failed, broken
}

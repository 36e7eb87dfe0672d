package pgstore_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store/pgstore"
)

func TestATransactionThatHasEndedIsSaidToHaveWithBothDrivers(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	to, err := pgstore.OpenAppender(t.Context(), sqlOf(t, s.dsn, func(*pgx.ConnConfig) {}), pgstore.AppenderOptions{})
	s.Must(err)
	var over pgx.Tx
	s.Must(s.InTx(t.Context(), func(_ context.Context, tx pgx.Tx) error {
		over = tx
		return nil
	}))
	var overSQL postbag.SQLTx
	s.Must(to.InTx(t.Context(), func(_ context.Context, tx postbag.SQLTx) error {
		overSQL = tx
		return nil
	}))
	msgs := []postbag.Message{{ID: postbag.NewID(), Topic: "t"}}
	_, cancelled := to.Cancel(t.Context(), overSQL, "outbox", msgs[0].ID)
	_, marked := s.Mark(t.Context(), over, "billing", marksOf("a"))
	_, markedSQL := to.Mark(t.Context(), overSQL, "billing", marksOf("a"))
	_, opened := s.OpenLane(t.Context(), over, "lane")
	_, broken := to.Try(t.Context(), overSQL, func(context.Context) error { return nil })
	for what, row := range map[string]struct{ err, driver error }{
		"Lock":                   {s.Lock(t.Context(), over, "outbox", []string{"k"}), pgx.ErrTxClosed},
		"Mark":                   {marked, pgx.ErrTxClosed},
		"OpenLane":               {opened, pgx.ErrTxClosed},
		"Append of database/sql": {to.Append(t.Context(), overSQL, "outbox", msgs), sql.ErrTxDone},
		"Cancel of database/sql": {cancelled, sql.ErrTxDone},
		"Mark of database/sql":   {markedSQL, sql.ErrTxDone},
		"Try of database/sql":    {broken, sql.ErrTxDone},
	} {
		if !errors.Is(row.err, postbag.ErrTxEnded) || !errors.Is(row.err, row.driver) || !strings.Contains(row.err.Error(), "the transaction has ended") {
			t.Errorf("%s: %v", what, row.err)
		}
	}
}

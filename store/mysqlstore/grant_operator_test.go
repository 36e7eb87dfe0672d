package mysqlstore_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

func TestAnOperatorWithTheRightsPrintedGivesTheCommandsOfAConsoleAndDoesNoMore(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		dsn := s.granted(k, mysqlstore.GrantOperator)
		o := newFixture(t, dsn, withoutCreate)
		s.Commands(o, s.publish)
		_, err := o.Overview(t.Context())
		s.Must(err)
		items, _, err := o.List(t.Context(), store.Query{Ref: outbox, Limit: 10})
		s.Must(err)
		_, err = o.Show(t.Context(), "outbox", items[0].ID)
		s.Must(err)
		s.denied(t, openSQL(t, dsn), "DELETE FROM postbag_outbox", "TRUNCATE postbag_outbox", "UPDATE postbag_outbox SET payload = ''",
			"INSERT INTO postbag_outbox (topic, payload) VALUES ('t', '')", "UPDATE postbag__scheduled SET payload = ''",
			"INSERT INTO postbag__scheduled (box, due, id, at, topic, `key`, shard_key, type, payload) VALUES ('outbox', 0, '', 0, '', '', '', '', '')",
			"UPDATE postbag__shard SET owner = 'me'", "UPDATE postbag__shard SET position = ''", "UPDATE postbag__meta SET token = token + 1",
			"UPDATE postbag__parked SET state = 1", "DELETE FROM postbag__parked", "DELETE FROM postbag__command",
			"DELETE FROM postbag__audit", "UPDATE postbag__audit SET who = ''", "UPDATE postbag__subscription SET types = '[]'", "DELETE FROM postbag__subscription",
			"UPDATE postbag__box SET swept = 0", "UPDATE postbag__life SET life = 0", "DELETE FROM postbag__relay",
			"CALL postbag__cancel('outbox', x'00000000000000000000000000000000')")
	})
	if _, err := mysqlstore.GrantOperator("app", "x`; --"); err == nil {
		t.Error("rights were printed for a box of a name that is none")
	}
}

func TestAConsoleWithTheRightToAuditWritesNotesAndNothingElse(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		c := newFixture(t, s.granted(k, mysqlstore.GrantConsole), withoutCreate)
		a := store.Audit{Who: "x", Why: "y"}
		if err := c.Note(t.Context(), a, "look"); !errors.Is(err, store.ErrDenied) {
			t.Errorf("a note without the right: %v", err)
		}
		s.exec(mysqlstore.GrantAudit("some_" + s.name + "@%"))
		s.Must(c.Note(t.Context(), a, "look"))
		if err := c.SetPaused(t.Context(), a, outbox, true); !errors.Is(err, store.ErrDenied) {
			t.Errorf("a pause by a viewer: %v", err)
		}
	})
}

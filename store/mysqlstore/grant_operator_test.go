package mysqlstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
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

func TestAnEditorWithTheRightsPrintedPublishesEditedMessagesAndDoesNoMoreThanAnOperator(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		old, edited, a := s.publish(boxtest.Messages(1, "a")...)[0].ID, boxtest.Messages(1, "a")[0], store.Audit{Who: "x", Why: "y"}
		dsn := s.granted(k, mysqlstore.GrantOperator)
		o := newFixture(t, dsn, withoutCreate)
		if err := o.Revise(t.Context(), a, "outbox", old, edited); !errors.Is(err, store.ErrDenied) {
			t.Errorf("an operator edits: %v", err)
		}
		text, err := mysqlstore.GrantEditor("some_"+s.name+"@%", "outbox")
		s.Must(err)
		for _, one := range strings.SplitAfter(strings.TrimSpace(text), ";\n") {
			s.exec(one)
		}
		s.Must(o.Revise(t.Context(), a, "outbox", old, edited))
		s.denied(t, openSQL(t, dsn), "INSERT INTO postbag_outbox (seq, topic, payload) VALUES (7, 't', '')", "DELETE FROM postbag_outbox", "UPDATE postbag_outbox SET payload = ''",
			"INSERT INTO postbag__scheduled (box, due, id, at, topic, `key`, shard_key, type, payload) VALUES ('outbox', 0, '', 0, '', '', '', '', '')",
			"UPDATE postbag__shard SET owner = 'me'", "DELETE FROM postbag__audit", "UPDATE postbag__lock SET unused = 1")
	})
	if _, err := mysqlstore.GrantEditor("app", "x`; --"); err == nil {
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

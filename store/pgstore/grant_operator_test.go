package pgstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

func TestAnOperatorWithTheRightsPrintedGivesTheCommandsOfAConsoleAndDoesNoMore(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA postbag FROM PUBLIC")
	grants, err := pgstore.GrantOperator(s.name+"_operator", "outbox")
	s.Must(err)
	o := s.role(s.name+"_operator", grants)
	s.Commands(o, s.publish)
	_, err = o.Overview(t.Context())
	s.Must(err)
	items, _, err := o.List(t.Context(), store.Query{Ref: outbox, Limit: 10})
	s.Must(err)
	_, err = o.Show(t.Context(), "outbox", items[0].ID)
	s.Must(err)
	for _, sql := range []string{
		"DELETE FROM postbag.outbox", "TRUNCATE postbag.outbox", "UPDATE postbag.outbox SET payload = ''", "INSERT INTO postbag.outbox (topic) VALUES ('t')",
		"INSERT INTO postbag.outbox__scheduled (topic) VALUES ('t')", "UPDATE postbag.outbox__scheduled SET payload = ''",
		"UPDATE postbag._shards SET owner = 'me'", "UPDATE postbag._shards SET position = ''", "SELECT postbag._new_token()",
		"INSERT INTO postbag._relays (id, name, expires, boxes, subs, format) VALUES ('x', 'x', now(), '{}', '{}', 1)",
		"DELETE FROM postbag._parked", "UPDATE postbag._parked SET state = 1", "DELETE FROM postbag._commands",
		"DELETE FROM postbag._audit", "UPDATE postbag._audit SET who = ''", "UPDATE postbag._subscriptions SET types = '{}'", "DELETE FROM postbag._subscriptions",
		"INSERT INTO postbag._life (life) VALUES (0)", "UPDATE postbag._meta SET reader = 9", "SELECT setval('postbag.outbox__seq', 1)",
		"SELECT postbag.outbox__cancel('00000000-0000-0000-0000-000000000001')",
	} {
		if _, err := o.plain.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("an operator may %s: %v", sql, err)
		}
	}
	if _, err := pgstore.GrantOperator("app", `x"; --`); err == nil {
		t.Error("rights were printed for a box of a name that is none")
	}
}

func TestAnEditorWithTheRightsPrintedPublishesEditedMessagesAndDoesNoMoreThanAnOperator(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA postbag FROM PUBLIC")
	s.exec("REVOKE EXECUTE ON FUNCTION postbag.new_id() FROM PUBLIC")
	operates, err := pgstore.GrantOperator(s.name+"_operator", "outbox")
	s.Must(err)
	old, edited, a := s.publish(boxtest.Messages(1, "a")...)[0].ID, boxtest.Messages(1, "a")[0], store.Audit{Who: "x", Why: "y"}
	if err := s.role(s.name+"_operator", operates).Revise(t.Context(), a, "outbox", old, edited); !errors.Is(err, store.ErrDenied) {
		t.Errorf("an operator edits: %v", err)
	}
	grants, err := pgstore.GrantEditor(s.name+"_editor", "outbox")
	s.Must(err)
	o := s.role(s.name+"_editor", grants)
	s.Must(o.Revise(t.Context(), a, "outbox", old, edited))
	s.Commands(o, s.publish)
	for _, sql := range []string{
		"INSERT INTO postbag.outbox (seq, topic) VALUES (7, 't')", "INSERT INTO postbag.outbox__scheduled (topic) VALUES ('t')", "DELETE FROM postbag.outbox",
		"UPDATE postbag.outbox SET payload = ''", "UPDATE postbag._shards SET owner = 'me'", "SELECT setval('postbag.outbox__seq', 1)", "DELETE FROM postbag._audit",
	} {
		if _, err := o.plain.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("an editor may %s: %v", sql, err)
		}
	}
	if _, err := pgstore.GrantEditor("app", `x"; --`); err == nil {
		t.Error("rights were printed for a box of a name that is none")
	}
}

func TestAConsoleWithTheRightToAuditWritesNotesAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	role := s.name + "_seer"
	c := s.role(role, pgstore.GrantConsole(role))
	a := store.Audit{Who: "x", Why: "y"}
	if err := c.Note(t.Context(), a, "look"); !errors.Is(err, store.ErrDenied) {
		t.Errorf("a note without the right: %v", err)
	}
	s.exec(pgstore.GrantAudit(role))
	s.Must(c.Note(t.Context(), a, "look"))
	if err := c.SetPaused(t.Context(), a, outbox, true); !errors.Is(err, store.ErrDenied) {
		t.Errorf("a pause by a viewer: %v", err)
	}
}

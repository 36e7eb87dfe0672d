package mysqlstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store/mysqlstore"
)

// account makes a user with rights in the box's database, until the test ends, and returns a DSN for it. A right is what stands
// between GRANT and the end of the table's name.
func (s *testBox) account(k *kind, rights ...string) (dsn string) {
	user := "some_" + s.name
	s.exec("CREATE USER " + user + "@'%' IDENTIFIED BY 'one'")
	s.Cleanup(func() {
		if _, err := k.admin.ExecContext(context.Background(), "DROP USER "+user); err != nil {
			s.Error(err)
		}
	})
	for _, right := range rights {
		what, on, _ := strings.Cut(right, " ON ")
		kind := ""
		if routine, ok := strings.CutPrefix(on, "PROCEDURE "); ok {
			kind, on = "PROCEDURE ", routine
		}
		s.exec("GRANT " + what + " ON " + kind + s.name + "." + on + " TO " + user)
	}
	_, address, _ := strings.Cut(s.dsn, "@")
	return user + ":one@" + address
}

// scheduling is the right to schedule messages: to write rows, and none to read or to change them.
const scheduling = "INSERT (box, due, at, id, topic, `key`, shard_key, type, headers, payload) ON postbag__scheduled"

// A producer with the rights that are printed can neither read nor remove what others publish, and what it may write stops nobody.
func TestAProducerCanNeitherReadNorRemoveWhatOthersPublish(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		later := boxtest.Messages(1, "a")
		later[0].NotBefore = time.Now().Add(time.Hour)
		s.publish(later...)
		s.publish(boxtest.Messages(1, "b")...)
		db := openSQL(t, s.granted(k, mysqlstore.GrantProducer))
		s.denied(t, db,
			"SELECT payload FROM postbag__scheduled", "SELECT id FROM postbag__scheduled", "DELETE FROM postbag__scheduled", "DELETE FROM postbag__scheduled WHERE n = 1",
			"UPDATE postbag__scheduled SET due = 0", "TRUNCATE postbag__scheduled", "SELECT payload FROM postbag_outbox", "DELETE FROM postbag_outbox",
			"UPDATE postbag_outbox SET payload = ''", "INSERT INTO postbag_outbox (seq, topic, payload) VALUES (1000000, 't', '')",
			"UPDATE postbag__meta SET epoch = epoch + 1", "DELETE FROM postbag__meta", "INSERT INTO postbag__life (one, life) VALUES (2, 0)",
			"UPDATE postbag__life SET life = 0", "DELETE FROM postbag__life", "SELECT lo FROM postbag__shard", "SELECT seq FROM postbag__parked",
			"DELETE FROM postbag__lock", "UPDATE postbag__lock SET n = n + 4096", "UPDATE postbag__lock SET n = 4096 WHERE n = 1", "LOCK TABLES postbag__lock WRITE",
			"INSERT INTO postbag__lock (n) VALUES (5000)", "DROP PROCEDURE postbag__cancel",
			"CREATE TABLE postbag__shadow (n INT)",
		)
		for _, id := range []string{"x'00000000000000000000000000000000'", "NULL", "''", "'%'"} {
			_, err := db.ExecContext(t.Context(), "CALL postbag__cancel('outbox', "+id+")")
			s.Must(err)
		}
		if n := s.number("SELECT COUNT(*) FROM postbag__scheduled"); n != 1 {
			t.Errorf("of one scheduled message of another's %d are left", n)
		}
	})
}

// Where the right to make a procedure is missing, all else is migrated, and that is said.
func TestAMigrationWithoutTheRightToMakeAProcedureSaysSo(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := testBoxOn(t, k.database(t))
		s.exec("DROP PROCEDURE postbag__cancel")
		s.exec("UPDATE postbag__meta SET version = 3")
		dsn := s.account(k, "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX, REFERENCES ON *")
		owner, err := mysqlstore.Open(t.Context(), dsn, mysqlstore.Options{Unmigrated: true})
		s.Must(err)
		done, err := owner.Migrate(t.Context())
		s.Must(owner.Close())
		if err != nil || len(done) == 0 || !strings.Contains(done[0], "the right CREATE ROUTINE or ALTER ROUTINE is missing") {
			t.Fatalf("it says %q (error: %v)", done, err)
		}
		later := boxtest.Messages(1, "a")
		later[0].NotBefore = time.Now().Add(time.Hour)
		s.publish(later...)
		s.Must(s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			gone, err := s.Cancel(ctx, tx, "outbox", later[0].ID)
			if err == nil && !gone {
				t.Error("without the procedure nothing is cancelled")
			}
			return err
		}))
	})
}

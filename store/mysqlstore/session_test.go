package mysqlstore_test

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// What a server sets for its sessions bends none of the store's statements.
func TestServerSettingsDoNotChangeTheStoresSessions(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		m := k.private(t)
		hostile := []string{
			"sql_safe_updates = 1", "completion_type = 'RELEASE'", "sql_select_limit = 1", "sql_auto_is_null = 1",
			"autocommit = 0", "time_zone = '-11:00'", "foreign_key_checks = 0", "unique_checks = 0", "sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ANSI_QUOTES,PIPES_AS_CONCAT'",
			"group_concat_max_len = 4", "character_set_server = 'latin1'", "collation_connection = 'latin1_swedish_ci'", "max_join_size = 1",
		}
		if k.oracle {
			hostile = append(hostile, "max_execution_time = 1", "transaction_read_only = 1", "transaction_isolation = 'SERIALIZABLE'")
		} else {
			hostile = append(hostile, "max_statement_time = 0.000001", "check_constraint_checks = 0", "tx_read_only = 1", "tx_isolation = 'SERIALIZABLE'")
		}
		dsn := databaseOn(t, m, "hostile")
		admin := openSQL(t, m.DSN(""))
		admin.SetMaxOpenConns(1)
		for _, setting := range hostile {
			if _, err := admin.ExecContext(t.Context(), "SET GLOBAL "+setting); err != nil && !strings.Contains(err.Error(), "SESSION variable") {
				t.Fatalf("%s: %v", setting, err)
			}
		}
		s := testBoxOn(t, dsn, grace(time.Second))
		published := s.publish(boxtest.Messages(30, "ä", "b")...)
		s.want(s.Deliver(), published...)
		s.Eventually("what was delivered is deleted", func() bool { return s.Housekeep().Deleted > 0 })
		more := s.publish(boxtest.Messages(3, "ü")...)
		s.want(s.Deliver(), more...)
	})
}

// A session in latin1, of the store or of an application, changes no text on its way: the store sets its own sessions, and
// what is published holds its values so that no session's character set has a say.
func TestASessionInLatin1ChangesNoText(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		latin := s.dsn + "?charset=latin1"
		relay := newFixture(t, latin)
		m := boxtest.Messages(2, "ключ ü 🐘", "b")
		for i := range m {
			m[i].Topic, m[i].Type = "заказы.ä", "tüp"
			m[i].Headers = map[string]string{"name": "Jürgen 🐘 \\ ' \"", "ö": "1"}
			m[i].Payload = []byte("\x00\xff ü ' \\")
		}
		plain := openSQL(t, latin)
		var session string
		s.Must(plain.QueryRowContext(t.Context(), "SELECT @@character_set_client").Scan(&session))
		if session != "latin1" {
			t.Fatalf("the session's character set is %s", session)
		}
		tx, err := plain.BeginTx(t.Context(), nil)
		s.Must(err)
		s.Must(relay.Append(t.Context(), tx, "outbox", m))
		s.Must(tx.Commit())
		for name, from := range map[string]*mysqlstore.Store{"a usual session": s.Store, "one in latin1": relay.Store} {
			res, err := from.Turn(t.Context(), store.Turn{Read: []store.Request{boxtest.Request(outbox, "", 10)}})
			s.Must(err)
			records := res.Batches[0].Records
			if len(records) != len(m) {
				t.Fatalf("to %s %d messages come, and not %d", name, len(records), len(m))
			}
			for i, r := range records {
				if r.Err != nil || r.Topic != m[i].Topic || r.Key != m[i].Key || r.Type != m[i].Type || !maps.Equal(r.Headers, m[i].Headers) || !bytes.Equal(r.Payload, m[i].Payload) {
					t.Errorf("to %s message %d comes as %+v", name, i, r)
				}
			}
		}
	})
}

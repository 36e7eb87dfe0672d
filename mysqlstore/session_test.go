package mysqlstore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/sitetest"
)

// What a server sets for its sessions bends none of the store's statements.
func TestSettingsOfTheServerBendNoSession(t *testing.T) {
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
		s := siteOn(t, dsn, grace(time.Second))
		published := s.publish(sitetest.Messages(30, "ä", "b")...)
		s.want(s.Deliver(), published...)
		s.Eventually("what was delivered is deleted", func() bool { return s.Housekeep().Deleted > 0 })
		more := s.publish(sitetest.Messages(3, "ü")...)
		s.want(s.Deliver(), more...)
	})
}

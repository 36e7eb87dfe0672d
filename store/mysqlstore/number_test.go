package mysqlstore_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
)

// A session without strict mode, as object mappers set, gets no other slot.
func TestPlainSQLGetsSlotsByNumber(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.Must(s.CreateBoxBy(t.Context(), "numbers", store.SlotsByNumber))
		for _, mode := range []string{"DEFAULT", "''", "'NO_UNSIGNED_SUBTRACTION,ANSI'"} {
			conn, err := s.plain.Conn(t.Context())
			s.Must(err)
			_, err = conn.ExecContext(t.Context(), "SET SESSION sql_mode = "+mode)
			s.Must(err)
			for values, want := range map[string]int{
				"'5', ''": 5, "'a', '-1'": 4095, "'4096', ''": 0, "'-4097', ''": 4095, "'100000000000000000000000000000000000000017', ''": 17, "'007', ''": 7,
			} {
				_, err := conn.ExecContext(t.Context(), "INSERT INTO postbag_numbers (topic, payload, `key`, shard_key) VALUES ('t', '', "+values+")")
				s.Must(err)
				var slot int
				s.Must(conn.QueryRowContext(t.Context(), "SELECT slot FROM postbag_numbers ORDER BY seq DESC LIMIT 1").Scan(&slot))
				if slot != want {
					t.Errorf("%s is in slot %d, not %d", values, slot, want)
				}
			}
			for _, values := range []string{"'a', ''", "'5', 'a'", "'-', ''", "'+5', ''", "'5\n', ''", "'5-', ''", "'--5', ''"} {
				_, err := conn.ExecContext(t.Context(), "INSERT INTO postbag_numbers (topic, payload, `key`, shard_key) VALUES ('t', '', "+values+")")
				if err == nil || !strings.Contains(err.Error(), "postbag_numbers__number") {
					t.Errorf("%s in the mode %s: %v", values, mode, err)
				}
			}
			s.Must(conn.Close())
		}
	})
}

// A program that does not know boxes by number would compute other slots of erased messages and of commands.
func TestProgramsThatDoNotKnowABoxByNumberAreKeptAway(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		oldest := func() (version, reader int) {
			s.Must(s.plain.QueryRowContext(t.Context(), "SELECT version, reader FROM postbag__meta").Scan(&version, &reader))
			return version, reader
		}
		if version, reader := oldest(); reader == version {
			t.Fatalf("with boxes by hash programs need version %d", reader)
		}
		s.Must(s.CreateBoxBy(t.Context(), "numbers", store.SlotsByNumber))
		if version, reader := oldest(); reader != version {
			t.Errorf("with a box by number programs need version %d, not %d", reader, version)
		}
	})
}

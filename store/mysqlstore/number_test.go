package mysqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
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

// madeBefore makes the table of box "numbers" by a rule, as a program that crashed then, or that is about to enter the box.
func (s *testBox) madeBefore(by store.SlotRule) {
	s.Helper()
	steps, err := mysqlstore.Script(0, map[string]store.SlotRule{"numbers": by}, "numbers")
	s.Must(err)
	table, _, cut := strings.Cut(steps[len(steps)-1].SQL, ";\nINSERT INTO postbag__box")
	if !cut {
		s.Fatalf("the script does not begin with the table: %s", table)
	}
	s.exec("DROP TABLE IF EXISTS postbag_numbers")
	s.exec(table)
}

func TestABoxIsNotEnteredWithAnotherRuleThanThatOfATableThatIsThere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		for made, other := range map[store.SlotRule]store.SlotRule{store.SlotsByHash: store.SlotsByNumber, store.SlotsByNumber: store.SlotsByHash} {
			s.madeBefore(made)
			err := s.CreateBoxBy(t.Context(), "numbers", other)
			if !errors.Is(err, store.ErrSlotRule) || !strings.Contains(err.Error(), "postbag_numbers is there and makes them by "+string(made)) {
				t.Errorf("over a table by %s a box by %s: %v", made, other, err)
			}
			if by, err := s.SlotRule(t.Context(), "numbers"); !errors.Is(err, store.ErrNoBox) {
				t.Errorf("there is a box by %q (error: %v)", by, err)
			}
		}
		s.madeBefore(store.SlotsByNumber)
		s.Must(s.CreateBox(t.Context(), "numbers"))
		if by, err := s.SlotRule(t.Context(), "numbers"); err != nil || by != store.SlotsByNumber {
			t.Errorf("with no rule asked for, the box over a table by number is by %q (error: %v)", by, err)
		}
	})
}

func TestCheckRefusesABoxWhoseTableHasAnotherRule(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.Must(s.CreateBoxBy(t.Context(), "numbers", store.SlotsByNumber))
		_, err := s.Check(t.Context())
		s.Must(err)
		for _, box := range []string{"numbers", "outbox"} {
			s.exec("UPDATE postbag__box SET slots = 1 - slots WHERE name = '" + box + "'")
			if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrSlotRule) || !strings.Contains(err.Error(), "postbag_"+box+" is there") {
				t.Errorf("with another rule of box %s: %v", box, err)
			}
			s.exec("UPDATE postbag__box SET slots = 1 - slots WHERE name = '" + box + "'")
		}
		_, err = s.Check(t.Context())
		s.Must(err)
	})
}

func TestAScheduledTextIsRefusedByABoxByNumberThatCameLater(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		schedule := func() error {
			return s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
				return s.Append(ctx, tx, "numbers", []postbag.Message{{ID: postbag.NewID(), Key: "customer", NotBefore: time.Now().Add(time.Hour)}})
			})
		}
		if err := schedule(); !errors.Is(err, store.ErrNoBox) {
			t.Errorf("before there is a box: %v", err)
		}
		s.Must(s.CreateBoxBy(t.Context(), "numbers", store.SlotsByNumber))
		if err := schedule(); !errors.Is(err, store.ErrNoNumber) {
			t.Errorf("with a box by number: %v", err)
		}
	})
}

func TestOnlyTheConstraintOfNumbersSaysThatAKeyIsNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"3819 Check constraint 'postbag_a__number' is violated.":                  true,
		"3819 Check constraint 'postbag_a__number__key' is violated.":             false,
		"3819 Check constraint 'invoices__number' is violated.":                   false,
		"4025 CONSTRAINT `postbag_a__number` failed for `db`.`postbag_a`":         true,
		"4025 CONSTRAINT `postbag_b__key` failed for `db`.`postbag_b__number`":    false,
		"4025 CONSTRAINT `invoices__number` failed for `db`.`invoices`":           false,
		"4025 CONSTRAINT `postbag_a__number__key` failed for `db`.`postbag_a`":    false,
		"1062 Duplicate entry 'x' for key 'postbag_a__number'":                    false,
		"4025 CONSTRAINT `postbag_a_b_2__number` failed for `db`.`postbag_a_b_2`": true,
	} {
		var number uint16
		digits, message, _ := strings.Cut(text, " ")
		if _, err := fmt.Sscan(digits, &number); err != nil {
			t.Fatal(err)
		}
		if got := mysqlstore.NoNumber(fmt.Errorf("exec: %w", &mysql.MySQLError{Number: number, Message: message})); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

package mysqlstore_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// An INSERT ... SELECT locks in REPEATABLE READ what it reads: a statement that asked for the box's row waited for every relay that
// swept, and kept relays from sweeping until the application's transaction ended.
func TestAProducerOfScheduledMessagesAndARelayDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(boxtest.Messages(3, "a")...)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		begin := func() *sql.Tx {
			tx, err := s.plain.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
			s.Must(err)
			t.Cleanup(func() { _ = tx.Rollback() }) // nothing of it is to stay
			return tx
		}
		lock := func(tx *sql.Tx) {
			for _, table := range []string{
				"postbag_outbox", "postbag__box", "postbag__meta", "postbag__subscription", "postbag__shard", "postbag__parked", "postbag__relay",
			} {
				if _, err := tx.ExecContext(ctx, "DELETE FROM "+table); err != nil {
					t.Fatalf("it waits for a row of %s: %v", table, err)
				}
			}
		}
		relay := begin()
		lock(relay)
		producer := begin()
		s.Must(s.Append(ctx, producer, "outbox", []postbag.Message{{
			ID: postbag.NewID(), Topic: "t", Key: "a", NotBefore: time.Now().Add(time.Hour),
		}}))
		s.Must(relay.Rollback())
		lock(begin())
	})
}

// A plain INSERT can name a box that does not exist. Nobody maintains that one: another box's housekeeping says so, and the
// messages are sent when the box is made.
func TestAMessageThatIsScheduledForNoBoxIsReported(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.Must(s.CreateBox(t.Context(), "second"))
		const schedule = "INSERT INTO postbag__scheduled (id, due, at, topic, `key`, shard_key, type, payload, box) VALUES "
		const row = "(x'11111111111111111111111111111111', 1, 0, 't', 'a', '', '', 'p', "
		s.exec(schedule + row + "'nobox'), " + row + "'nobox'), " + row + "''), " + row + "x'ff00'), " + row + "'second'), " + row + "'outbox')")
		for range 3 {
			s.Housekeep()
		}
		const names = `"", "nobox", "\xff\x00"`
		if s.Total.Promoted != 1 || len(s.Total.Faults) == 0 || !strings.Contains(s.Total.Faults[0], "never sent: "+names+";") {
			t.Errorf("%d are promoted, and housekeeping says %q", s.Total.Promoted, s.Total.Faults)
		}
		o, err := s.Overview(t.Context())
		if err != nil || len(o.Boxes[0].Notices) != 1 || !strings.Contains(o.Boxes[0].Notices[0].What, names) {
			t.Errorf("the overview shows %+v (error: %v)", o.Boxes, err)
		}
		s.exec("DELETE FROM postbag__scheduled WHERE box IN ('', x'ff00')")
		s.Must(s.CreateBox(t.Context(), "nobox"))
		s.Total.Faults = nil
		if s.Housekeep(); len(s.Total.Faults) > 0 {
			t.Errorf("housekeeping still says %q", s.Total.Faults)
		}
	})
}

// One that the box's constraints refuse is set aside, and stays there to be seen.
func TestAScheduledRowThatBreaksTheConstraintsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		const schedule = "INSERT INTO postbag__scheduled (box, due, at, id, topic, `key`, shard_key, type, headers, payload) VALUES ('outbox', "
		bad := []string{
			"0, 0, x'11111111111111111111111111111111', 't', x'610062', '', '', NULL, 'p')",
			"1, 0, x'00000000000000000000000000000000', 't', 'a', '', '', NULL, 'p')",
			"3, 0, x'22222222222222222222222222222222', 't', 'a', '', '', '[]', 'p')",
			"4, 0, x'33333333333333333333333333333333', 't', 'a', '', '', '{', 'p')",
			"5, 0, x'44444444444444444444444444444444', x'740075', 'a', '', '', NULL, 'p')",
		}
		for _, row := range bad {
			s.exec(schedule + row)
		}
		good := boxtest.Messages(2, "a")
		for i, m := range good {
			s.exec(schedule+"?, 0, ?, 't', 'a', '', '', NULL, 'p')", 2+10*i, m.ID[:])
		}
		s.Eventually("the good ones are promoted", func() bool { s.Housekeep(); return s.Total.Promoted == 2 })
		s.want(s.Deliver(), good...)
		if len(s.Total.Faults) != 1 || !strings.Contains(s.Total.Faults[0], "5 scheduled messages of box outbox are set aside") {
			t.Errorf("housekeeping says %q", s.Total.Faults)
		}
		items, _, err := s.List(t.Context(), store.Query{Ref: outbox, State: store.StateScheduled})
		if err != nil || len(items) != len(bad) {
			t.Errorf("of %d that were set aside %d are shown (error: %v)", len(bad), len(items), err)
		}
		s.Total.Faults = nil
		if s.Housekeep(); len(s.Total.Faults) != 0 {
			t.Errorf("it is said again: %q", s.Total.Faults)
		}
	})
}

// An empty topic and times beyond the calendar are refused where they are written, and what was written before is brought along.
func TestAScheduleRefusesWhatNoBoxCouldTake(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := testBoxOn(t, k.database(t))
		const schedule = "INSERT INTO postbag__scheduled (box, due, at, topic, id, `key`, shard_key, type, payload) VALUES ('outbox', "
		const rest = ", x'11111111111111111111111111111111', 'k', '', '', 'p')"
		bad := map[string]string{
			"1, 0, ''": "no topic", "-1, 0, 't'": "before 1970", "-9223372036854775808, 0, 't'": "the beginning of all numbers",
			"9223372036854775806, 0, 't'": "after 9999", "1, -1, 't'": "stored before 1970", "1, 9223372036854775807, 't'": "stored after 9999",
		}
		for _, name := range []string{"topic", "due", "at"} {
			s.exec("ALTER TABLE postbag__scheduled DROP CONSTRAINT postbag__scheduled__" + name)
		}
		s.exec("UPDATE postbag__meta SET version = 5")
		for values := range bad {
			s.exec(schedule + values + rest)
		}
		_, err := s.Migrate(t.Context())
		s.Must(err)
		producer := openSQL(t, s.account(k, scheduling))
		for values, name := range bad {
			if _, err := producer.ExecContext(t.Context(), schedule+values+rest); err == nil {
				t.Errorf("%s: it is taken", name)
			}
		}
		for condition, want := range map[string]int64{
			"TRUE": 6, "due = 9223372036854775807": 1, "due <= 1": 5, "topic = 'outbox'": 1, "at = 0": 6,
		} {
			if n := s.number("SELECT COUNT(*) FROM postbag__scheduled WHERE " + condition); n != want {
				t.Errorf("%d rows are left where %s, want %d", n, condition, want)
			}
		}
		for _, values := range []string{"1, 0, 't'", "253402300799999999, 1, 't'", "9223372036854775807, 1, 't'"} {
			s.exec(schedule + values + rest)
		}
	})
}

// What no reader could hold is refused where it is written.
func TestABoxRefusesHeadersAndPayloadsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		for constraint, text := range map[string]string{
			"postbag_outbox__headers": `INSERT INTO postbag_outbox (headers, payload) VALUES (CONCAT('{"a":"', REPEAT('x', 65529), '"}'), '')`,
			"postbag_outbox__payload": "INSERT INTO postbag_outbox (payload) VALUES (CONCAT(REPEAT('x', 8388608), REPEAT('x', 8388609)))",
		} {
			if _, err := s.plain.ExecContext(t.Context(), text); err == nil ||
				!strings.Contains(err.Error(), constraint) && !strings.Contains(err.Error(), "max_allowed_packet") { // MariaDB's is 16 MiB
				t.Errorf("%s: it is refused with %v", constraint, err)
			}
		}
		s.exec(`INSERT INTO postbag_outbox (headers, payload) VALUES (CONCAT('{"a":"', REPEAT('x', 65528), '"}'), REPEAT('x', 8388608))`)
	})
}

// However few messages are scheduled, and whatever the statistics say, a cancel that is not committed locks its own message alone.
func TestAnOpenCancelKeepsNoOtherMessageFromBeingDelivered(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		due := time.Now().Add(time.Hour)
		s.exec("ANALYZE TABLE postbag__scheduled")
		for i, n := range []int{2, 40, 3, 2, 40, 3} {
			if i == 3 {
				s.exec("DROP PROCEDURE postbag__cancel") // the store cancels with a statement of its own then
			}
			msgs := make([]postbag.Message, n)
			for i := range msgs {
				msgs[i] = postbag.Message{ID: postbag.NewID(), Topic: "t", NotBefore: due.Add(time.Duration(i) * time.Second)}
			}
			s.publish(msgs...)
			for i := range msgs {
				s.locksNoOther(msgs[i].ID, n-i)
				s.Must(s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
					_, err := s.Cancel(ctx, tx, "outbox", msgs[i].ID)
					return err
				}))
			}
		}
	})
}

// locksNoOther cancels one of n scheduled messages, looks at which of them another session can lock, and rolls back.
func (s *testBox) locksNoOther(id postbag.ID, n int) {
	s.Helper()
	tx := s.begin(s.plain, sql.LevelRepeatableRead)
	found, err := s.Cancel(s.Context(), tx, "outbox", id)
	s.Must(err)
	other := s.begin(s.plain, sql.LevelReadCommitted)
	free := count(s, other, "SELECT n FROM postbag__scheduled WHERE box = 'outbox' AND due > 0 ORDER BY due, n FOR UPDATE SKIP LOCKED")
	s.Must(other.Rollback())
	s.Must(tx.Rollback())
	if !found || free != n-1 {
		s.Errorf("of %d scheduled messages one is being cancelled (%v), and %d can be delivered", n, found, free)
	}
}

// count returns how many rows a query has.
func count(s *testBox, tx *sql.Tx, query string) (n int) {
	s.Helper()
	rows, err := tx.QueryContext(s.Context(), query)
	s.Must(err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		n++
	}
	s.Must(rows.Err())
	return n
}

package mysqlstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

var order = store.Audit{Who: "an operator", Why: "the test"}

func TestADeletedRowStopsRetentionUntilAnOperatorAcceptsIt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(boxtest.Messages(20, "a")...)
		s.Deliver()
		s.exec("DELETE FROM postbag_outbox WHERE seq = 7")
		s.Eventually("retention finds the difference", func() bool { s.Housekeep(); return s.Faulty("does not agree") })
		s.Housekeep()
		notices := func() []store.Notice {
			o, err := s.Overview(t.Context())
			s.Must(err)
			return o.Boxes[0].Notices
		}
		if n := notices(); len(n) != 1 || n[0].What != "keep outbox/default from seq 1 on" {
			t.Errorf("the overview has the notices %v", n)
		}
		lines, err := s.AcceptLedger(t.Context(), order, "outbox")
		s.Must(err)
		if len(lines) != 1 || !strings.Contains(lines[0], "19 messages passed, 20 accounted for") {
			t.Errorf("accepted is %q", lines)
		}
		if n := notices(); len(n) != 0 {
			t.Errorf("after that the overview has the notices %v", n)
		}
		s.Total.Faults = nil
		s.Eventually("all but the last are deleted", func() bool { s.Housekeep(); return s.Total.Deleted == 18 })
		if len(s.Total.Faults) != 0 {
			t.Errorf("after that was accepted housekeeping says %q", s.Total.Faults)
		}
	})
}

func TestADatabaseOfTheFirstVersionIsMigratedWithWhatItHolds(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		dsn := k.database(t)
		f := newFixture(t, dsn, func(o *mysqlstore.Options) { o.Create, o.Boxes, o.Unmigrated = false, nil, true })
		_, steps, err := f.Pending(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		many := openSQL(t, dsn+"?multiStatements=true")
		do := func(text string) {
			t.Helper()
			if _, err := many.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		do(steps[0].SQL)
		do(`INSERT INTO postbag__parked (subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, history)
VALUES (9, 1, 7, 70, 1, 70, 3, 1, 1, 1, 'no', '[]')`)
		do(`INSERT INTO postbag__box (name, created_at) VALUES ('old', 1)`)
		do(`INSERT INTO postbag__command (subscription, seq, kind) VALUES (9, 1, 2)`)
		do(`INSERT INTO postbag__relay (id, name, works, expires) VALUES ('r', 'r', '[]', 9000000000000000)`)
		if done, err := f.Migrate(t.Context()); err != nil || len(done) != len(steps)-1 {
			t.Fatalf("a database of the first version took %d steps of %d: %v", len(done), len(steps), err)
		}
		for _, step := range steps[1:] { // one that was cut off is taken again
			do(step.SQL)
		}
		o, err := newFixture(t, dsn).Overview(t.Context())
		if err != nil || len(o.Relays) != 1 || len(o.Relays[0].Conditions) != 0 {
			t.Errorf("after that the relays are %+v: %v", o.Relays, err)
		}
		s := &testBox{TB: t, fixture: f, Driver: boxtest.Of(t, f)}
		if n := s.number("SELECT COUNT(*) FROM postbag__box WHERE name = 'old' AND keep_delivered = 0 AND keep_dead = 0 AND deployed_discarded = 0 AND deployed_by = ''"); n != 1 {
			t.Error("a box of the first version says something of its retention")
		}
		const known = 2 // by a program that knows no commands for pending messages, and would delete them
		if n := s.number("SELECT reader FROM postbag__meta"); n <= known {
			t.Errorf("the schema takes programs that know version %d", n)
		}
		if n := s.number("SELECT COUNT(*) FROM postbag__parked p JOIN postbag__command c ON c.seq = p.seq WHERE held IS NULL AND pending = 0"); n != 1 {
			t.Errorf("%d of one parked message and its command are there", n)
		}
	})
}

// What became of a message whose partition stayed because it was parked goes with the
// partition.
func TestTheErrorHistoryIsDroppedWithItsPartition(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided, func(o *mysqlstore.Options) { o.Partition = time.Hour })
		s.KeepTombstones(time.Millisecond)
		s.publish(boxtest.Messages(1500, "a")...)
		s.Eventually("a partition is made", func() bool { return s.Housekeep().Added == 1 })
		records := s.Read()
		first := records[0]
		s.Settle(&s.Lease, store.Settlement{
			To:    s.At,
			Park:  []store.Park{{Seq: first.Seq, Slot: first.Slot, State: store.ParkDead, Attempts: 3, Reason: "no"}},
			Tally: append(boxtest.Tally(store.TallyParked, first), boxtest.Tally(store.TallyDelivered, records[1:]...)...),
		})
		s.Eventually("the log begins behind the partition", func() bool {
			s.Housekeep()
			return s.number("SELECT swept FROM postbag__box") >= 1000
		})
		n, err := s.Command(t.Context(), order, outbox, store.Discard, []int64{first.Seq})
		if s.Must(err); n != 1 {
			t.Fatalf("a discard was queued for %d", n)
		}
		s.Settle(&s.Lease, store.Settlement{
			Resolve: []store.Resolved{{Seq: first.Seq}},
			Done:    []store.Done{{Kind: store.Discard, Seq: first.Seq}},
			Tally:   append(boxtest.Tally(store.TallyDiscarded, first), boxtest.Less(boxtest.Tally(store.TallyParked, first))...),
		})
		s.Eventually("the partition is dropped", func() bool { s.Housekeep(); s.TryPartitions(); return s.Total.Dropped == 1 })
		if past, fates := s.number("SELECT COUNT(*) FROM postbag__past"), s.number("SELECT COUNT(*) FROM postbag__discarded WHERE seq > 0"); past+fates != 0 {
			t.Errorf("of a message that is gone %d and %d rows are left", past, fates)
		}
	})
}

func TestAnErasedMessageKeepsItsSlotAndHasNoContent(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		msgs := s.publish(boxtest.Messages(40, "a", "b", "c")...)
		before := s.Deliver()
		var ids []postbag.ID
		for _, m := range msgs {
			ids = append(ids, m.ID)
		}
		slots := s.number("SELECT SUM(seq * slot) FROM postbag_outbox")
		got, err := s.Erase(t.Context(), order, "outbox", ids)
		if s.Must(err); got.Messages != len(msgs) {
			t.Fatalf("%d messages were erased, %d refused", got.Messages, len(got.Refused))
		}
		if after := s.number("SELECT SUM(seq * slot) FROM postbag_outbox"); after != slots {
			t.Error("erased messages are in other slots")
		}
		again, _ := s.ReadFrom(outbox, "")
		for i := range again {
			if r := again[i]; len(r.Payload)+len(r.Key)+len(r.ShardKey)+len(r.Headers) > 0 || r.Slot != before[i].Slot || !r.Filtered {
				t.Errorf("an erased message is read as %+v", r)
			}
		}
	})
}

func TestASubscriptionThatIsRemovedAtThatMomentIsNotSet(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(s *testBox) error{
		"settings": func(s *testBox) error {
			return s.Tune(context.Background(), order, outbox, []store.Setting{{Name: store.SettingBatch, Value: "7"}}, nil)
		},
		"filter": func(s *testBox) error {
			return s.SetFilter(context.Background(), order, outbox, store.Filter{Types: []string{"order"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, k *kind) {
				t.Helper()
				s := newTestBox(t, k)
				tx, err := s.plain.BeginTx(t.Context(), nil)
				s.Must(err)
				_, err = tx.ExecContext(t.Context(), "DELETE FROM postbag__subscription WHERE name = 'default'")
				s.Must(err)
				got := make(chan error, 1)
				go func() { got <- set(s) }()
				s.Eventually("it waits for the removal", func() bool {
					return len(got) > 0 || s.number("SELECT COUNT(*) FROM information_schema.processlist WHERE db = ? AND info LIKE 'SELECT COALESCE(settings%'", s.name) > 0
				})
				s.Must(tx.Commit())
				if err := <-got; !errors.Is(err, store.ErrNoSubscription) {
					t.Errorf("to set what was removed just now: %v", err)
				}
				if lines, err := s.Audited(t.Context(), 10); err != nil || len(lines) > 0 {
					t.Errorf("the audit log has %+v: %v", lines, err)
				}
			})
		})
	}
}

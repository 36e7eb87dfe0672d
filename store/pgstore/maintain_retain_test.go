package pgstore_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// passed is a box whose first partition is over: it has n messages, and the next
// one has one more. Nothing is settled.
func passed(tb testing.TB, n int) (*testBox, []store.Record) {
	tb.Helper()
	s := newTestBox(tb)
	s.publish(boxtest.Messages(n, "a", "b", "")...)
	s.burn()
	s.publish(boxtest.Messages(1, "c")...)
	records := s.Read()
	if len(records) != n+1 || records[n].Seq != partSize+1 {
		tb.Fatalf("%d messages were read, the last with seq %d", len(records), records[n].Seq)
	}
	return s, records
}

func TestAPartitionThatAllHavePassedIsDropped(t *testing.T) {
	t.Parallel()
	s, records := passed(t, 40)
	s.rounds()
	if s.rows(partSize) != 40 || len(s.Total.Faults) > 0 {
		t.Fatalf("%d of 40 messages are left that nobody has passed; faults: %q", s.rows(partSize), s.Total.Faults)
	}
	s.Settle(&s.Lease, store.Settlement{To: s.At, Tally: boxtest.Tally(store.TallyDelivered, records...)})
	s.Until("the partition is dropped", func() bool { return s.Total.Dropped == 1 })
	if s.table("outbox__p0") || !s.table("outbox__p32") || len(s.Total.Faults) > 0 {
		t.Errorf("the partition's table is there: %v; faults: %q", s.table("outbox__p0"), s.Total.Faults)
	}
	if n := s.number("SELECT count(*) FROM postbag._drops"); n != 0 {
		t.Errorf("%d partitions are still noted to be dropped", n)
	}
	if n := s.number("SELECT sum(n) FROM postbag._ledger WHERE span < 32") + s.number("SELECT sum(delivered) FROM postbag._shards"); n != 41 {
		t.Errorf("the ledger counts %d of 41 messages after a partition was dropped", n)
	}
	s.publish(boxtest.Messages(3, "a")...)
	if got := s.Read(); len(got) != 3 {
		t.Errorf("%d of 3 messages are read after a partition was dropped", len(got))
	}
}

func TestAPartitionIsKeptForALaggingSubscription(t *testing.T) {
	t.Parallel()
	s, records := passed(t, 20)
	late := store.Ref{Box: "outbox", Subscription: "late"}
	s.Declare(store.Spec{Ref: late, Shards: 1})
	lease := s.Take("late relay", late)
	s.Settle(&s.Lease, store.Settlement{To: s.At, Tally: boxtest.Tally(store.TallyDelivered, records...)})
	s.rounds()
	if s.rows(partSize) != 20 || s.Total.Deleted+s.Total.Dropped > 0 {
		t.Fatalf("of 20 messages that a subscription has not read %d are left", s.rows(partSize))
	}
	theirs, at := s.ReadFrom(late, lease2position(s, late))
	s.Settle(&lease, store.Settlement{To: at, Tally: boxtest.Tally(store.TallyDelivered, theirs...)})
	s.Until("the partition is dropped", func() bool { return s.Total.Dropped == 1 })
	if len(theirs) != 21 || len(s.Total.Faults) > 0 {
		t.Errorf("the late subscription read %d of 21 messages; faults: %q", len(theirs), s.Total.Faults)
	}
}

// lease2position returns where a subscription of one shard stands.
func lease2position(s *testBox, r store.Ref) store.Position {
	s.Helper()
	v, err := s.Beat(s.Context(), store.Beat{Relay: "looker", New: true, TTL: time.Hour, Works: []store.Ref{r}})
	s.Must(err)
	return v.Subscriptions[0].Shards[0].Position
}

func TestAParkedMessageOutlivesItsPartition(t *testing.T) {
	t.Parallel()
	s, records := passed(t, 20)
	parked := records[7]
	s.Settle(&s.Lease, store.Settlement{
		To:    s.At,
		Park:  []store.Park{{Seq: parked.Seq, Slot: parked.Slot, Hash: parked.Hash, State: store.ParkRetrying, Blocking: true, Attempts: 1, Reason: "no"}},
		Tally: append(boxtest.Tally(store.TallyParked, parked), boxtest.Tally(store.TallyDelivered, append(records[:7:7], records[8:]...)...)...),
	})
	s.Until("the partition is dropped", func() bool { return s.Total.Dropped == 1 })
	if s.Total.Copied != 1 {
		t.Errorf("%d messages were copied out, not 1", s.Total.Copied)
	}
	due, err := s.Due(t.Context(), store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20})
	s.Must(err)
	if len(due) != 1 || due[0].ID != parked.ID || !bytes.Equal(due[0].Payload, parked.Payload) || due[0].Record.Key != parked.Key {
		t.Fatalf("due are %d messages, not the one that was parked", len(due))
	}
	for _, state := range []store.State{store.StateRetrying, ""} {
		items, _, err := s.List(t.Context(), store.Query{Ref: outbox, State: state, Key: parked.Key})
		s.Must(err)
		if len(items) != 1 || items[0].ID != parked.ID || !bytes.Equal(items[0].Payload, parked.Payload) || items[0].Reason != "no" {
			t.Errorf("state %q: %d messages are listed, not the one that was parked", state, len(items))
		}
	}
	shown, err := s.Show(t.Context(), "outbox", parked.ID)
	s.Must(err)
	if len(shown) != 1 || shown[0].State != store.StateRetrying || len(shown[0].History) != 1 {
		t.Errorf("a parked message whose partition is gone is shown %d times", len(shown))
	}
	if shown, err := s.Show(t.Context(), "outbox", records[3].ID); err != nil || len(shown) != 0 {
		t.Errorf("a delivered message whose partition is gone is shown %d times (error: %v)", len(shown), err)
	}
	s.Settle(&s.Lease, store.Settlement{
		Resolve: []store.Resolved{{Seq: parked.Seq, Hash: parked.Hash}},
		Tally:   append(boxtest.Less(boxtest.Tally(store.TallyParked, parked)), boxtest.Tally(store.TallyDelivered, parked)...),
	})
	fresh := testBoxAgain(s) // its housekeeping has no pause to wait for
	fresh.Until("the copy is deleted", func() bool { return s.number("SELECT count(*) FROM postbag._copies") == 0 })
}

// testBoxAgain is another process at the same box.
func testBoxAgain(s *testBox) *testBox {
	s.Helper()
	return s.on(newFixture(s.TB, s.dsn))
}

func TestATransactionThatIsOpenLongerThanMessagesAreKeptLosesNothing(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	tx, err := s.plain.Begin(t.Context())
	s.Must(err)
	s.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	late := boxtest.Messages(3, "late")
	s.Must(s.Append(t.Context(), tx, "outbox", late))
	s.publish(boxtest.Messages(20, "a")...)
	s.burn()
	s.publish(boxtest.Messages(1, "a")...)
	s.Deliver()
	s.rounds()
	s.Deliver()
	s.rounds()
	if s.Total.Dropped > 0 {
		t.Fatal("a partition was dropped with a row of an open transaction in it")
	}
	s.Must(tx.Commit(t.Context()))
	got := s.Deliver()
	if len(got) != 3 || got[0].ID != late[0].ID {
		t.Fatalf("%d messages are read after the transaction committed, not its 3", len(got))
	}
	s.Until("the partition is dropped", func() bool { return s.Total.Dropped == 1 })
	if len(s.Total.Faults) > 0 {
		t.Errorf("faults: %q", s.Total.Faults)
	}
}

// hold opens a transaction that reads the box, which a detach waits for.
func (s *testBox) hold() pgx.Tx {
	s.Helper()
	tx, err := s.plain.Begin(s.Context())
	s.Must(err)
	s.Cleanup(func() { _ = tx.Rollback(context.Background()) }) // or a test that fails never ends
	_, err = tx.Exec(s.Context(), "SELECT FROM postbag.outbox LIMIT 1")
	s.Must(err)
	return tx
}

func TestADetachThatTimesOutIsFinishedLater(t *testing.T) {
	t.Parallel()
	s, records := passed(t, 20)
	tx := s.hold()
	s.Settle(&s.Lease, store.Settlement{To: s.At, Tally: boxtest.Tally(store.TallyDelivered, records...)})
	pending := func() bool {
		return s.number("SELECT count(*) FROM pg_inherits WHERE inhdetachpending AND inhparent = 'postbag.outbox'::regclass") == 1
	}
	s.Until("a detach is pending", pending)
	if s.Total.Dropped > 0 || !s.table("outbox__p0") {
		t.Fatal("a partition was dropped while a transaction reads it")
	}
	s.publish(boxtest.Messages(2, "x")...)
	if got := s.Deliver(); len(got) != 2 {
		t.Errorf("%d of 2 messages are read while a detach is pending", len(got))
	}
	s.Must(tx.Commit(t.Context()))
	heir := testBoxAgain(s) // another process finishes what this one began
	heir.Until("the partition is dropped", func() bool { return heir.Total.Dropped == 1 })
	if s.table("outbox__p0") || len(heir.Total.Faults) > 0 {
		t.Errorf("the table is left: %v; faults: %q", s.table("outbox__p0"), heir.Total.Faults)
	}
}

func TestADetachCancelledByAnOperatorIsFinishedAndTheTableKept(t *testing.T) {
	t.Parallel()
	s, _ := passed(t, 20)
	tx := s.hold()
	conn, err := s.plain.Acquire(t.Context())
	s.Must(err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "SET lock_timeout = '50ms'")
	s.Must(err)
	if _, err = conn.Exec(t.Context(), "ALTER TABLE postbag.outbox DETACH PARTITION postbag.outbox__p0 CONCURRENTLY"); err == nil {
		t.Fatal("a detach did not wait for the transaction that reads")
	}
	s.Must(tx.Commit(t.Context()))
	attached := func() int64 {
		return s.number("SELECT count(*) FROM pg_inherits WHERE inhrelid = to_regclass('postbag.outbox__p0')")
	}
	s.Until("the detach is finished", func() bool { return attached() == 0 })
	s.rounds()
	if n := s.number("SELECT count(*) FROM postbag.outbox__p0"); n != 20 || s.Total.Dropped > 0 {
		t.Errorf("of 20 messages in a partition that an operator detached %d are left", n)
	}
	s.exec("ALTER TABLE postbag.outbox ATTACH PARTITION postbag.outbox__p0 FOR VALUES FROM (1) TO (33554433)")
}

func TestAPartitionIsKeptIfTheLedgerDiffers(t *testing.T) {
	t.Parallel()
	s, records := passed(t, 20)
	s.Settle(&s.Lease, store.Settlement{To: s.At, Tally: boxtest.Tally(store.TallyDelivered, records[1:]...)})
	s.Until("a fault is told", func() bool {
		return s.Faulty("does not agree with the log from seq 1 on: 20 messages passed, 19 accounted for")
	})
	s.rounds()
	o, err := s.Overview(t.Context())
	s.Must(err)
	if n := o.Boxes[0].Notices; len(n) != 1 || n[0].What != "keep outbox/default from seq 1 on" || !strings.Contains(n[0].Why, "20 messages passed, 19") {
		t.Errorf("the overview has the notices %v", n)
	}
	if s.rows(partSize) != 20 || s.Total.Dropped+s.Total.Deleted > 0 {
		t.Fatal("a message that the ledger does not account for was dropped")
	}
	s.Total.Faults = nil
	s.Settle(&s.Lease, store.Settlement{Tally: boxtest.Tally(store.TallyDiscarded, records[0])})
	s.Until("the partition is dropped", func() bool { return s.Total.Dropped == 1 })
	if len(s.Total.Faults) > 0 {
		t.Errorf("faults: %q", s.Total.Faults)
	}
}

func TestADetachedTableIsKeptIfTheLedgerDiffers(t *testing.T) {
	t.Parallel()
	s, records := passed(t, 20)
	tx := s.hold()
	s.Settle(&s.Lease, store.Settlement{To: s.At, Tally: boxtest.Tally(store.TallyDelivered, records...)})
	s.Until("the partition is about to be dropped", func() bool { return s.number("SELECT count(*) FROM postbag._drops") == 1 })
	s.Must(tx.Commit(t.Context()))
	s.exec("DELETE FROM postbag.outbox__p0 WHERE seq = $1", records[5].Seq)
	heir := testBoxAgain(s)
	heir.Until("a fault is told", func() bool {
		return heir.Faulty("does not agree with the log from seq 1 on: 19 messages passed, 20 accounted for")
	})
	heir.rounds()
	if heir.Total.Dropped > 0 || s.number("SELECT count(*) FROM postbag.outbox__p0") != 19 {
		t.Error("a table that does not agree with the ledger was dropped")
	}
}

func TestASubscriptionThatIsDeclaredDuringADropBeginsBehindIt(t *testing.T) {
	t.Parallel()
	s, records := passed(t, 20)
	tx := s.hold()
	s.Settle(&s.Lease, store.Settlement{To: s.At, Tally: boxtest.Tally(store.TallyDelivered, records...)})
	s.Until("the partition is about to be dropped", func() bool { return s.number("SELECT count(*) FROM postbag._drops") == 1 })
	late := store.Ref{Box: "outbox", Subscription: "late"}
	s.Declare(store.Spec{Ref: late, Shards: 1})
	lease := s.Take("late relay", late)
	fresh := s.publish(boxtest.Messages(1, "c")...)
	got, at := s.ReadFrom(late, lease2position(s, late))
	if len(got) == 0 || got[0].Seq <= partSize || got[len(got)-1].ID != fresh[0].ID {
		t.Fatalf("a subscription that begins during a drop reads %d messages, not those behind it", len(got))
	}
	s.Deliver()
	s.Must(tx.Commit(t.Context()))
	s.Settle(&lease, store.Settlement{To: at, Tally: boxtest.Tally(store.TallyDelivered, got...)})
	heir := testBoxAgain(s)
	heir.Until("the partition is dropped", func() bool { return heir.Total.Dropped == 1 })
	if len(heir.Total.Faults) > 0 {
		t.Errorf("faults: %q", heir.Total.Faults)
	}
}

func TestWithoutTableOwnershipPartitionsAreKeptAndAllElseIsDone(t *testing.T) {
	t.Parallel()
	s, records := passed(t, 20)
	s.Settle(&s.Lease, store.Settlement{To: s.At, Tally: boxtest.Tally(store.TallyDelivered, records...)})
	s.relayRole()
	r := s.on(newFixture(t, asRole(t, s.dsn, s.name+"_relay", "x"), withoutCreate))
	m := boxtest.Messages(1, "soon")
	m[0].NotBefore = time.Now().Add(time.Hour)
	s.publish(m...)
	s.hasten()
	const room, drop = "1073741824 are wanted: permission denied", "partition outbox__p0 cannot be taken out of the log: must be owner"
	r.Until("the missing right is told", func() bool { return r.Faulty(drop) && r.Total.Promoted == 1 })
	if !r.Faulty("run a relay under it") {
		t.Errorf("the faults do not say what to do: %q", r.Total.Faults)
	}
	again := newFixture(t, asRole(t, s.dsn, s.name+"_relay", "x"), withoutCreate)
	rep, err := again.Maintain(t.Context(), store.Retention{Lease: s.House, Keep: time.Hour, Headroom: 1 << 30})
	s.Must(err)
	if all := strings.Join(rep.Faults, "\n"); len(rep.Faults) != 2 || !strings.Contains(all, room) || !strings.Contains(all, drop) {
		t.Errorf("faults of a role that may neither add nor drop partitions: %q", rep.Faults)
	}
	s.Until("the owner drops the partition", func() bool { return s.Total.Dropped == 1 })
}

// relayRole makes a role, whose name ends with _relay, that may work boxes and owns nothing.
func (s *testBox) relayRole() {
	s.Helper()
	s.exec(`CREATE ROLE ` + s.name + `_relay LOGIN PASSWORD 'x'`)
	s.Cleanup(func() {
		for _, sql := range []string{"DROP OWNED BY %", "DROP ROLE %"} {
			if _, err := s.plain.Exec(s.Context(), strings.ReplaceAll(sql, "%", s.name+"_relay")); err != nil && s.Context().Err() == nil {
				s.Error(err)
			}
		}
	})
	s.exec(`GRANT USAGE ON SCHEMA postbag TO ` + s.name + `_relay`)
	s.exec(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA postbag TO ` + s.name + `_relay`)
	s.exec(`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA postbag TO ` + s.name + `_relay`)
}

// A partition belonged to the relay's role, and the owner could not migrate the box.
func TestAMemberOfTheOwnerGivesThePartitionsThatItAddsToTheOwner(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.relayRole()
	s.exec(`DO $$ BEGIN EXECUTE format('GRANT %I TO ' || '` + s.name + `_relay', current_user); END $$`)
	r := newFixture(t, asRole(t, s.dsn, s.name+"_relay", "x"), withoutCreate)
	const partitions = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'postbag.outbox'::regclass"
	before := s.number(partitions)
	rep, err := r.Maintain(t.Context(), store.Retention{Lease: s.House, Keep: time.Hour, Headroom: 1 << 30})
	s.Must(err)
	if len(rep.Faults) > 0 || s.number(partitions) <= before {
		t.Fatalf("a member of the owner adds no partition: %+v", rep)
	}
	if n := s.number(`SELECT count(DISTINCT relowner) FROM pg_class WHERE oid = 'postbag.outbox'::regclass
OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'postbag.outbox'::regclass)`); n != 1 {
		t.Errorf("the box and its partitions have %d owners", n)
	}
}

func TestAPartitionNotMadeByPostbagIsReported(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(5, "a")...)
	s.Deliver()
	s.exec("CREATE TABLE postbag.rest PARTITION OF postbag.outbox DEFAULT")
	s.Until("the partition is told", func() bool { return s.Faulty("partition rest of box outbox has bounds that Postbag does not make") })
}

func TestDiscardedMessagesAreForgottenWithTheirPartition(t *testing.T) {
	t.Parallel()
	s, records := passed(t, 10)
	dead := records[2]
	s.Settle(&s.Lease, store.Settlement{
		To:    s.At,
		Park:  []store.Park{{Seq: dead.Seq, Slot: dead.Slot, Hash: dead.Hash, State: store.ParkDead}},
		Tally: append(boxtest.Tally(store.TallyParked, dead), boxtest.Tally(store.TallyDelivered, append(records[:2:2], records[3:]...)...)...),
	})
	n, err := s.Command(t.Context(), store.Audit{Who: "me", Why: "test"}, outbox, store.Discard, []int64{dead.Seq})
	s.Must(err)
	turn, err := s.Turn(t.Context(), store.Turn{Settle: []store.Settlement{{Lease: s.Lease}}})
	s.Must(err)
	s.Lease.Version++
	if n != 1 || len(turn.Commands) != 1 {
		t.Fatalf("%d commands were queued, %d came", n, len(turn.Commands))
	}
	s.Settle(&s.Lease, store.Settlement{
		Resolve: []store.Resolved{{Seq: dead.Seq, Hash: dead.Hash}}, Done: []store.Done{turn.Commands[0].Done()},
		Tally: append(boxtest.Less(boxtest.Tally(store.TallyParked, dead)), boxtest.Tally(store.TallyDiscarded, dead)...),
	})
	if n := s.number("SELECT count(*) FROM postbag._discarded"); n != 1 {
		t.Fatalf("%d messages are noted as discarded, not 1", n)
	}
	s.Until("the partition is dropped", func() bool { return s.Total.Dropped == 1 })
	if n := s.number("SELECT count(*) FROM postbag._discarded"); n != 0 {
		t.Errorf("%d messages of a partition that is gone are noted as discarded", n)
	}
	o, err := s.Overview(t.Context())
	s.Must(err)
	if v := o.Boxes[0].Subscriptions[0]; v.Delivered != 10 || v.Discarded != 1 {
		t.Errorf("after a drop %d messages count as delivered and %d as discarded, not 10 and 1", v.Delivered, v.Discarded)
	}
}

func TestAPlainInsertedMessageIsCopiedWithItsSlot(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec("INSERT INTO postbag.outbox (topic, key, payload) VALUES ('plain', 'k', 'x')")
	s.burn()
	s.publish(boxtest.Messages(1, "c")...)
	records := s.Read()
	plain := records[0]
	if want := store.SlotOf(&postbag.Message{Key: "k"}); plain.Slot != want {
		t.Fatalf("a row of plain SQL has slot %d, not %d", plain.Slot, want)
	}
	s.Settle(&s.Lease, store.Settlement{
		To:    s.At,
		Park:  []store.Park{{Seq: plain.Seq, Slot: plain.Slot, Hash: plain.Hash, State: store.ParkDead}},
		Tally: append(boxtest.Tally(store.TallyParked, plain), boxtest.Tally(store.TallyDelivered, records[1])...),
	})
	s.Until("the partition is dropped", func() bool { return s.Total.Dropped == 1 })
	shown, err := s.Show(t.Context(), "outbox", plain.ID)
	s.Must(err)
	if len(shown) != 1 || shown[0].Slot != plain.Slot || shown[0].Topic != "plain" || string(shown[0].Payload) != "x" {
		t.Errorf("a copied row of plain SQL is shown as %+v", shown)
	}
}

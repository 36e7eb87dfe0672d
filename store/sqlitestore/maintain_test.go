package sqlitestore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// upkeep maintains box outbox of a fixture.
type upkeep struct {
	*fixture

	lease store.Lease
}

func (f *fixture) upkeep() *upkeep {
	f.Helper()
	return &upkeep{fixture: f, lease: f.lease(store.Ref{Box: "outbox", Subscription: store.Maintenance})}
}

func (u *upkeep) maintain(keep time.Duration) store.Report {
	u.Helper()
	report, err := u.Maintain(u.Context(), store.Retention{Lease: u.lease, Keep: keep})
	u.check(err)
	return report
}

// deliver settles a page as delivered.
func (f *fixture) deliver(l *store.Lease, batch store.Batch) {
	f.Helper()
	f.settle(l, store.Settlement{To: batch.Next, Tally: boxtest.Tally(store.TallyDelivered, batch.Records...)})
}

// delivered is a box whose messages were all delivered, and its upkeep.
func delivered(t *testing.T, n int) (*fixture, *upkeep) {
	t.Helper()
	f := open(t)
	u := f.upkeep()
	lease := f.lease(outbox)
	f.publish(messages(n, "k")...)
	f.deliver(&lease, f.read("", n))
	return f, u
}

func (f *fixture) count(query string) (n int) {
	f.Helper()
	f.check(f.DB().QueryRowContext(f.Context(), query).Scan(&n))
	return n
}

func TestAnIdleMaintainWritesNothing(t *testing.T) {
	t.Parallel()
	f, u := delivered(t, 20)
	if got := u.maintain(0); got.Deleted != 20 {
		t.Fatalf("%d messages were deleted, want 20", got.Deleted)
	}
	commits := f.commits()
	before := commits()
	for range 10 {
		if got := u.maintain(0); got.Deleted != 0 || len(got.Faults) > 0 {
			t.Fatalf("with nothing to do: %+v", got)
		}
	}
	if after := commits(); after != before {
		t.Error("with nothing to do something was committed")
	}
}

func TestRetentionFollowsTheReaderWithinASpan(t *testing.T) {
	t.Parallel()
	f := open(t)
	u := f.upkeep()
	lease := f.lease(outbox)
	for round := range 5 {
		f.publish(messages(30, "a", "b")...)
		from := f.position()
		f.deliver(&lease, f.read(from, 20))
		f.deliver(&lease, f.read(f.position(), 5))
		report := u.maintain(0)
		if want := int64(25); report.Deleted != want || len(report.Faults) > 0 {
			t.Fatalf("round %d: %+v, want %d deleted", round, report, want)
		}
	}
	if left := f.count(`SELECT count(*) FROM postbag_outbox`); left != 25 {
		t.Errorf("%d rows are left, want the 25 that were not read", left)
	}
}

// position returns where the default subscription's one shard is.
func (f *fixture) position() store.Position {
	f.Helper()
	view, err := f.Beat(f.Context(), store.Beat{Relay: "looks on", New: true, TTL: time.Minute, Works: []store.Ref{outbox}})
	f.check(err)
	return view.Subscriptions[0].Shards[0].Position
}

func TestTheLedgerAgreesIfShardsAreAtDifferentPositions(t *testing.T) {
	t.Parallel()
	f := openAt(t, t.TempDir()+"/test.db", sqlitestore.Options{Create: true})
	f.declare(store.Spec{Ref: outbox, Shards: 4})
	shards := f.take("r1", outbox)
	u := f.upkeep()
	f.publish(messages(400, keys(100)...)...)
	all := f.readAll("")
	for i := range shards {
		var mine []store.Record
		end := 100 + 90*i
		for _, r := range all[:end] {
			if shards[i].Contains(r.Slot) {
				mine = append(mine, r)
			}
		}
		to := f.read("", end).Next
		f.settle(&shards[i].Lease, store.Settlement{To: to, Tally: boxtest.Tally(store.TallyDelivered, mine...)})
	}
	if report := u.maintain(0); report.Deleted != 100 || len(report.Faults) > 0 {
		t.Fatalf("%+v, want the 100 deleted that all shards have passed", report)
	}
}

func keys(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("key ", i)
	}
	return out
}

func TestADeletedRowIsReportedAsAFault(t *testing.T) {
	t.Parallel()
	f, u := delivered(t, 50)
	f.check(f.Exec(t.Context(), `DELETE FROM postbag_outbox WHERE seq = 7`))
	report := u.maintain(0)
	if report.Deleted != 0 || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], "49 messages passed, 50 accounted for") {
		t.Fatalf("%+v, want a fault and nothing deleted", report)
	}
	u.maintain(0)
	o, err := f.Overview(t.Context())
	f.check(err)
	if n := o.Boxes[0].Notices; len(n) != 1 || n[0].What != "keep outbox/default from seq 1 on" || !strings.Contains(n[0].Why, "49 messages passed, 50") {
		t.Errorf("the overview has the notices %v, not one", n)
	}
}

func TestAResolvedMessageIsDeletedByRetention(t *testing.T) {
	t.Parallel()
	f := open(t)
	u := f.upkeep()
	lease := f.lease(outbox)
	f.publish(messages(10, "")...)
	batch := f.read("", 10)
	r := batch.Records[4]
	f.settle(&lease, store.Settlement{
		To:   batch.Next,
		Park: []store.Park{{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead, Reason: "no"}},
		Tally: append(boxtest.Tally(store.TallyParked, r),
			boxtest.Tally(store.TallyDelivered, append(batch.Records[:4:4], batch.Records[5:]...)...)...),
	})
	if report := u.maintain(0); report.Deleted != 9 || report.Copied != 1 {
		t.Fatalf("%+v, want 9 deleted and one kept", report)
	}
	if items, _, err := f.List(t.Context(), store.Query{Ref: outbox}); err != nil || len(items) != 1 || items[0].State != store.StateDead {
		t.Errorf("the list has %v (error: %v), want the dead message", items, err)
	}
	late := store.Ref{Box: "outbox", Subscription: "late"}
	f.declare(store.Spec{Ref: late})
	f.lease(late)
	request := request("", 10)
	request.Ref = late
	if got := f.turn(store.Turn{Read: []store.Request{request}}).Batches[0]; len(got.Records) != 0 {
		t.Errorf("a later subscription reads %d messages that the log has dropped", len(got.Records))
	}
	f.settle(&lease, store.Settlement{Resolve: []store.Resolved{{Seq: r.Seq}}})
	if report := u.maintain(0); report.Deleted != 1 {
		t.Errorf("%+v, want the resolved one deleted", report)
	}
}

func TestTheWriteAheadLogStaysBounded(t *testing.T) {
	t.Parallel()
	const large = 1 << 20
	f := openAt(t, open(t).path, sqlitestore.Options{LargeWAL: large, BusyTimeout: patience})
	u := f.upkeep()
	lease := f.lease(outbox)
	payload := make([]byte, 64<<10)
	most := int64(0)
	from := store.Position("")
	for range 40 {
		msgs := messages(10, "k")
		for i := range msgs {
			msgs[i].Payload = payload
		}
		f.publish(msgs...)
		batch := f.read(from, 100)
		f.deliver(&lease, batch)
		from = batch.Next
		u.maintain(0)
		most = max(most, f.WAL())
	}
	if most > 2*large { // without housekeeping, writers alone keep it below some MiB
		t.Errorf("the write-ahead log grew to %d bytes", most)
	}
}

func TestALongReaderKeepsTheWALAndIsWarnedOf(t *testing.T) {
	t.Parallel()
	const large = 256 << 10
	f := openAt(t, open(t).path, sqlitestore.Options{LargeWAL: large, BusyTimeout: patience})
	u := f.upkeep()
	f.publish(messages(1, "k")...)
	conn, err := f.DB().Conn(t.Context())
	f.check(err)
	exec := func(text string) {
		_, err := conn.ExecContext(t.Context(), text)
		f.check(err)
	}
	exec(`BEGIN`)
	var n int
	f.check(conn.QueryRowContext(t.Context(), `SELECT count(*) FROM postbag_outbox`).Scan(&n))
	payload := make([]byte, 1<<20)
	f.check(f.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		msgs := messages(16, "k")
		for i := range msgs {
			msgs[i].Payload = payload
		}
		return f.Append(ctx, tx, "outbox", msgs)
	}))
	u.maintain(time.Hour)
	if f.WAL() < 8*large {
		t.Fatalf("the write-ahead log has %d bytes although a reader holds on to it", f.WAL())
	}
	info, err := f.Check(t.Context())
	if err != nil || len(info.Warnings) != 1 || !strings.Contains(info.Warnings[0], "write-ahead log") {
		t.Errorf("Check warns of %q (error: %v)", info.Warnings, err)
	}
	exec(`ROLLBACK`)
	f.check(conn.Close())
	u.maintain(time.Hour)
	if f.WAL() != 0 {
		t.Errorf("after the reader ended the write-ahead log has %d bytes", f.WAL())
	}
	if info, err := f.Check(t.Context()); err != nil || len(info.Warnings) != 0 {
		t.Errorf("Check warns of %q (error: %v)", info.Warnings, err)
	}
}

func TestAnErrorOfHousekeepingSaysOnceWhatFailed(t *testing.T) {
	t.Parallel()
	f, u := delivered(t, 20)
	_, err := f.DB().ExecContext(t.Context(), `CREATE TRIGGER refused BEFORE INSERT ON postbag__floor BEGIN SELECT RAISE(ABORT, 'refused'); END`)
	f.check(err)
	_, err = u.Maintain(t.Context(), store.Retention{Lease: u.lease, Keep: time.Hour})
	if err == nil || !strings.HasPrefix(err.Error(), "sqlitestore: maintain box outbox: ") || strings.Count(err.Error(), "sqlitestore:") != 1 {
		t.Errorf("the error is %v", err)
	}
}

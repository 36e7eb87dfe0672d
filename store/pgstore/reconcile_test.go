package pgstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// The server is the same, with the same identifier, as that of a clone would be.
// elsewhere dumps the box's database, restores it as another one, and opens that.
func (s *testBox) elsewhere() *fixture {
	s.Helper()
	file := filepath.Join(s.TempDir(), "dump")
	s.Must(shared.Server(s).Dump(s.Context(), s.name, file))
	dsn := shared.Database(s)
	config, err := pgx.ParseConfig(dsn)
	s.Must(err)
	s.Must(shared.Server(s).Restore(s.Context(), config.Database, file))
	return newFixture(s, dsn)
}

// wantSent fails the test for a message that a relay of the copy would not send.
func wantSent(tb testing.TB, copied *fixture, msgs []postbag.Message) {
	tb.Helper()
	c := &testBox{TB: tb, Driver: boxtest.Of(tb, copied), fixture: copied}
	c.Lease = c.Take("another relay", outbox)
	c.At = lease2position(c, outbox)
	got := map[string]bool{}
	for _, r := range c.Read() {
		got[r.ID.String()] = true
	}
	for _, m := range msgs {
		if !got[m.ID.String()] {
			tb.Errorf("message %v, which was never delivered, does not come", m.ID)
		}
	}
}

// The floor that the shards went back to was one of the old numbering: all that was written under the new one lay below it.
func TestARestoredDumpOfARenumberedLogLosesNothing(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(20, "a", "b")...)
	s.Deliver()
	s.exec("TRUNCATE postbag.outbox RESTART IDENTITY")
	fresh := s.publish(boxtest.Messages(10, "a", "b")...)
	copied := s.elsewhere()
	if _, err := copied.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Fatalf("a restored dump is checked with %v, not as one that has moved", err)
	}
	wantSent(t, copied, fresh)
}

func TestARestoredDumpIsRecognisedAsAnotherDatabase(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(10, "a", "b")...)
	s.Deliver()
	late := s.publish(boxtest.Messages(10, "a", "b")...)
	copied := s.elsewhere()

	if _, err := copied.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Fatalf("a restored dump is checked with %v, not as one that has moved", err)
	}
	if _, err := copied.Check(t.Context()); err != nil {
		t.Fatalf("after its positions were reconciled it is checked with %v", err)
	}
	if o, err := copied.Overview(t.Context()); err != nil || len(o.Boxes[0].Notices) != 1 || !strings.Contains(o.Boxes[0].Notices[0].Why, "copied") {
		t.Errorf("the overview shows %+v (error: %v)", o.Boxes, err)
	}
	wantSent(t, copied, late)
	if info, err := s.Check(t.Context()); err != nil {
		t.Errorf("the database that was dumped is checked with %v (%q)", err, info.Identity)
	}
}

// A row that came along may have the id that a transaction of this cluster gets. It was read before there was such a
// transaction, and does not come again when that one ends, though another has the poll begin below the row.
func TestARestoredRowIsNotRepeatedWhenItsTransactionIDIsReused(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(10, "a", "b")...)
	f := s.elsewhere()
	if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Fatalf("a restored dump is checked with %v, not as one that has moved", err)
	}
	c := &testBox{TB: t, Driver: boxtest.Of(t, f), fixture: f}
	c.Lease = c.Take("another relay", outbox)
	c.At = lease2position(c, outbox)
	c.exec("ALTER TABLE postbag.outbox DROP CONSTRAINT outbox__sound") // it refuses what is written below
	begin := func() (end func(), id int64) {
		tx, err := c.plain.Begin(t.Context())
		c.Must(err)
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		c.Must(c.Append(t.Context(), tx, "outbox", boxtest.Messages(1, "late")))
		c.Must(tx.QueryRow(t.Context(), "SELECT pg_current_xact_id()::text::bigint").Scan(&id))
		return func() { c.Must(tx.Commit(t.Context())) }, id
	}
	endFirst, _ := begin()
	if got := len(c.Deliver()); got != 10 {
		t.Fatalf("%d messages come, not 10", got)
	}
	endSecond, id := begin()
	c.exec("UPDATE postbag.outbox SET xid = $1::text::xid8 WHERE seq = 5", strconv.FormatInt(id, 10))
	if got := c.Read(); len(got) > 0 {
		t.Errorf("%d messages come of transactions that run", len(got))
	}
	endSecond()
	endFirst()
	for _, r := range c.Deliver() {
		if r.Key != "late" {
			t.Errorf("message %d comes again", r.Seq)
		}
	}
}

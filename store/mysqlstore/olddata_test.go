package mysqlstore_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
)

// oldData is a server whose data folder is kept and put back while a test's relay lives.
type oldData struct {
	*testBox

	server     *testserver.MySQL
	data, copy string
}

func newOldData(t *testing.T, k *kind) *oldData {
	t.Helper()
	o := &oldData{copy: filepath.Join(t.TempDir(), "data")}
	o.server = servertest.MySQL(t, testserver.MySQLOptions{Oracle: k.oracle, NoSync: true})
	o.data = o.server.DataDir()
	admin := openSQL(t, o.server.DSN(""))
	admin.SetMaxIdleConns(0) // a session of before a restart could not be closed without an error
	makeDatabase(t, admin, "old")
	o.testBox = testBoxOn(t, o.server.DSN("old"))
	return o
}

// while stops the server, as it should be, and starts it after it did something.
func (o *oldData) while(do func()) {
	o.Helper()
	o.plain.SetMaxIdleConns(0) // it closes what is idle, before the server does
	o.Must(o.server.Stop(o.Context()))
	do()
	o.Must(o.server.Start(o.Context()))
	o.plain.SetMaxIdleConns(40)
	for range 10 { // until no pool has a session of before
		o.Eventually("it answers", func() bool {
			_, err := o.Overview(o.Context())
			return err == nil && o.plain.PingContext(o.Context()) == nil
		})
	}
}

func (o *oldData) duplicate(from, to string) {
	o.Helper()
	o.Must(os.RemoveAll(to))
	if out, err := exec.CommandContext(o.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		o.Fatalf("%v: %s", err, out)
	}
}

// keep copies the data folder of the stopped server.
func (o *oldData) keep() { o.while(func() { o.duplicate(o.data, o.copy) }) }

// putBack goes back to what was kept.
func (o *oldData) putBack() { o.while(func() { o.duplicate(o.copy, o.data) }) }

// leave has a relay give up its leases.
func (o *oldData) leave(relay string) {
	o.Helper()
	_, err := o.Beat(o.Context(), store.Beat{Relay: relay, Leave: true})
	o.Must(err)
}

// moved says that a relay has to take its leases again.
func moved(err error) bool {
	return errors.Is(err, store.ErrMoved) || errors.Is(err, store.ErrRestarted)
}

// The server is stopped as it should be, its folder copied, and put back after it went on: seqs, tokens and versions are
// given out again, to other messages and other owners.
func TestARunningRelayNoticesAnOlderDataDirectory(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newOldData(t, k)
		s.publish(boxtest.Messages(5, "a", "b")...)
		s.Deliver()
		s.keep()
		if _, err := s.Check(t.Context()); err != nil {
			t.Fatalf("after a restart the store is checked with %v", err)
		}
		s.leave("relay")
		s.Lease = s.Take("later", outbox) // with a token that is given out again
		s.At = s.position(outbox)
		for range 4 {
			s.publish(boxtest.Messages(5, "a", "b")...)
			s.Deliver()
		}
		s.publish(boxtest.Messages(5, "a", "b")...)
		s.Read()
		s.putBack()
		want := map[postbag.ID]bool{}
		for range 4 {
			for _, m := range s.publish(boxtest.Messages(5, "a", "b")...) {
				want[m.ID] = true
			}
		}
		read := store.Turn{Read: []store.Request{request(s.At, 1000)}}
		if _, err := s.Turn(t.Context(), read); !moved(err) {
			t.Errorf("a position of before is read on from: %v", err)
		}
		if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
			t.Errorf("the older copy is checked with %v", err)
		}
		if _, err := s.Check(t.Context()); err != nil {
			t.Errorf("it is checked again with %v", err)
		}
		if entries, err := s.Audited(t.Context(), 10); err != nil || len(entries) != 1 || !strings.Contains(entries[0].Why, "an older copy") {
			t.Errorf("the audit log has %v (error: %v)", entries, err)
		}
		if o, err := s.Overview(t.Context()); err != nil || len(o.Boxes[0].Notices) != 1 {
			t.Errorf("the overview shows %+v (error: %v)", o.Boxes, err)
		}
		if _, err := s.Turn(t.Context(), read); !moved(err) {
			t.Errorf("after the check a position of before is read on from: %v", err)
		}
		s.Lease = s.Take("another", outbox)
		s.At = s.position(outbox)
		for _, r := range s.Deliver() {
			delete(want, r.ID)
		}
		if len(want) > 0 {
			t.Errorf("%d of 20 messages do not come", len(want))
		}
	})
}

// What a relay knows of a parked message is about another one when the data is older: its settlement would
// resolve that, though nobody has sent it.
func TestASettlementOfBeforeResolvesNothingInAnOlderDataDirectory(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newOldData(t, k)
		s.keep()
		park := func(relay string) store.Lease {
			l := s.Take(relay, outbox)
			s.publish(boxtest.Messages(1, "a")...)
			turn, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{request(s.position(outbox), 10)}})
			s.Must(err)
			b := turn.Batches[0]
			s.Must(b.Err)
			r := b.Records[0]
			s.Settle(&l, store.Settlement{
				To: b.Next, Park: []store.Park{{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead, Reason: "no"}}, Tally: boxtest.Tally(store.TallyParked, r),
			})
			return l
		}
		s.leave("relay")
		old := park("later")
		s.putBack()
		if _, err := s.Check(t.Context()); err != nil && !errors.Is(err, store.ErrMoved) {
			t.Fatal(err)
		}
		s.leave("relay")
		now := park("another")
		resolve := store.Turn{Settle: []store.Settlement{{Lease: old, Resolve: []store.Resolved{{Seq: 1}}}}}
		res, err := s.Turn(t.Context(), resolve)
		if err == nil && res.Verdicts[0].Applied {
			t.Errorf("under %+v, and this is %+v, it is settled", old, now)
		}
		if n := s.number("SELECT COUNT(*) FROM postbag__parked"); n != 1 {
			t.Errorf("%d messages are parked, want the one of now", n)
		}
	})
}

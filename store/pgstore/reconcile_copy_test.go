package pgstore_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
)

// moved says that a relay has to take its leases again.
func moved(err error) bool {
	return errors.Is(err, store.ErrMoved) || errors.Is(err, store.ErrRestarted)
}

// The server is stopped as it should be, its folder copied, and put back after it went on: identity and life are as they were,
// while transaction ids and seqs are given out again, to other messages.
func TestARunningRelayNoticesAnOlderDataDirectory(t *testing.T) {
	t.Parallel()
	pg := servertest.Postgres(t, testserver.PostgresOptions{NoSync: true, Settings: settings})
	s := testBoxOn(t, pg.DSN("postgres"))
	copied := t.TempDir()
	again := func(do func()) {
		s.Must(pg.Stop(t.Context(), testserver.StopFast))
		do()
		s.Must(pg.Start(t.Context()))
		s.plain.Reset()
		s.pool.Reset()
	}
	copyTo := func(from, to string) {
		s.Must(os.RemoveAll(to))
		if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s.publish(boxtest.Messages(5, "a", "b")...)
	s.Deliver()
	again(func() { copyTo(pg.DataDir(), copied+"/data") })
	if _, err := s.Check(t.Context()); err != nil {
		t.Fatalf("after a restart the store is checked with %v", err)
	}
	for range 4 { // transactions of a relay that goes on, whose ids are given out again later
		s.publish(boxtest.Messages(5, "a", "b")...)
		s.Deliver()
	}
	s.publish(boxtest.Messages(5, "a", "b")...)
	s.Read()
	again(func() { copyTo(copied+"/data", pg.DataDir()) })
	want := map[postbag.ID]bool{}
	for range 4 {
		for _, m := range s.publish(boxtest.Messages(5, "a", "b")...) {
			want[m.ID] = true
		}
	}
	read := store.Turn{Read: []store.Request{boxtest.Request(outbox, s.At, 1000)}}
	if res, err := s.Turn(t.Context(), read); !moved(err) {
		t.Errorf("a position of before is read on from: %v, %d messages", err, len(res.Batches[0].Records))
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
	_, err := s.Beat(t.Context(), store.Beat{Relay: "relay", Leave: true})
	s.Must(err)
	s.Lease = s.Take("another", outbox)
	s.At = lease2position(s, outbox)
	for _, r := range s.Deliver() {
		delete(want, r.ID)
	}
	if len(want) > 0 {
		t.Errorf("%d of 20 messages do not come", len(want))
	}
}

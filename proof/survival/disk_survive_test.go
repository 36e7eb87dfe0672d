package survival

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"

	"github.com/postbag/postbag/proof/internal/daemon"
)

// fullFor is how long a disk stays full.
func fullFor() time.Duration {
	if full() {
		return time.Minute
	}
	return 5 * time.Second
}

// Item 11: the disk under PostgreSQL is full, with writers and a relay at work.
func TestAFullDatabaseDiskLosesNothing(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	disk := servertest.Tmpfs(t, 320<<20)
	w := newWorldOn(t, testserver.PostgresOptions{
		DataDir: filepath.Join(disk.Dir(), "data"), Settings: map[string]string{"max_wal_size": "64MB", "min_wal_size": "32MB"},
	}, testserver.NATSOptions{})
	r := w.start("a", relayConfig{})
	ws := &writers{w: w, count: 8, keys: 30, outages: true}
	finish := ws.meanwhile(t.Context())
	w.awaitStored(2000)
	w.fill(disk, r, func() bool { return strings.Contains(w.pg.Log(), "No space left on device") })
	w.awaitServer()
	before := ws.total()
	w.eventually(time.Minute, "writers commit again", func() bool { return ws.total() > before+1000 })
	finish()
	w.expect(ws, time.Minute)
	w.wantNothingParked("after the disk was full")
	r.Stop()
}

// awaitServer waits until PostgreSQL answers. It starts one that a full disk has
// ended, as a service manager does.
func (w *world) awaitServer() {
	w.t.Helper()
	w.eventually(time.Minute, "PostgreSQL answers", func() bool {
		if w.pool.Ping(w.t.Context()) == nil {
			return true
		}
		if strings.HasSuffix(strings.TrimSpace(w.pg.LogTail(1)), "database system is shut down") {
			if err := w.pg.Start(w.t.Context()); err != nil {
				w.t.Log(err)
			}
		}
		return false
	})
}

// Item 11: the disk under NATS is full. The server then turns JetStream off until
// it is started again, as a service manager does.
func TestAFullBrokerDiskLosesNothing(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	disk := servertest.Tmpfs(t, 128<<20)
	w := newWorldOn(t, testserver.PostgresOptions{}, testserver.NATSOptions{StoreDir: filepath.Join(disk.Dir(), "store")})
	r := w.start("a", relayConfig{more: "    timeout: 5s"}) // such a server does not answer
	ws := &writers{w: w, count: 8, keys: 30}
	finish := ws.meanwhile(t.Context())
	w.awaitStored(2000)
	w.fill(disk, r, func() bool { return r.Lines("the destination does not take messages") > 0 })
	w.wantNothingParked("while the disk was full")
	if err := w.nats.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	finish()
	w.expect(ws, time.Minute)
	w.wantNothingParked("after the disk was full")
	r.Stop()
}

// fill leaves no room on a disk for a while, and sees that the relay neither ends
// nor says much.
func (w *world) fill(disk *testserver.Tmpfs, r *daemon.Process, noticed func() bool) {
	w.t.Helper()
	from, said := time.Now(), len(r.Log())
	ballast, err := disk.Fill(0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.eventually(time.Minute, "the full disk is noticed", noticed)
	pause(fullFor())
	if err := os.Remove(ballast); err != nil {
		w.t.Fatal(err)
	}
	w.injure("full disk", from)
	select {
	case err := <-r.Done():
		w.t.Fatalf("the relay ended: %v", err)
	default:
	}
	text, took := r.Log()[said:], time.Since(from)
	if lines := strings.Count(text, "\n"); lines > 10+int(took/(2*time.Second)) {
		w.t.Errorf("the relay wrote %d lines while the disk was full for %v:\n%s", lines, took, text)
	}
}

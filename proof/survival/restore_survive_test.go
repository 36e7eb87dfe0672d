package survival

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
)

// Item 10: a database is dumped under load, with messages that were not delivered
// and one that is dead, and restored into another cluster. All of it is delivered
// there, and the relay says what happened.
func TestADumpRestoredIntoAnotherClusterIsDelivered(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	w.dropStream()
	w.addStream(jetstream.StreamConfig{MaxMsgSize: 4096})
	retry := relayConfig{more: "    retry: {min: 1s, max: 1s, max_attempts: 2}"}
	r := w.start("a", retry)
	ws := &writers{w: w, count: 8, keys: 30}
	ws.write(t.Context(), 4000)
	w.publishAll(8, 0, strings.Repeat("x", 8192), 7)
	w.awaitDead(1)
	from := time.Now()
	file := filepath.Join(t.TempDir(), "dump")
	r.Kill()
	ws.write(t.Context(), 4000)
	if err := w.pg.Dump(t.Context(), "postgres", file); err != nil {
		t.Fatal(err)
	}

	other := servertest.Postgres(t, testserver.PostgresOptions{})
	if err := other.Restore(t.Context(), "postgres", file); err != nil {
		t.Fatal(err)
	}
	w.dsn = other.DSN("postgres")
	w.open()
	b := w.start("b", retry)
	w.eventually(30*time.Second, "the relay says that the database is another one", func() bool {
		return b.Lines("level=ERROR msg=\"relay: the store is not as it was; messages may be delivered again\"") == 1
	})
	w.injure("restore", from)
	ws.write(t.Context(), 4000)
	w.updateStream(func(c *jetstream.StreamConfig) { c.MaxMsgSize = -1 })
	w.order(store.Retry, "k7")
	ws.committed["k7"] = 1
	w.expect(ws, time.Minute)
	b.Stop()
}

package survival

import (
	"context"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/proof/internal/daemon"
)

// Item 1 of the list.
func TestWritersOfEveryKindAndTwoRelaysLoseAndRepeatNothing(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	a, b := w.start("a", relayConfig{}), w.start("b", relayConfig{})
	ws := &writers{w: w, count: 16, keys: 30, delay: delays, prepare: true}
	ws.write(t.Context(), size(100_000))
	w.expectOnce(ws, time.Minute)
	a.Stop()
	b.Stop()
}

// Item 2: relays are killed, and stopped for longer than their leases.
func TestKilledAndFrozenRelaysLoseNothing(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	ws := &writers{w: w, count: 16, keys: 30, delay: delays}
	relays := []*daemon.Process{w.start("r0", relayConfig{}), w.start("r1", relayConfig{})}
	finish := ws.meanwhile(t.Context())
	kills, freezes := size(20), size(10)
	for n := 0; kills+freezes > 0; n++ {
		pause(time.Duration(200+rand.IntN(600)) * time.Millisecond)
		i := n % 2
		from := time.Now()
		if kills > 0 && (freezes == 0 || n%3 > 0) {
			kills--
			relays[i].Kill()
			relays[i] = w.start("r", relayConfig{})
			w.injure("kill", from)
			continue
		}
		freezes--
		relays[i].Signal(syscall.SIGSTOP)
		pause(ttl + ttl/2)
		relays[i].Signal(syscall.SIGCONT)
		w.injure("freeze", from)
	}
	finish()
	if full() {
		ws.write(t.Context(), 100_000-ws.total())
	}
	w.expect(ws, time.Minute)
}

// Item 3: a write transaction and a held snapshot in another database of the
// server, open the whole run.
func TestTransactionsOfOtherDatabasesDelayNoDelivery(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	if err := w.pg.CreateDatabase(t.Context(), "stranger"); err != nil {
		t.Fatal(err)
	}
	w.hold("stranger", "create table t (); create temp table u ()")
	w.hold("stranger", "set transaction isolation level repeatable read; select count(*) from pg_class")
	w.hold("postgres", "create table public.mine (); select pg_current_xact_id()")
	r := w.start("a", relayConfig{})
	ws := &writers{w: w, count: 8, keys: 30}
	ws.write(t.Context(), size(20_000))
	// The strangers end with the test, after this: nothing may have waited.
	w.expectOnce(ws, 15*time.Second)
	r.Stop()
}

// hold opens a transaction, does sql in it and leaves it open until the test ends.
func (w *world) hold(database, sql string) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.pg.DSN(database))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(w.t.Context(), "begin; "+sql); err != nil {
		w.t.Fatal(err)
	}
}

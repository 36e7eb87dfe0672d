package survival

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// Item 5: PostgreSQL is restarted in every way, under load.
func TestPostgresRestartsUnderLoadLoseNothing(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	a, b := w.start("a", relayConfig{}), w.start("b", relayConfig{})
	ws := &writers{w: w, count: 8, keys: 30, outages: true}
	finish := ws.meanwhile(t.Context())
	for _, restart := range []func() error{
		func() error { return w.pg.Restart(t.Context(), testserver.StopFast) },
		func() error { return w.pg.Restart(t.Context(), testserver.StopImmediate) },
		func() error {
			if err := w.pg.Kill(t.Context()); err != nil {
				return err
			}
			return w.pg.Start(t.Context())
		},
	} {
		pause(2 * time.Second)
		from := time.Now()
		if err := restart(); err != nil {
			t.Error(err)
		}
		// Both relays may have to send again what they had in flight.
		w.injure("restart", from)
		w.injure("restart", from)
	}
	pause(time.Second)
	finish()
	w.expect(ws, time.Minute)
	a.Stop()
	b.Stop()
}

// Item 5: connections are cut after COMMIT was sent and before its answer is
// read, and the relay's at any time.
func TestLostAnswersOfCommitsLoseNoMessage(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	direct := fmt.Sprintf("127.0.0.1:%d", w.pg.Port())
	writing, relaying := servertest.Proxy(t, direct), servertest.Proxy(t, direct)
	w.dsn = at(t, w.dsn, writing.Addr())
	w.open()
	r := w.start("a", relayConfig{dsn: at(t, w.dsn, relaying.Addr())})
	r.Ready()
	ws := &writers{w: w, count: 8, keys: 30, outages: true}
	finish := ws.meanwhile(t.Context())
	for n := range size(100) {
		direction, trap := testserver.Up, testserver.NewTrap("commit\x00", testserver.CutAfter)
		switch n % 3 {
		case 1: // it never arrives
			trap = testserver.NewTrap("commit\x00", testserver.CutBefore)
		case 2: // it is done for certain
			direction, trap = testserver.Down, testserver.NewTrap("COMMIT\x00", testserver.CutBefore)
		}
		writing.Watch(direction, trap.Watch)
		select {
		case <-trap.Sprung():
		case <-time.After(time.Minute):
			t.Fatal("no writer commits")
		}
		writing.Watch(direction, nil)
		if n%4 == 0 {
			from := time.Now()
			relaying.Cut()
			w.injure("cut", from)
		}
		pause(20 * time.Millisecond)
	}
	finish()
	w.expect(ws, time.Minute)
	t.Logf("commits without an answer %d, of which stood %d", ws.unsure, ws.stood)
	if ws.stood == 0 || ws.unsure == ws.stood {
		t.Errorf("%d commits got no answer, %d of them stood: the test shows nothing", ws.unsure, ws.stood)
	}
	r.Stop()
}

// at is dsn with another host and port.
func at(t *testing.T, dsn string, hosts string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = hosts
	return u.String()
}

// Item 5: the primary is killed under load and its synchronous standby promoted.
// Writers and relays name both servers and find the new one by themselves.
func TestPromotingAStandbyUnderLoadLosesNothing(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	standby := servertest.Standby(t, w.pg, testserver.StandbyOptions{Synchronous: true})
	w.dsn = at(t, w.dsn, fmt.Sprintf("127.0.0.1:%d,127.0.0.1:%d", w.pg.Port(), standby.Port())) + "&target_session_attrs=read-write"
	w.open()
	a, b := w.start("a", relayConfig{}), w.start("b", relayConfig{})
	a.Ready()
	b.Ready()
	ws := &writers{w: w, count: 8, keys: 30, outages: true}
	finish := ws.meanwhile(t.Context())
	pause(3 * time.Second)
	before := ws.total()
	from := time.Now()
	if err := w.pg.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.injure("failover", from)
	w.injure("failover", from)
	pause(3 * time.Second)
	finish()
	if after := ws.total() - before; before == 0 || after == 0 {
		t.Errorf("%d messages were committed before the failover and %d after it: the test shows nothing", before, after)
	}
	w.expect(ws, time.Minute)
	a.Stop()
	b.Stop()
}

package survival

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/store"
)

// parked is how many messages are parked, and attempts how many were counted.
func (w *world) parked() (rows, attempts int) {
	w.t.Helper()
	err := w.pool.QueryRow(w.t.Context(), `select count(*), coalesce(sum(attempts), 0) from postbag._parked`).Scan(&rows, &attempts)
	if err != nil {
		w.t.Fatal(err)
	}
	return rows, attempts
}

// Item 4: the broker is down for a minute, then back. Writers go on meanwhile.
func TestABrokerThatIsDownCostsNoAttempt(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	r := w.start("a", relayConfig{})
	ws := &writers{w: w, count: 4, keys: 30}
	ws.write(t.Context(), 2000)
	w.messages(ws.total(), time.Minute)
	down := 10 * time.Second
	if full() {
		down = time.Minute
	}
	said := len(r.Log())
	from := time.Now()
	if err := w.nats.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	ws.write(t.Context(), 2000)
	pause(time.Until(from.Add(down)))
	w.wantNothingParked("during the outage")
	if err := w.nats.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	w.injure("broker down", from)
	within := ttl + 5*time.Second
	if !full() {
		within += 20 * time.Second // a busy machine
	}
	if took := w.resumed(ws.total(), back); took > within {
		t.Errorf("delivery resumed %v after the broker was back; want %v", took, within)
	}
	w.expect(ws, 30*time.Second)
	w.wantNothingParked("after the outage")
	lines := strings.Split(strings.TrimSpace(r.Log()[said:]), "\n")
	if most := 2 + int(down/time.Minute); len(lines) > most {
		t.Errorf("%d lines of log for one outage of %v, want at most %d:\n%s", len(lines), down, most, strings.Join(lines, "\n"))
	}
	r.Stop()
}

// wantNothingParked fails the test if a message is parked or an attempt counted.
func (w *world) wantNothingParked(when string) {
	w.t.Helper()
	if rows, attempts := w.parked(); rows != 0 || attempts != 0 {
		w.t.Errorf("%s %d messages are parked with %d attempts", when, rows, attempts)
	}
}

// wantHeld waits until messages are held for their topic, and fails the test if
// one is parked that neither is nor waits behind another of its key, or an
// attempt was counted.
func (w *world) wantHeld(when string) {
	w.t.Helper()
	var held, others, attempts int
	w.eventually(15*time.Second, "messages are held for their topic "+when, func() bool {
		err := w.pool.QueryRow(w.t.Context(), `select count(*) filter (where state = $1 and held <> ''), count(*) filter (where state not in ($1, $2)),
			coalesce(sum(attempts), 0) from postbag._parked`, int(store.ParkHeld), int(store.ParkBlocked)).Scan(&held, &others, &attempts)
		if err != nil {
			w.t.Fatal(err)
		}
		return held > 0
	})
	if others != 0 || attempts != 0 {
		w.t.Errorf("%s %d messages are held, %d are parked for another reason, and %d attempts are counted; want none of those", when, held, others, attempts)
	}
}

// resumed waits for n messages and returns how long after back the broker took
// the first of those that had waited.
func (w *world) resumed(n int, back time.Time) time.Duration {
	w.t.Helper()
	for _, m := range w.messages(n, time.Minute) {
		if m.To.After(back) {
			return m.To.Sub(back)
		}
	}
	w.t.Error("no message was taken after the fault")
	return 0
}

func TestBrokerRestartsUnderLoadLoseNothing(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	r := w.start("a", relayConfig{})
	ws := &writers{w: w, count: 8, keys: 30}
	finish := ws.meanwhile(t.Context())
	for range 4 {
		pause(time.Second)
		from := time.Now()
		if err := w.nats.Restart(t.Context()); err != nil {
			t.Error(err)
		}
		w.injure("broker restart", from)
	}
	finish()
	w.expect(ws, time.Minute)
	w.wantNothingParked("after the restarts")
	r.Stop()
}

func TestDeliveryWaitsForAMissingStream(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	w.dropStream()
	r := w.start("a", relayConfig{})
	ws := &writers{w: w, count: 4, keys: 30}
	ws.write(t.Context(), 1000)
	w.eventually(15*time.Second, "the relay says that the stream is missing", func() bool { return r.Lines("does not take messages") > 0 })
	w.wantHeld("without a stream")
	w.addStream(jetstream.StreamConfig{})
	w.injure("no stream", w.began)
	w.expect(ws, 20*time.Second)
	r.Stop()
	w.wantNothingParked("at the end")
}

func TestDeliveryWaitsForAFullStream(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	w.dropStream()
	w.addStream(jetstream.StreamConfig{MaxMsgs: 500})
	r := w.start("a", relayConfig{})
	ws := &writers{w: w, count: 4, keys: 30}
	ws.write(t.Context(), 2000)
	w.eventually(15*time.Second, "the relay says that the stream is full", func() bool { return r.Lines("does not take messages") > 0 })
	w.wantHeld("with a full stream")
	w.updateStream(func(c *jetstream.StreamConfig) { c.MaxMsgs = -1 })
	w.injure("full stream", w.began)
	w.expect(ws, 20*time.Second)
	r.Stop()
	w.wantNothingParked("at the end")
}

func (w *world) dropStream() {
	w.t.Helper()
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error { return js.DeleteStream(ctx, stream) })
}

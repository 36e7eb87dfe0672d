package survival

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
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

// Item 4: the broker is down for a minute, then back.
func TestABrokerThatIsDownCostsNoAttempt(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	if !full() {
		t.Skip("runs in the full form: POSTBAG_FULL=1")
	}
	w := newWorld(t)
	r := w.start("a", relayConfig{})
	ws := &writers{w: w, count: 4, keys: 30}
	ws.write(t.Context(), 2000)
	down := 12 * time.Second
	if full() {
		down = time.Minute
	}
	from := time.Now()
	if err := w.nats.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	ws.write(t.Context(), 2000)
	pause(time.Until(from.Add(down)))
	if rows, attempts := w.parked(); rows != 0 || attempts != 0 {
		t.Errorf("the outage parked %d messages with %d attempts", rows, attempts)
	}
	if n := r.lines("level=WARN"); n > 4+int(down/time.Minute) {
		t.Errorf("%d warnings for one outage of %v:\n%s", n, down, r.log)
	}
	if err := w.nats.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	w.injure("broker down", from)
	total := ws.total()
	w.messages(total, ttl+20*time.Second)
	if took := time.Since(back); took > ttl+5*time.Second+3*time.Second { // 3 s for the reading back
		t.Errorf("delivery resumed after %v", took)
	}
	w.expect(ws, 30*time.Second)
	if rows, attempts := w.parked(); rows != 0 || attempts != 0 {
		t.Errorf("after the outage %d messages are parked with %d attempts", rows, attempts)
	}
	r.stop()
}

func TestABrokerIsRestartedUnderLoad(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	r := w.start("a", relayConfig{})
	ws := &writers{w: w, count: 8, keys: 30, delay: func() time.Duration { return 5 * time.Millisecond }}
	written := make(chan struct{})
	go func() { defer close(written); ws.write(t.Context(), size(50_000)) }()
	for range 4 {
		pause(time.Second)
		from := time.Now()
		if err := w.nats.Restart(t.Context()); err != nil {
			t.Error(err)
		}
		w.injure("broker restart", from)
	}
	<-written
	w.expect(ws, time.Minute)
	if rows, _ := w.parked(); rows != 0 {
		t.Errorf("%d messages are parked", rows)
	}
	r.stop()
}

func TestAMissingStreamIsWaitedFor(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	w.dropStream()
	r := w.start("a", relayConfig{})
	ws := &writers{w: w, count: 4, keys: 30}
	ws.write(t.Context(), 1000)
	w.eventually(15*time.Second, "the relay says that the stream is missing", func() bool { return r.lines("does not take messages") > 0 })
	if rows, attempts := w.parked(); rows != 0 || attempts != 0 {
		t.Errorf("a missing stream parked %d messages with %d attempts", rows, attempts)
	}
	w.addStream(jetstream.StreamConfig{})
	w.injure("no stream", w.began)
	w.expect(ws, 20*time.Second)
	r.stop()
}

func TestAFullStreamIsWaitedFor(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	w.dropStream()
	w.addStream(jetstream.StreamConfig{MaxMsgs: 500})
	r := w.start("a", relayConfig{})
	ws := &writers{w: w, count: 4, keys: 30}
	ws.write(t.Context(), 2000)
	w.eventually(15*time.Second, "the relay says that the stream is full", func() bool { return r.lines("does not take messages") > 0 })
	if rows, attempts := w.parked(); rows != 0 || attempts != 0 {
		t.Errorf("a full stream parked %d messages with %d attempts", rows, attempts)
	}
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error {
		s, err := js.Stream(ctx, stream)
		if err != nil {
			return err
		}
		c := s.CachedInfo().Config
		c.MaxMsgs = -1
		_, err = js.UpdateStream(ctx, c)
		return err
	})
	w.injure("full stream", w.began)
	w.expect(ws, 20*time.Second)
	r.stop()
}

func (w *world) dropStream() {
	w.t.Helper()
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error { return js.DeleteStream(ctx, stream) })
}

package survival

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
)

// Item 5: PostgreSQL is restarted in every way, under load.
func TestPostgresIsRestartedUnderLoad(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	a, b := w.start("a", relayConfig{}), w.start("b", relayConfig{})
	ws := &writers{w: w, count: 8, keys: 30, outages: true, delay: func() time.Duration { return 3 * time.Millisecond }}
	written := make(chan struct{})
	go func() { defer close(written); ws.write(t.Context(), size(100_000)) }()
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
	<-written
	w.expect(ws, time.Minute)
	a.stop()
	b.stop()
}

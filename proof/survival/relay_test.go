package survival

import (
	"cmp"
	"fmt"
	"time"

	"github.com/postbag/postbag/proof/internal/daemon"
)

// relayConfig is the configuration of the relays of a test.
type relayConfig struct {
	dsn  string // default: the world's server
	more string // further lines of the subscription
	top  string // further lines of the destinations, and at the top after them
	to   string // the destination; default: events
	sub  string // the subscription's name; default: default

	ttl time.Duration // how long leases last; default: ttl
}

// start starts a relay process.
func (w *world) start(name string, c relayConfig) *daemon.Process {
	w.t.Helper()
	if c.dsn == "" {
		c.dsn = w.dsn
	}
	text := fmt.Sprintf(`name: %s
ttl: %s
store: {dsn_env: POSTBAG_DSN}
destinations:
  events: {nats: {url: %q, stream: %s}}
%s
subscriptions:
  - name: %s
    to: %s
    in_flight: %d
%s
`, name, cmp.Or(c.ttl, ttl), w.nats.URL(), stream, c.top, cmp.Or(c.sub, "default"), cmp.Or(c.to, "events"), inFlight, c.more)
	return daemon.Start(w.t, name, text, "POSTBAG_DSN="+c.dsn)
}

package membroker

import (
	"context"

	"github.com/postbag/postbag/broker"
)

// Probe implements broker.Prober.
func (d *Destination) Probe(ctx context.Context) error {
	if d.guard.IsShut() {
		return &broker.Error{Outcome: broker.Unavailable, Err: broker.ErrClosed}
	}
	if err := ctx.Err(); err != nil {
		return &broker.Error{Outcome: broker.Unavailable, Err: err}
	}
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	if d.state.down {
		return &broker.Error{Outcome: broker.Unavailable, Err: errDown}
	}
	return nil
}

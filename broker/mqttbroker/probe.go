package mqttbroker

import (
	"context"

	"github.com/postbag/postbag/broker"
)

// Probe implements broker.Prober: there is a connection, made if there is none, and the
// broker answers on it.
func (d *Destination) Probe(ctx context.Context) error {
	return adapter.Probe(ctx, &d.guard, "broker", d.probe)
}

func (d *Destination) probe(ctx context.Context) *broker.Error {
	x, f := d.connection(ctx)
	if f != nil {
		return f
	}
	select {
	case <-x.ping():
		return nil
	case <-x.gone:
		return errUnsent()
	case <-ctx.Done():
		return adapter.Failure(broker.Unavailable, "the probe had no answer in time", "wait, or look whether the broker runs")
	}
}

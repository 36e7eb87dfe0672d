package redisbroker

import (
	"context"

	"github.com/postbag/postbag/broker"
)

// Probe implements broker.Prober: the server answers a PING. Whether it takes
// entries, an entry alone would show.
func (d *Destination) Probe(ctx context.Context) error {
	return adapter.Probe(ctx, &d.guard, "server", d.probe)
}

func (d *Destination) probe(ctx context.Context) *broker.Error {
	if err := d.client.Ping(ctx).Err(); err != nil {
		return unwrittenError(err)
	}
	return nil
}

package natsbroker

import (
	"context"
	"errors"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Probe implements broker.Prober: it asks JetStream for the stream if one is
// named in Options, else for the account. A user who may ask neither is content
// with a server that answers.
func (d *Destination) Probe(ctx context.Context) error {
	return adapter.Probe(ctx, &d.calls.CallGuard, "server", d.probe)
}

func (d *Destination) probe(ctx context.Context) *broker.Error {
	if f := d.connected(); f != nil {
		return f
	}
	if d.options.Stream != "" {
		_, f := d.streams.check(ctx, "")
		if f != nil { // without it no message goes anywhere
			f = &broker.Error{Outcome: f.Outcome, Err: f.Err}
		}
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	err := d.streams.request(ctx, func(ctx context.Context) error {
		_, err := d.js.AccountInfo(ctx)
		return err
	})
	if errors.Is(err, errForbidden) {
		err = d.nc.FlushWithContext(ctx)
	}
	if err != nil {
		return brokerkit.NotSent(translateError(err))
	}
	return nil
}

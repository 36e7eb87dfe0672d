package natsbroker

import (
	"context"
	"errors"

	"github.com/postbag/postbag/broker"
)

// Probe implements broker.Prober: it asks JetStream for the stream if one is
// named in Options, else for the account. A user who may ask neither is content
// with a server that answers.
func (d *Destination) Probe(ctx context.Context) error {
	if !d.calls.Enter() {
		return &broker.Error{Outcome: broker.Unavailable, Err: broker.ErrClosed}
	}
	answer := make(chan *broker.Error, 1)
	go func() { // for a client whose server does not read blocks without regard to ctx
		defer d.calls.Leave()
		answer <- d.probe(ctx)
	}()
	select {
	case f := <-answer:
		if f != nil {
			return f
		}
		return nil
	case <-ctx.Done():
		return failure(broker.Unavailable, "the probe had no answer in time", "wait, or look whether the server runs")
	}
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
		return notSent(translateError(err))
	}
	return nil
}

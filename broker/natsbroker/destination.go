package natsbroker

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Destination delivers to JetStream over one connection. It is safe for
// concurrent use.
type Destination struct {
	js      jetstream.JetStream
	nc      *nats.Conn
	owned   *trouble // of a connection that is ours to close, else nil
	options Options
	pass    map[string]bool // Options.PassHeaders

	streams *streams
	inbox   *inbox
	calls   brokerkit.Calls[*call]
	slots   chan struct{} // one for each message sent and not answered

	featuresOnce sync.Once
	features     broker.Features
}

var (
	_ broker.Destination = (*Destination)(nil)
	_ broker.Prober      = (*Destination)(nil)
)

// New returns a destination over the connection of js, which stays the caller's:
// Close leaves it open. Give it nats.MaxReconnects(-1), or it ends with an outage
// of a few minutes. New does no I/O; an error names every fault of the options.
func New(js jetstream.JetStream, o Options) (*Destination, error) {
	err := o.Validate()
	if js == nil {
		err = errors.Join(err, errors.New("natsbroker: New was given no JetStream; make one with jetstream.New"))
	}
	if err != nil {
		return nil, err
	}
	return newDestination(js, o), nil
}

func newDestination(js jetstream.JetStream, o Options) *Destination {
	d := &Destination{js: js, nc: js.Conn()}
	d.options = o.withDefaults()
	d.pass = passes(o.PassHeaders)
	d.slots = make(chan struct{}, d.options.MaxPending)
	d.streams = &streams{js: js, named: o.Stream, recheck: d.options.Recheck, bySubject: map[string]*target{}}
	d.inbox = &inbox{nc: d.nc, answered: d.answered, lost: d.lost}
	return d
}

// Publish implements broker.Destination. The sending is done by a goroutine of its
// own, because a client whose server does not read blocks without regard to ctx; it
// ends with the call, or as soon as the client lets go of it.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if len(msgs) == 0 {
		return
	}
	c := newCall(ctx, d, msgs, report)
	if ctx.Err() != nil {
		c.end(nil, adapter.NotInTime())
		return
	}
	number, ok := d.calls.Begin(c)
	if !ok {
		c.end(nil, brokerkit.Closed())
		return
	}
	c.number = number
	go c.work()
	select {
	case <-c.over.Done():
	case <-ctx.Done():
		if c.end(adapter.NoAnswer(), adapter.NotInTime()) {
			d.streams.forget() // a stream that is gone answers nothing where an ordinary subscriber listens
		}
	}
}

// Features implements broker.Destination. MaxBytes is known when Options.Stream
// is named and the destination had been in touch with it before the first call of
// Features; it leaves room for the largest headers.
func (d *Destination) Features() broker.Features {
	d.featuresOnce.Do(func() {
		d.features = broker.Features{Fences: headerMsgID, Binding: broker.BindingNATS}
		if t := d.streams.theNamed(); t != nil {
			d.features.MaxBytes = max(0, t.limit(int(d.nc.MaxPayload()))-maxHeader)
		}
	})
	return d.features
}

// Close implements broker.Destination. A connection that was handed in to New
// stays open.
func (d *Destination) Close(ctx context.Context) error {
	return d.calls.Close(ctx, abandon, func() {
		d.inbox.close()
		if d.owned != nil {
			d.nc.Close()
		}
	})
}

// abandon ends what a Close could not wait for.
func abandon(calls []*call) {
	unknown := adapter.Abandoned()
	for _, c := range calls {
		c.end(unknown, brokerkit.Closed())
	}
}

// lost ends every call: no answer will come over a connection that is gone.
func (d *Destination) lost() {
	unknown := adapter.Lost()
	unsent := adapter.Failure(broker.Unavailable, "the connection was lost before the message was sent", "wait, or look whether the server runs")
	for _, c := range d.calls.All() {
		c.end(unknown, unsent)
	}
}

// answered finds whom an answer is for.
func (d *Destination) answered(call uint64, i int, m *nats.Msg) {
	if c, ok := d.calls.Find(call); ok {
		c.answered(i, readAnswer(m))
	}
}

// connected says why nothing can be sent now, nil when it can.
func (d *Destination) connected() *broker.Error {
	switch d.nc.Status() {
	case nats.CONNECTED:
		return nil
	case nats.CLOSED:
		return translateError(nats.ErrConnectionClosed)
	case nats.DRAINING_SUBS, nats.DRAINING_PUBS:
		return translateError(nats.ErrConnectionDraining)
	default:
		err := d.nc.LastError()
		if d.owned != nil {
			err = d.owned.get()
		}
		if err != nil {
			if f := translateError(err); f.Outcome == broker.Misconfigured { // the login is refused
				return f
			}
		}
		return translateError(nats.ErrDisconnected)
	}
}

package mqttbroker

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Destination publishes to a broker, over one connection at a time. It is safe for
// concurrent use. Make one with Dial.
type Destination struct {
	access

	options Options
	named   bool // Options.Login.ClientID was set
	guard   brokerkit.CallGuard

	// life ends with Close, and with it what is being connected.
	life context.Context //nolint:containedctx // it is the destination's own
	die  context.CancelFunc

	mu      sync.Mutex
	current *connection
	attempt *attempt // to make one, nil for none
	closed  bool
	calls   map[*call]struct{}

	// suspects is how many messages still to come may be the one that the broker
	// ended a connection for. Until then they go one at a time.
	suspects atomic.Int64

	release  sync.Once
	released chan struct{}
}

var (
	_ broker.Destination = (*Destination)(nil)
	_ broker.Prober      = (*Destination)(nil)
)

// attempt is one try to connect, for all who wait for it.
type attempt struct {
	done chan struct{}
	x    *connection
	f    *broker.Error
}

func newDestination(addresses []address, o Options) *Destination {
	d := &Destination{options: o.withDefaults(), named: o.Login.ClientID != "", calls: map[*call]struct{}{}, released: make(chan struct{})}
	d.access = access{addresses: addresses, login: d.options.Login, alive: d.options.KeepAlive, clean: true, rivals: &rivals{}}
	d.life, d.die = context.WithCancel(context.Background())
	return d
}

// Publish implements broker.Destination. The sending is done by a goroutine of its own,
// because a connection whose broker does not read blocks without regard to ctx. It ends
// with the call, or when the write does.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if len(msgs) == 0 {
		return
	}
	c := newCall(d, msgs, report)
	switch {
	case ctx.Err() != nil:
		c.End(nil, adapter.NotInTime())
	case !d.guard.Enter():
		c.End(nil, brokerkit.Closed())
	default:
		d.enlist(c, true)
		defer d.enlist(c, false)
		go c.work(ctx)
		select {
		case <-c.over:
		case <-ctx.Done():
			c.End(adapter.NoAnswer(), adapter.NotInTime())
		}
	}
}

func (d *Destination) enlist(c *call, in bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if in {
		d.calls[c] = struct{}{}
	} else {
		delete(d.calls, c)
	}
}

// Features implements broker.Destination.
func (d *Destination) Features() broker.Features { return broker.Features{Binding: broker.BindingMQTT} }

// connection returns the one there is, or makes one, together with all who want one
// meanwhile. An attempt goes on when ctx ends: the next call may have it.
func (d *Destination) connection(ctx context.Context) (*connection, *broker.Error) {
	d.mu.Lock()
	if x := d.current; x != nil {
		d.mu.Unlock()
		return x, nil
	}
	if d.rivals.away() > 0 {
		d.mu.Unlock()
		return nil, errTakenOver(broker.Misconfigured, d.options.Login.ClientID)
	}
	a := d.attempt
	if a == nil {
		a = &attempt{done: make(chan struct{})}
		d.attempt = a
		go d.try(a)
	}
	d.mu.Unlock()
	select {
	case <-a.done:
		return a.x, a.f
	case <-ctx.Done():
		return nil, adapter.Failure(broker.Unavailable, "there was no connection in time", "wait, or look whether the broker runs")
	}
}

func (d *Destination) try(a *attempt) {
	w, f := d.connect(d.life)
	if a.f = f; f == nil {
		a.x = d.newConnection(w)
	}
	d.mu.Lock()
	d.attempt = nil
	closed := d.closed
	if a.x != nil && !closed {
		select {
		case <-a.x.gone: // it is over already
		default:
			d.current = a.x
		}
	}
	d.mu.Unlock()
	if a.x != nil && closed {
		a.x.part()
		a.x, a.f = nil, brokerkit.Closed()
	}
	close(a.done)
}

// lost forgets a connection that has ended, with so many messages of which the
// broker blamed one. It is called before their answers are given.
func (d *Destination) lost(x *connection, blamed int) {
	d.mu.Lock()
	if d.current == x {
		d.current = nil
	}
	d.mu.Unlock()
	if blamed > 1 {
		d.suspects.Store(int64(blamed))
	} else if blamed == 1 {
		d.suspects.Store(0) // found
	}
}

// retire ends a careful connection when its suspects have passed.
func (d *Destination) retire(x *connection) {
	if !x.careful || !x.idle() || d.suspects.Load() > 0 {
		return
	}
	d.mu.Lock()
	if d.current == x {
		d.current = nil
	}
	d.mu.Unlock()
	x.part()
}

// Close implements broker.Destination.
func (d *Destination) Close(ctx context.Context) error {
	empty := d.guard.Refuse()
	err := brokerkit.Wait(ctx, empty)
	d.release.Do(func() {
		go func() {
			defer close(d.released)
			d.hangUp()
			<-empty
		}()
	})
	if err != nil {
		return err
	}
	return brokerkit.Wait(ctx, d.released)
}

// hangUp ends what is under way, and the connection.
func (d *Destination) hangUp() {
	d.die()
	d.mu.Lock()
	d.closed = true
	x, a := d.current, d.attempt
	d.current = nil
	open := make([]*call, 0, len(d.calls))
	for c := range d.calls {
		open = append(open, c)
	}
	d.mu.Unlock()
	unknown := adapter.Abandoned()
	for _, c := range open {
		c.End(unknown, brokerkit.Closed())
	}
	if a != nil {
		<-a.done
	}
	if x != nil {
		x.part()
	}
}

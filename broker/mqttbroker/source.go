package mqttbroker

import (
	"context"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Source takes messages from a session at a broker of MQTT 5. Make it with OpenSource. It is
// safe for concurrent use; one goroutine fetches.
type Source struct {
	options SourceOptions
	where   string // the brokers
	access  access // of run
	life    sourcekit.Life

	stop    context.CancelFunc // ends run
	running sync.WaitGroup     // run
	wake    chan struct{}      // there may be something for Fetch

	mu       sync.Mutex
	epochs   uint64
	consumer *consumer       // nil between two
	told     bool            // a message of the assignment was returned
	lost     bool            // what the next Fetch says
	fault    error           // why there is no consumer, once that is known
	alarm    error           // what the next Fetch says, once
	had      bool            // there was a session
	warned   bool            // of a session that is kept for less
	unsure   bool            // acks were written to a connection that was lost, and there is no other yet
	leave    context.Context //nolint:containedctx // that of Close
	left     error           // what Close says
}

var _ source.Source = (*Source)(nil)

// OpenSource makes a source, which connects in the background, and renews a lost connection
// for ever. Close it.
//
// A broker that is not there is no error: Fetch is unavailable until it is. So are a login and
// a filter that are refused, as misconfigured. An error means that the options cannot be used,
// or that ctx is over. ctx does not matter afterwards.
func OpenSource(ctx context.Context, o SourceOptions) (*Source, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	addresses, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	expiry, most := uint32(o.SessionExpiry/time.Second), uint16(o.MaxUnacked)
	s := &Source{
		options: o, where: where(addresses), wake: make(chan struct{}, 1),
		access: access{
			addresses: addresses, login: o.Login, alive: o.KeepAlive, rivals: &rivals{},
			session: packets.Properties{SessionExpiryInterval: &expiry, ReceiveMaximum: &most},
		},
	}
	work, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.running.Go(func() { s.run(work) })
	return s, nil
}

// shared says whether the source shares the messages with others.
func (s *Source) shared() bool { return s.options.Group != "" }

// partition is the only one: the session.
func (s *Source) partition() source.Partition { return source.Partition(s.options.Login.ClientID) }

// Features implements source.Source.
//
// A source with SourceOptions.Group counts no deliveries: a broker that gives a message to
// another member need not say that it came before.
func (s *Source) Features() source.Features {
	f := source.Features{Order: source.OrderStream, Counts: true, Cumulative: true, MaxUnacked: s.options.MaxUnacked, Binding: broker.BindingMQTT}
	if s.shared() {
		f.Order, f.Counts = source.OrderNone, false
	}
	return f
}

// Close implements source.Source. The broker keeps what was not acked for the next source with
// this client id, for SourceOptions.SessionExpiry. It gives it to nobody else, whatever
// SourceOptions.Group says, as long as the session lasts.
func (s *Source) Close(ctx context.Context) error {
	return s.life.Close(ctx, func(ctx context.Context) error {
		s.mu.Lock()
		s.leave = ctx
		s.mu.Unlock()
		s.stop()
		s.running.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.left != nil: // nobody else is there any more
			return s.left
		case s.unsure:
			return s.unsureAcks()
		}
		return nil
	})
}

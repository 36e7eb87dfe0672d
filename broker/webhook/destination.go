package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Destination sends messages to a webhook endpoint. It implements
// broker.Destination and broker.Prober and is safe for concurrent use.
type Destination struct {
	settings  settings
	conns     *conns
	transport *http.Transport
	turns     chan struct{} // holds one entry per request under way

	calls   brokerkit.CallGuard // Publish and Probe
	once    sync.Once
	closing chan struct{}   // closed by the first Close: who waits for a turn gives up
	ended   context.Context //nolint:containedctx // a Close that gave up waiting ends it, and with it every request
	end     context.CancelFunc
}

var (
	_ broker.Destination = (*Destination)(nil)
	_ broker.Prober      = (*Destination)(nil)
)

// New returns a destination with options o. It reports all bad options at once
// and does no I/O. Close it when it is not needed any more.
func New(o Options) (*Destination, error) {
	s, err := o.resolve()
	if err != nil {
		return nil, err
	}
	d := &Destination{
		settings: s,
		conns:    newDialer(s),
		turns:    make(chan struct{}, s.Concurrency),
		closing:  make(chan struct{}),
	}
	d.transport = newTransport(s, d.conns)
	d.ended, d.end = context.WithCancel(context.Background())
	return d, nil
}

// String names the endpoint without its path, query and credentials.
func (d *Destination) String() string {
	if d.settings.target == nil {
		return "webhook"
	}
	return "webhook " + d.settings.target.origin
}

// GoString is String, so that no format prints secrets.
func (d *Destination) GoString() string { return d.String() }

// Features says that every message is a request of its own. An endpoint need not
// drop repeats, so that no fence is named.
func (d *Destination) Features() broker.Features {
	return broker.Features{MaxBatch: 1, Binding: broker.BindingHTTP}
}

// Publish sends each message in a request of its own, all at a time within
// Options.Concurrency. Messages of one key in one call go one after another, and
// those behind one that was not accepted are NotSent.
//
// When ctx ends, requests under way are cut off; what may have arrived of them
// is Unknown.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if !d.calls.Enter() {
		brokerkit.ReportAll(msgs, report, notSent(broker.ErrClosed))
		return
	}
	defer d.calls.Leave()
	if len(msgs) == 1 {
		report(0, d.send(ctx, &msgs[0]))
		return
	}
	var running sync.WaitGroup
	for _, places := range byKey(msgs) {
		running.Go(func() { d.sendInOrder(ctx, msgs, report, places) })
	}
	running.Wait()
}

// byKey returns the places of each key's messages in order. Messages without a
// key are ordered with no other.
func byKey(msgs []broker.Delivery) [][]int {
	var groups [][]int
	group := make(map[string]int)
	for i := range msgs {
		key := msgs[i].Key
		if g, ok := group[key]; ok && key != "" {
			groups[g] = append(groups[g], i)
			continue
		}
		group[key] = len(groups)
		groups = append(groups, []int{i})
	}
	return groups
}

var errEarlier = errors.New("webhook: an earlier message of its key was not accepted; it is sent after that one")

func (d *Destination) sendInOrder(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result), places []int) {
	for n, i := range places {
		r := d.send(ctx, &msgs[i])
		report(i, r)
		if r.Outcome == broker.Accepted {
			continue
		}
		for _, later := range places[n+1:] {
			report(later, notSent(errEarlier))
		}
		return
	}
}

// send waits for a turn and sends m.
func (d *Destination) send(ctx context.Context, m *broker.Delivery) broker.Result {
	if ctx.Err() != nil {
		return notSent(waitError(ctx))
	}
	select {
	case <-d.closing:
		return notSent(broker.ErrClosed)
	case <-ctx.Done():
		return notSent(waitError(ctx))
	case d.turns <- struct{}{}:
	}
	defer func() { <-d.turns }()
	return d.attempt(ctx, m)
}

func waitError(ctx context.Context) error {
	return fmt.Errorf("webhook: the call's context ended before the message had its turn: %w; it is sent again", context.Cause(ctx))
}

func notSent(err error) broker.Result { return broker.Result{Outcome: broker.NotSent, Err: err} }

// Close refuses new calls and waits for those under way. If ctx ends first, it
// cuts them off, so that they answer Unknown, waits for that, and returns an
// error that wraps the context's. In any case all connections are closed when it
// returns. Calling it again waits again and does nothing else.
func (d *Destination) Close(ctx context.Context) error {
	d.once.Do(func() { close(d.closing) })
	err := d.calls.Shut(ctx)
	d.end()
	if err != nil {
		// It has nothing left to wait for, and so cannot fail.
		_ = d.calls.Shut(context.WithoutCancel(ctx))
		err = fmt.Errorf("webhook: close: requests under way were cut off and are sent again: %w; give Close more time", err)
	}
	d.transport.CloseIdleConnections()
	d.conns.closeAll()
	return err
}

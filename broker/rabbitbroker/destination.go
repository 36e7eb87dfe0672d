package rabbitbroker

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Destination delivers to RabbitMQ over one connection, which it renews for ever.
// It is safe for concurrent use.
type Destination struct {
	options   Options
	router    router
	link      *link
	pipelines []*pipeline
	seed      maphash.Seed
	calls     brokerkit.Calls[*call]

	stop    context.CancelFunc
	running sync.WaitGroup // the link and the pipelines
}

var (
	_ broker.Destination = (*Destination)(nil)
	_ broker.Prober      = (*Destination)(nil)
)

func newDestination(urls string, o Options) (*Destination, error) {
	hosts, err := parseURLs(urls)
	if err != nil {
		return nil, err
	}
	d := &Destination{options: o, router: newRouter(o), seed: maphash.MakeSeed()}
	for range o.Channels {
		d.pipelines = append(d.pipelines, newPipeline(o))
	}
	d.link = newLink(hosts, o, d.pipelines)
	for _, l := range d.pipelines {
		l.link = d.link
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.running.Go(func() { d.link.run(ctx) })
	for _, l := range d.pipelines {
		d.running.Go(func() { l.run(ctx) })
	}
	return d, nil
}

// Publish implements broker.Destination.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	d.publish(ctx, msgs, report, d.prepare)
}

func (d *Destination) publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result),
	prepare func(m *broker.Delivery, it *item) *broker.Error,
) {
	if len(msgs) == 0 {
		return
	}
	c := newCall(d, msgs, report)
	if ctx.Err() != nil {
		c.end(nil, adapter.NotInTime())
		return
	}
	number, ok := d.calls.Begin(c)
	if !ok {
		c.end(nil, brokerkit.Closed())
		return
	}
	defer d.calls.End(number)
	c.dispatch(ctx, msgs, prepare)
	select {
	case <-c.over:
	case <-ctx.Done():
		c.end(adapter.NoAnswer(), adapter.NotInTime())
	}
}

// pipelineOf says which pipeline takes a message: always the same one for a key.
func (d *Destination) pipelineOf(m *broker.Delivery) int {
	if len(d.pipelines) == 1 {
		return 0
	}
	if m.Key == "" {
		return int(m.ID[len(m.ID)-1]) % len(d.pipelines)
	}
	return int(maphash.String(d.seed, m.Key) % uint64(len(d.pipelines)))
}

// Features implements broker.Destination.
func (d *Destination) Features() broker.Features {
	return broker.Features{MaxBytes: d.options.MaxBytes, Binding: broker.BindingAMQP}
}

// Close implements broker.Destination.
func (d *Destination) Close(ctx context.Context) error {
	return d.calls.Close(ctx, abandon, func() {
		d.stop()
		d.running.Wait()
	})
}

// abandon ends what a Close could not wait for.
func abandon(calls []*call) {
	unknown := adapter.Abandoned()
	for _, c := range calls {
		c.end(unknown, brokerkit.Closed())
	}
}

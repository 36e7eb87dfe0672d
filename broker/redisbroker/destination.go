package redisbroker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Destination adds messages to streams. It is safe for concurrent use.
type Destination struct {
	client  redis.UniversalClient
	owned   bool
	options Options
	largest largest

	guard brokerkit.CallGuard
	ended chan struct{} // closed when Close no longer waits
	end   sync.Once

	release  sync.Once
	released chan struct{}
	closing  error // of an owned client; read it after released
}

var (
	_ broker.Destination = (*Destination)(nil)
	_ broker.Prober      = (*Destination)(nil)
)

// New returns a destination over a client that stays the caller's: Close leaves it
// open. It may be a *redis.Client, also one of sentinels, or a *redis.ClusterClient;
// a *redis.Ring moves keys between servers when one is away, and is refused. It
// needs a ReadTimeout and a WriteTimeout, as it has by default; its MaxRetries do
// not matter. New does no I/O; an error says why options or client cannot be used.
func New(client redis.UniversalClient, o Options) (*Destination, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	d := &Destination{client: client, options: o.withDefaults(), ended: make(chan struct{}), released: make(chan struct{})}
	if err := usable(client, &d.options); err != nil {
		return nil, err
	}
	return d, nil
}

// usable says why a client cannot be used with these options.
func usable(client redis.UniversalClient, o *Options) error {
	read, err := usableClient("New", client)
	if err == nil && read > 0 && o.Replicas > 0 && o.ReplicaWait >= read {
		err = fmt.Errorf("redisbroker: Options.ReplicaWait is %v, and the client reads no longer than %v; lower one or raise the other",
			o.ReplicaWait, read)
	}
	return err
}

// usableClient says why a client cannot be used by what is named, and for how long it reads
// at most, zero if it does not say.
func usableClient(by string, client redis.UniversalClient) (read time.Duration, err error) {
	var write time.Duration
	switch c := client.(type) {
	case nil:
		return 0, errors.New("redisbroker: " + by + " was given no client; make one with redis.NewUniversalClient")
	case *redis.Ring:
		return 0, errors.New("redisbroker: " + by + " was given a ring, which moves keys to other servers and so loses their order; use a cluster")
	case *redis.Client:
		read, write = c.Options().ReadTimeout, c.Options().WriteTimeout
	case *redis.ClusterClient:
		read, write = c.Options().ReadTimeout, c.Options().WriteTimeout
	default: // somebody's own, who knows its time-outs
		return 0, nil
	}
	if read <= 0 || write <= 0 {
		return 0, errors.New("redisbroker: the client has no ReadTimeout or no WriteTimeout, and would wait for a frozen server for ever; set both")
	}
	return read, nil
}

// Publish implements broker.Destination. The pipeline runs in a goroutine of its
// own, because the client does not stop reading when ctx ends; it ends with the call,
// or with the client's ReadTimeout.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if len(msgs) == 0 {
		return
	}
	switch {
	case ctx.Err() != nil:
		brokerkit.ReportAll(msgs, report, brokerkit.Result(adapter.NotInTime()))
	case !d.guard.Enter():
		brokerkit.ReportAll(msgs, report, broker.Result{Outcome: broker.NotSent, Err: broker.ErrClosed})
	default:
		d.publish(ctx, msgs, report)
	}
}

// publish is Publish inside the gate.
func (d *Destination) publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	work, cancel := context.WithCancel(ctx)
	c := newCall(d, len(msgs))
	entries := c.entries // make cuts what it did not need
	done := make(chan struct{})
	go func() {
		defer d.guard.Leave()
		defer close(done)
		defer cancel()
		c.run(work, entries)
	}()
	c.make(work, msgs, report)
	select {
	case <-done:
		c.tell(report)
	case <-ctx.Done():
		cancel()
		c.giveUp(report, adapter.NoAnswer())
	case <-d.ended:
		cancel()
		c.giveUp(report, adapter.Abandoned())
	}
}

// Features implements broker.Destination.
func (d *Destination) Features() broker.Features {
	f := broker.Features{MaxBytes: d.options.MaxBytes, Binding: broker.BindingRedis}
	if d.options.Fence {
		f.Fences = "entry id"
	}
	return f
}

// Close implements broker.Destination. A client that was handed in to New stays
// open.
func (d *Destination) Close(ctx context.Context) error {
	empty := d.guard.Refuse()
	err := brokerkit.Wait(ctx, empty)
	d.end.Do(func() { close(d.ended) })
	d.release.Do(func() {
		go func() {
			defer close(d.released)
			if d.owned {
				d.closing = d.client.Close() // ends what is still being read
			}
			<-empty
		}()
	})
	if err != nil {
		return err
	}
	if err := brokerkit.Wait(ctx, d.released); err != nil {
		return err
	}
	return d.closing
}

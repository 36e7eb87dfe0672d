package adapters

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/proof/chaos"
)

// Faults implements chaos.Place.
func (p *natsPlace) Faults() []chaos.Fault {
	return slices.Concat(p.wire.Faults(chaos.BrokerWire), []chaos.Fault{
		p.wire.Lost("answer to a publish lost", chaos.BrokerWire, chaos.EveryRelay, `"stream":"`+natsStream),
		atOnce("restart of the broker", chaos.Brokers, p.server.Restart),
		gone("SIGKILL of the broker", chaos.Brokers, p.server),
		frozen("SIGSTOP of the broker", chaos.Brokers, p.server),
		p.changed("full stream that discards what is new", func(c *jetstream.StreamConfig) { c.MaxMsgs = 1 }, func(c *jetstream.StreamConfig) { c.MaxMsgs = -1 }),
		p.changed("stream that listens to other subjects",
			func(c *jetstream.StreamConfig) { c.Subjects = []string{"elsewhere.>"} }, func(c *jetstream.StreamConfig) { c.Subjects = natsSubjects }),
		during("right to publish taken away",
			func(context.Context) error { return p.server.SetUsers(natsUsers(natsSubjects...)...) },
			func(context.Context) error { return p.server.SetUsers(natsUsers()...) }),
		ofTopic("stream that does not listen to one subject", natsBranch,
			p.set(func(c *jetstream.StreamConfig) { c.Subjects = []string{natsSubject} }), p.set(func(c *jetstream.StreamConfig) { c.Subjects = natsSubjects })),
		ofTopic("right to publish to one subject taken away", natsBranch,
			func(context.Context) error { return p.server.SetUsers(natsUsers(natsBranch)...) },
			func(context.Context) error { return p.server.SetUsers(natsUsers()...) }),
		wiped("stream purged", p.purge),
		wiped("stream deleted and recreated", p.recreate),
		wiped("restart of the broker with its data wiped", p.forget),
		full(diskFull, chaos.Brokers, p.disk, p.server.Restart), // it has turned JetStream off until then
	})
}

// set changes the stream's settings.
func (p *natsPlace) set(change func(*jetstream.StreamConfig)) func(context.Context) error {
	return func(ctx context.Context) error {
		return patiently(ctx, func() error {
			s, err := p.js.Stream(ctx, natsStream)
			if err != nil {
				return err
			}
			c := s.CachedInfo().Config
			change(&c)
			_, err = p.js.UpdateStream(ctx, c)
			return err
		})
	}
}

// changed is a setting of the stream that is another one for a while.
func (p *natsPlace) changed(name string, begin, end func(*jetstream.StreamConfig)) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Brokers, Stops: true, Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			return p.set(end), p.set(begin)(ctx)
		},
	}
}

// purge takes all out of the stream.
func (p *natsPlace) purge(ctx context.Context) error {
	return patiently(ctx, func() error {
		s, err := p.js.Stream(ctx, natsStream)
		if err != nil {
			return err
		}
		return s.Purge(ctx)
	})
}

// recreate deletes the stream and makes it again.
func (p *natsPlace) recreate(ctx context.Context) error {
	defer p.stale.Store(true)
	gone := func() error {
		err := p.js.DeleteStream(ctx, natsStream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil // an answer was lost
		}
		return err
	}
	return errors.Join(patiently(ctx, gone), patiently(ctx, func() error { return p.create(ctx) }))
}

// forget restarts the server without what it had stored.
func (p *natsPlace) forget(ctx context.Context) error {
	defer p.stale.Store(true)
	return errors.Join(
		p.server.Stop(ctx), os.RemoveAll(filepath.Join(p.server.StoreDir(), "jetstream")), p.server.Start(ctx),
		patiently(ctx, func() error { return p.create(ctx) }),
	)
}

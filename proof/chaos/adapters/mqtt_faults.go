package adapters

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/postbag/postbag/proof/chaos"
)

// Faults implements chaos.Place. A broker that is killed loses what it had for its subscribers and they had not taken.
func (p *mqttPlace) Faults() []chaos.Fault {
	return slices.Concat(p.wire.Faults(chaos.BrokerWire), []chaos.Fault{
		p.wire.Doubtful("cut after a publish was sent", chaos.BrokerWire, chaos.EveryRelay, "Postbag-Id"),
		p.wire.Lost("answer to a publish lost", chaos.BrokerWire, chaos.EveryRelay, "\x40\x02"),
		atOnce("restart of the broker", chaos.Brokers, p.server.Restart),
		wiped("SIGKILL of the broker", func(ctx context.Context) error {
			return errors.Join(p.server.Kill(ctx), p.server.Start(ctx), p.resubscribe(ctx))
		}),
		wiped("restart of the broker with its data wiped", p.forget),
		frozen("SIGSTOP of the broker", chaos.Brokers, p.server),
		during("right to publish taken away",
			func(context.Context) error { return p.server.SetACL(p.rights("read")...) },
			func(context.Context) error { return p.server.SetACL(p.rights("readwrite")...) }),
		ofTopic("right to publish to one topic taken away", mqttBranch,
			func(context.Context) error {
				return p.server.SetACL(append(p.rights("read"), "topic readwrite "+mqttTopic)...)
			},
			func(context.Context) error { return p.server.SetACL(p.rights("readwrite")...) }),
		during("nobody subscribes", p.unsubscribe, p.resubscribe),
		full(diskFull, chaos.Brokers, p.disk, nil), // it goes on in memory
	})
}

// rights are the lines of the ACL file. The pattern is for a reader that is not back after a restart: without it Mosquitto 2.0.11
// drops what it acknowledges meanwhile, once the file was read again.
func (*mqttPlace) rights(relay string) []string {
	return []string{"pattern read #", "user " + mqttReader, "topic readwrite #", "user " + mqttRelay, "topic " + relay + " #"}
}

// forget restarts the broker without what it had saved.
func (p *mqttPlace) forget(ctx context.Context) error {
	err := p.server.Stop(ctx)
	if gone := os.Remove(p.saved()); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return errors.Join(err, p.server.Start(ctx), p.resubscribe(ctx))
}

// resubscribe waits until the broker knows the reader.
func (p *mqttPlace) resubscribe(ctx context.Context) error {
	return patiently(ctx, func() error { return p.join(ctx) })
}

func (p *mqttPlace) unsubscribe(ctx context.Context) error {
	return patiently(ctx, func() error { return p.leave(ctx) })
}

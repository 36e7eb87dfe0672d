package adapters

import (
	"context"
	"slices"

	"github.com/postbag/postbag/integration/chaos"
	"github.com/postbag/postbag/internal/testserver"
)

// Faults implements chaos.Database.
func (p *postgres) Faults() []chaos.Fault {
	restart := func(mode testserver.StopMode) func(context.Context) error {
		return func(ctx context.Context) error { return p.server.Restart(ctx, mode) }
	}
	return slices.Concat(p.relays.Faults(chaos.DatabaseWire), []chaos.Fault{
		p.producers.Doubtful("cut after COMMIT was sent", chaos.DatabaseWire, chaos.NoRelay, "commit\x00"),
		p.producers.Lost("answer to COMMIT lost", chaos.DatabaseWire, chaos.NoRelay, "COMMIT\x00"),
		atOnce("restart of the database", chaos.Databases, restart(testserver.StopFast)),
		atOnce("immediate shutdown of the database", chaos.Databases, restart(testserver.StopImmediate)),
		gone("SIGKILL of the database", chaos.Databases, p.server),
		frozen("SIGSTOP of the database", chaos.Databases, p.server),
	})
}

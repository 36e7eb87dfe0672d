package adapters

import (
	"context"
	"fmt"
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
		{
			Name: "the log goes on in its next partition", Room: chaos.Databases,
			Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
				return nil, p.nextPartition(ctx)
			},
		},
	})
}

// nextPartition uses up the numbers of the log's present partition but for some, as any user of the sequence could: the maintainer
// then adds one at the end, and drops the present one when it is read and its time is over.
func (p *postgres) nextPartition(ctx context.Context) error {
	const size, left = 32 << 20, 300
	return p.exec(ctx, fmt.Sprintf(
		`SELECT setval('postbag.outbox__seq', greatest(last_value, (last_value / %d + 1) * %[1]d - %d)) FROM postbag.outbox__seq`, size, left))
}

// exec executes a statement as soon as the server takes it.
func (p *postgres) exec(ctx context.Context, sql string) error {
	return patiently(ctx, func() error {
		_, err := p.server.Exec(ctx, "postgres", sql)
		return err
	})
}

// Points implements chaos.Pointed.
func (p *postgres) Points() (names []string, provoke func(context.Context) error) {
	return []string{
		"pgstore/partition/create/before", "pgstore/partition/create/uncommitted", "pgstore/partition/create/after",
		"pgstore/partition/drop/before", "pgstore/partition/drop/detached", "pgstore/partition/drop/after",
	}, p.nextPartition
}

package adapters

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
)

// Faults implements chaos.Database.
func (p *postgres) Faults() []chaos.Fault {
	restart := func(mode testserver.StopMode) func(context.Context) error {
		return func(ctx context.Context) error { return p.server().Restart(ctx, mode) }
	}
	all := append(chaos.Together(chaos.DatabaseWire, p.relays...),
		p.trap(func(w *chaos.Wire) chaos.Fault {
			return w.Doubtful("cut after COMMIT was sent", chaos.DatabaseWire, chaos.NoRelay, "commit\x00")
		}),
		p.trap(func(w *chaos.Wire) chaos.Fault {
			return w.Lost("answer to COMMIT lost", chaos.DatabaseWire, chaos.NoRelay, "COMMIT\x00")
		}),
		atOnce("restart of the database", chaos.Databases, restart(testserver.StopFast)),
		atOnce("immediate shutdown of the database", chaos.Databases, restart(testserver.StopImmediate)),
		gone("SIGKILL of the database", chaos.Databases, current{p}),
		frozen("SIGSTOP of the database", chaos.Databases, current{p}),
		p.stranger("stranger's write transaction for the whole run", true, `SELECT pg_current_xact_id()`),
		p.stranger("snapshot held for the whole run", true, `SELECT count(*) FROM placed`),
		p.stranger("stranger's write transaction", false, `SELECT pg_current_xact_id()`),
		p.statement("VACUUM FULL of the log", `VACUUM FULL postbag.outbox`),
		p.statement("REINDEX of the log", `REINDEX TABLE postbag.outbox`),
		p.prepared(),
		p.locked(),
		p.terminated(),
		p.readOnly(),
		p.connectionLimit(),
		p.full(),
		chaos.Fault{
			Name: "the log goes on in its next partition", Room: chaos.Databases, Outbox: true,
			Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
				return nil, p.nextPartition(ctx)
			},
		})
	if p.standby != nil {
		all = append(all, atOnce(promotion, chaos.Databases, p.promote))
	}
	if p.pooler != nil {
		all = append(all, atOnce("restart of the pooler", chaos.Databases, p.pooler.Restart))
	}
	return all
}

// trap is a fault of the wire from producers to the server that is the primary by then. It lasts no less long because a promotion was
// under way when it came.
func (p *postgres) trap(of func(*chaos.Wire) chaos.Fault) chaos.Fault {
	f := of(p.producers[0])
	f.Begin = func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
		end, err := of(p.leading()).Begin(ctx, s)
		if err != nil {
			return nil, err
		}
		return end, chaos.Pause(ctx, s.For)
	}
	return f
}

// leading is the wire from producers to the primary.
func (p *postgres) leading() *chaos.Wire {
	if len(p.producers) > 1 && p.server().Port() != p.first {
		return p.producers[1]
	}
	return p.producers[0]
}

// current is the server that is the primary by then.
type current struct{ p *postgres }

func (c current) Kill(ctx context.Context) error  { return c.p.server().Kill(ctx) }
func (c current) Start(ctx context.Context) error { return c.p.server().Start(ctx) }
func (c current) Pause() error                    { return c.p.server().Pause() }
func (c current) Resume() error                   { return c.p.server().Resume() }

// promote kills the primary and makes its synchronous standby the primary, and what was the primary a standby of that.
func (p *postgres) promote(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.primary
	if err := p.die(ctx, old); err != nil {
		return err
	}
	if err := p.standby.Promote(ctx); err != nil {
		return err
	}
	p.primary, p.standby = p.standby, nil
	if err := errors.Join(old.Close(), os.RemoveAll(old.DataDir())); err != nil {
		return err
	}
	return p.follow(ctx, old.Port())
}

// die is the end of a whole machine. Of a server that is killed alone the sessions outlive the postmaster by moments: one that waits for
// the standby gives up, so that others see on this server alone what it committed, and tell it.
func (p *postgres) die(ctx context.Context, server *testserver.Postgres) error {
	if err := server.Pause(); err != nil {
		return err
	}
	for _, w := range append(slices.Clone(p.relays), p.producers...) {
		w.Cut()
	}
	return server.Kill(ctx)
}

// full is a disk without room under the primary. PostgreSQL ends if it cannot write its log: it is started again, as a service manager
// does.
func (p *postgres) full() chaos.Fault {
	pick := func() *testserver.Tmpfs { return p.diskOf(p.server()) }
	return fullOf(fullDisk, chaos.Databases, pick, func(ctx context.Context) error {
		return patiently(ctx, func() error {
			server := p.server()
			if _, err := server.Exec(ctx, "postgres", "SELECT 1"); err == nil {
				return nil
			}
			if strings.HasSuffix(strings.TrimSpace(server.LogTail(1)), "database system is shut down") {
				return server.Start(ctx)
			}
			return errors.New("adapters: PostgreSQL does not answer after its disk was full")
		})
	})
}

// stranger is a transaction in another database that stays open.
func (p *postgres) stranger(name string, throughout bool, statement string) chaos.Fault {
	return held(name, throughout, func(ctx context.Context) error {
		c, err := pgx.Connect(ctx, p.DSN(chaos.Operators))
		if err != nil {
			return err
		}
		defer func() { _ = c.Close(context.WithoutCancel(ctx)) }() // it may be broken
		if _, err := c.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ`); err != nil {
			return err
		}
		for text := statement; ctx.Err() == nil; text = `SELECT 1` {
			if _, err := c.Exec(ctx, text); err != nil {
				return err
			}
			_ = chaos.Pause(ctx, heldLook)
		}
		return nil // the transaction ends with the connection
	})
}

// statement is one that locks the log while it runs.
func (p *postgres) statement(name, text string) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Databases, Repeats: chaos.EveryRelay, Outbox: true,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			return nil, p.exec(ctx, text)
		},
	}
}

// prepared is a stranger's transaction in two phases, whose second comes late and from another session. Those of producers, which publish,
// are in the load.
func (p *postgres) prepared() chaos.Fault {
	return chaos.Fault{
		Name: "prepared transaction committed late", Room: chaos.Databases, Least: 2 * time.Second, Most: 8 * time.Second,
		Begin: func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
			name := fmt.Sprintf("stranger-%x", s.Rand.Uint64())
			return func(ctx context.Context) error { return p.exec(ctx, `COMMIT PREPARED '`+name+`'`) }, p.exec(ctx,
				`BEGIN; INSERT INTO placed VALUES (gen_random_uuid(), false); PREPARE TRANSACTION '`+name+`'`)
		},
	}
}

// locked is the log locked by a stranger, against everybody.
func (p *postgres) locked() chaos.Fault {
	return chaos.Fault{
		Name: "log locked by a stranger", Room: chaos.Databases, Repeats: chaos.EveryRelay, Stops: true, Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			var c *pgx.Conn
			err := patiently(ctx, func() (err error) { c, err = pgx.Connect(ctx, p.DSN(chaos.Operators)); return err })
			if err != nil {
				return nil, err
			}
			if _, err := c.Exec(ctx, `BEGIN; LOCK TABLE postbag.outbox`); err != nil {
				return nil, errors.Join(err, c.Close(ctx))
			}
			return c.Close, nil
		},
	}
}

// terminated ends sessions of relays and producers, or what they are at, one after the other.
func (p *postgres) terminated() chaos.Fault {
	return chaos.Fault{
		Name: "sessions and queries ended", Room: chaos.Databases, Repeats: chaos.EveryRelay, Least: time.Second, Most: 4 * time.Second,
		Begin: again(func(ctx context.Context, s *chaos.Strike) (bool, error) {
			how := []string{"pg_terminate_backend", "pg_cancel_backend"}[s.Rand.IntN(2)]
			out, err := p.server().Exec(ctx, "postgres", `SELECT `+how+`(pid) FROM pg_stat_activity
WHERE application_name IN ('relay', 'producer') ORDER BY state = 'idle', random() LIMIT 1`)
			return strings.TrimSpace(out) == "t", err
		}, "%d times, and %d of them somebody was there", 50*time.Millisecond),
	}
}

// readOnly is a server whose sessions do not write, as one that is about to be replaced.
func (p *postgres) readOnly() chaos.Fault {
	set := func(ctx context.Context, to string) error {
		return errors.Join(p.exec(ctx, `ALTER SYSTEM SET default_transaction_read_only = `+to), p.exec(ctx, `SELECT pg_reload_conf()`))
	}
	return chaos.Fault{
		Name: "default_transaction_read_only switched on and off", Room: chaos.Databases, Repeats: chaos.EveryRelay, Stops: true,
		Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			return func(ctx context.Context) error { return set(ctx, "off") }, set(ctx, "on")
		},
	}
}

// connectionLimit takes every connection that the server has while those of the relays and producers are cut.
func (p *postgres) connectionLimit() chaos.Fault {
	return connectionLimit(append(slices.Clone(p.relays), p.producers...), func(ctx context.Context) (func() error, error) {
		c, err := pgx.Connect(ctx, p.DSN(chaos.Operators))
		if err != nil {
			return nil, err
		}
		return func() error { return c.Close(context.WithoutCancel(ctx)) }, nil
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
		_, err := p.server().Exec(ctx, "postgres", sql)
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

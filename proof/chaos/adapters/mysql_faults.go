package adapters

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
)

// Faults implements chaos.Database.
func (s *mysqlServer) Faults() []chaos.Fault {
	all := slices.Concat(s.relays.Faults(chaos.DatabaseWire), []chaos.Fault{
		s.producers.Doubtful("cut after COMMIT was sent", chaos.DatabaseWire, chaos.NoRelay, "COMMIT"),
		atOnce("restart of the database", chaos.Databases, func(ctx context.Context) error {
			return s.started(ctx, func(n *mysqlNode) error { return n.Restart(ctx) })
		}),
		gone("SIGKILL of the database", chaos.Databases, mysqlPrimary{s}),
		frozen("SIGSTOP of the database", chaos.Databases, mysqlPrimary{s}),
		s.stranger("stranger's write transaction for the whole run", "INSERT INTO placed VALUES (UUID(), FALSE)", true),
		s.stranger("snapshot held for the whole run", "SELECT COUNT(*) FROM placed", true),
		s.stranger("stranger's write transaction", "INSERT INTO placed VALUES (UUID(), FALSE)", false),
		s.prepared(),
		s.statement("OPTIMIZE of the log", "OPTIMIZE TABLE postbag_outbox"),
		s.statement("ALTER of the log", "ALTER TABLE postbag_outbox FORCE"),
		s.locked("log locked by a stranger", "LOCK TABLES postbag_outbox WRITE"),
		s.queued(),
		s.deadlocks(),
		s.killed(),
		s.readOnly(),
		s.connectionLimit(),
		fullOf(fullDisk, chaos.Databases, func() *testserver.Tmpfs { return s.current().disk }, s.afterFull),
	})
	if s.replica != nil {
		all = append(all, s.promotion())
	}
	return all
}

// mysqlPrimary is the server that is the primary by then.
type mysqlPrimary struct{ s *mysqlServer }

func (p mysqlPrimary) Kill(ctx context.Context) error { return p.s.current().Kill(ctx) }
func (p mysqlPrimary) Start(ctx context.Context) error {
	return p.s.started(ctx, func(n *mysqlNode) error { return n.Start(ctx) })
}
func (p mysqlPrimary) Pause() error  { return p.s.current().Pause() }
func (p mysqlPrimary) Resume() error { return p.s.current().Resume() }

// afterFull waits until the server can be written to again. It may have ended, and is started then, as a service manager does. Both
// servers wait for a minute before they look whether there is room for the binary log again.
func (s *mysqlServer) afterFull(ctx context.Context) error {
	return patiently(ctx, func() error {
		if !s.current().Running() {
			return mysqlPrimary{s}.Start(ctx)
		}
		return s.exec(ctx, "INSERT INTO placed VALUES (UUID(), FALSE)")
	})
}

// stranger is a transaction that stays open, and is begun again where it is broken.
func (s *mysqlServer) stranger(name, statement string, throughout bool) chaos.Fault {
	return held(name, throughout, func(ctx context.Context) error {
		conn, err := s.session(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }() // it may be broken
		tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // before its session goes, which waits for that
		for text := statement; ctx.Err() == nil; text = "DO 1" {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
			_ = chaos.Pause(ctx, heldLook)
		}
		return nil
	})
}

// prepared is a stranger's transaction in two phases, whose second comes late and from another session.
func (s *mysqlServer) prepared() chaos.Fault {
	return chaos.Fault{
		Name: "prepared transaction committed late", Room: chaos.Databases, Least: 2 * time.Second, Most: 8 * time.Second,
		Begin: func(ctx context.Context, strike *chaos.Strike) (func(context.Context) error, error) {
			name := fmt.Sprintf("stranger-%x", strike.Rand.Uint64())
			conn, err := s.session(ctx)
			if err != nil {
				return nil, err
			}
			xid, err := xaStart(ctx, conn, name)
			if err != nil {
				return nil, errors.Join(err, dropped(conn))
			}
			for _, text := range []string{"INSERT INTO placed VALUES (UUID(), FALSE)", "XA END " + xid, "XA PREPARE " + xid} {
				if _, err := conn.ExecContext(ctx, text); err != nil {
					return nil, errors.Join(err, dropped(conn))
				}
			}
			if err := dropped(conn); err != nil {
				return nil, err
			}
			return func(ctx context.Context) error {
				return patiently(ctx, func() error { return xaCommitElsewhere(ctx, s.current().db, name) })
			}, nil
		},
	}
}

// statement is one that rebuilds the log.
func (s *mysqlServer) statement(name, text string) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Databases, Repeats: chaos.EveryRelay, Outbox: true,
		Begin: func(ctx context.Context, strike *chaos.Strike) (func(context.Context) error, error) {
			return nil, patiently(ctx, func() error { return givenUp(strike, s.rebuild(ctx, text)) })
		},
	}
}

// locked is a lock that a stranger has for a while, against everybody.
func (s *mysqlServer) locked(name, text string) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Databases, Repeats: chaos.EveryRelay, Stops: true, Outbox: true, Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, strike *chaos.Strike) (func(context.Context) error, error) {
			conn, err := s.session(ctx)
			if err != nil {
				return nil, err
			}
			if _, err := conn.ExecContext(ctx, text); err != nil {
				return nil, errors.Join(givenUp(strike, err), dropped(conn))
			}
			return func(context.Context) error { return dropped(conn) }, nil
		},
	}
}

// What servers refuse with. The words are those of the manual.
const (
	lockWaitTimeout = 1205
	deadlock        = 1213
)

func refusedWith(err error, number uint16) bool {
	refused, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && refused.Number == number
}

// givenUp makes no error of a lock that was not to be had.
func givenUp(s *chaos.Strike, err error) error {
	if !refusedWith(err, lockWaitTimeout) && !errors.Is(err, chaos.ErrGivenUp) {
		return err
	}
	s.Idle("given up: somebody else has the log")
	return nil
}

// queued is an ALTER that waits for a transaction which has touched the log, and everybody waits behind it.
func (s *mysqlServer) queued() chaos.Fault {
	return chaos.Fault{
		Name: "ALTER waits behind an open transaction", Room: chaos.Databases, Repeats: chaos.EveryRelay, Stops: true, Outbox: true,
		Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, strike *chaos.Strike) (func(context.Context) error, error) {
			conn, err := s.session(ctx)
			if err != nil {
				return nil, err
			}
			for _, text := range []string{"BEGIN", "SELECT COUNT(*) FROM postbag_outbox WHERE seq = 0"} {
				if _, err := conn.ExecContext(ctx, text); err != nil {
					return nil, errors.Join(givenUp(strike, err), dropped(conn))
				}
			}
			altered := make(chan error, 1)
			go func() { altered <- s.exec(ctx, "ALTER TABLE postbag_outbox COMMENT = 'by a stranger'") }()
			return func(context.Context) error {
				return errors.Join(dropped(conn), givenUp(strike, <-altered))
			}, nil
		},
	}
}

// deadlocks are transactions of a stranger that lock the end of the log and shards of relays, each in an order of its own, and the
// gaps between rows as well.
func (s *mysqlServer) deadlocks() chaos.Fault {
	orders := []string{
		"SELECT seq FROM postbag_outbox ORDER BY seq DESC LIMIT 3 FOR UPDATE",
		"SELECT lo FROM postbag__shard ORDER BY lo DESC FOR UPDATE",
		"SELECT span FROM postbag__ledger ORDER BY span DESC LIMIT 10 FOR UPDATE",
		"SELECT seq FROM postbag__parked ORDER BY seq DESC LIMIT 10 FOR UPDATE",
		"INSERT INTO postbag_outbox (topic, payload) SELECT 't', 'of a stranger who rolls back'",
	}
	return chaos.Fault{
		Name: "deadlocks with a stranger", Room: chaos.Databases, Repeats: chaos.EveryRelay, Least: 2 * time.Second, Most: 5 * time.Second,
		Begin: again(func(ctx context.Context, strike *chaos.Strike) (bool, error) {
			conn, err := s.session(ctx)
			if err != nil {
				return false, err
			}
			defer func() { _ = dropped(conn) }() // it rolls back
			strike.Rand.Shuffle(len(orders), func(i, j int) { orders[i], orders[j] = orders[j], orders[i] })
			for _, text := range append([]string{"SET SESSION innodb_lock_wait_timeout = 1", "BEGIN"}, orders...) {
				if _, err := conn.ExecContext(ctx, text); err != nil {
					return refusedWith(err, deadlock), err
				}
			}
			return false, chaos.Pause(ctx, 20*time.Millisecond)
		}, "%d times, and %d of them the stranger was the victim", 100*time.Millisecond),
	}
}

// killed ends sessions of relays and producers, or what they are at, one after the other.
func (s *mysqlServer) killed() chaos.Fault {
	return chaos.Fault{
		Name: "KILL of sessions and queries", Room: chaos.Databases, Repeats: chaos.EveryRelay, Least: time.Second, Most: 4 * time.Second,
		Begin: again(func(ctx context.Context, strike *chaos.Strike) (bool, error) {
			kind := []string{"KILL ", "KILL QUERY "}[strike.Rand.IntN(2)]
			var id int64
			err := s.current().db.QueryRowContext(ctx, "SELECT id FROM information_schema.processlist WHERE user IN ('relay', 'producer') "+
				"ORDER BY (command = 'Sleep'), RAND() LIMIT 1").Scan(&id)
			if err == nil {
				err = s.exec(ctx, kind+strconv.FormatInt(id, 10))
			}
			return err == nil, err
		}, "%d times, and %d of them somebody was there", 50*time.Millisecond),
	}
}

// readOnly is a server that does not want to be written to, as one that is about to be replaced.
func (s *mysqlServer) readOnly() chaos.Fault {
	return chaos.Fault{
		Name: "read_only switched on and off", Room: chaos.Databases, Repeats: chaos.EveryRelay, Stops: true, Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			return func(ctx context.Context) error {
				return patiently(ctx, func() error { return s.exec(ctx, "SET GLOBAL read_only = 0") })
			}, s.exec(ctx, "SET GLOBAL read_only = 1")
		},
	}
}

// connectionLimit takes every connection that the server has while those of the relays and producers are cut. One more is for
// superusers.
func (s *mysqlServer) connectionLimit() chaos.Fault {
	return connectionLimit([]*chaos.Wire{s.relays, s.producers}, func(ctx context.Context) (func() error, error) {
		db, err := mysqlOpen(s.dsn(mysqlStranger, s.operators), 1)
		if err != nil {
			return nil, err
		}
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
		return func() error { return errors.Join(conn.Close(), db.Close()) }, nil
	})
}

// Points implements chaos.Pointed. The log's partitions are so short that some are made all the time; they are not dropped while they
// have tombstones of the last day.
func (s *mysqlServer) Points() (names []string, provoke func(context.Context) error) {
	return []string{"mysqlstore/partition/create/before", "mysqlstore/partition/create/after"}, s.nextPartition
}

// nextPartition waits until a partition of the log has been made, for a while: transactions that are open can keep it from that for a
// minute.
func (s *mysqlServer) nextPartition(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	first := int64(0)
	_ = patiently(ctx, func() error { // it was long enough, whether one was or not
		var last int64
		err := s.current().db.QueryRowContext(ctx, "SELECT COALESCE(MAX(partition_description + 0), 0) FROM information_schema.partitions "+
			"WHERE table_schema = ? AND table_name = 'postbag_outbox' AND partition_description <> 'MAXVALUE'", mysqlDatabase).Scan(&last)
		if err == nil && first == 0 {
			first = last
		}
		if err == nil && last == first {
			err = errors.New("adapters: the log goes on in its partitions")
		}
		return err
	})
	return nil
}

package adapters

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/store/mysqlstore"
)

// mysqlServer is a started MySQL or MariaDB, with a replica that its commits wait for where that is wanted.
type mysqlServer struct {
	kind                         MySQL
	relays, producers, operators *chaos.Wire // they lead to the primary

	mu       sync.Mutex
	primary  *mysqlNode
	replica  *mysqlNode // nil: there is none
	password string
	applies  time.Duration // how long a replica may take to apply what it has

	watch *mysqlWatch
}

// mysqlNode is one server, on a small file system where that may be.
type mysqlNode struct {
	*testserver.MySQL

	disk *testserver.Tmpfs
	db   *sql.DB // the superuser's
}

const (
	mysqlDatabase    = "shop"
	mysqlConnections = 150
	mysqlDisk        = 4 << 30
	// mysqlPart is how long the log's partitions are.
	mysqlPart = 2 * time.Second
)

// Start implements chaos.Store.
func (m MySQL) Start(ctx context.Context, t chaos.Terms) (_ chaos.Database, err error) {
	s := &mysqlServer{kind: m, applies: replicaPatience}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	var disks [2]*testserver.Tmpfs
	if t.Wants(fullDisk) {
		for i := range disks {
			if disks[i], err = diskOf(ctx, mysqlDisk); err != nil {
				return nil, err
			}
			if !t.Wants(promotion) {
				break
			}
		}
	}
	if s.primary, err = s.start(ctx, disks[0], nil); err != nil {
		return nil, errors.Join(err, closed(disks[1]))
	}
	s.password = s.primary.Password()
	for _, w := range []**chaos.Wire{&s.relays, &s.producers, &s.operators} {
		if *w, err = chaos.NewWire(s.primary.address()); err != nil {
			return nil, errors.Join(err, closed(disks[1]))
		}
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, closed(disks[1]))
	}
	if t.Wants(promotion) {
		return s, s.follow(ctx, disks[1])
	}
	return s, nil
}

// start starts a server, as a copy of another if that is not nil.
func (s *mysqlServer) start(ctx context.Context, disk *testserver.Tmpfs, of *mysqlNode) (_ *mysqlNode, err error) {
	o := testserver.MySQLOptions{Oracle: !s.kind.MariaDB, Replication: true, Settings: map[string]string{
		"max-connections": strconv.Itoa(mysqlConnections), "max-binlog-size": "16M", "binlog-expire-logs-seconds": "60",
	}}
	n := &mysqlNode{disk: disk}
	if disk != nil {
		o.DataDir = filepath.Join(disk.Dir(), "data")
	}
	if of != nil {
		o.CopyOf = of.MySQL
	}
	if n.MySQL, err = testserver.StartMySQL(ctx, o); err != nil {
		return nil, errors.Join(err, closed(disk))
	}
	if n.db, err = mysqlOpen(n.DSN(""), 20); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

// prepare makes the database, the box, the producers' table, that of effects, and the accounts, which may do in it what they like and no more.
func (s *mysqlServer) prepare(ctx context.Context) error {
	texts := []string{
		"CREATE DATABASE " + mysqlDatabase,
		// A transaction's row stands there if the transaction does.
		"CREATE TABLE " + mysqlDatabase + ".placed (name VARCHAR(100) PRIMARY KEY, stands BOOLEAN NOT NULL)",
		mysqlEffects,
	}
	for _, user := range []string{string(chaos.Relays), string(chaos.Producers), mysqlStranger} {
		texts = append(texts, fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s'", user, s.password),
			fmt.Sprintf("GRANT ALL ON %s.* TO '%s'@'%%'", mysqlDatabase, user))
	}
	// It is to see whether a session has let go of a transaction.
	texts = append(texts, fmt.Sprintf("GRANT PROCESS ON *.* TO '%s'@'%%'", chaos.Producers))
	if !s.kind.MariaDB {
		texts = append(texts, fmt.Sprintf("GRANT XA_RECOVER_ADMIN ON *.* TO '%s'@'%%'", chaos.Producers))
	}
	for _, text := range texts {
		if _, err := s.primary.db.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	st, err := mysqlstore.Open(ctx, s.primary.DSN(mysqlDatabase), mysqlstore.Options{Create: true, Partition: mysqlPart})
	if err != nil {
		return err
	}
	return st.Close()
}

// mysqlStranger is the account of strangers.
const mysqlStranger = "stranger"

// follow makes a replica of the primary, as a copy of how that is at this moment, and lets commits wait for it. The caller holds
// the lock, or is alone.
func (s *mysqlServer) follow(ctx context.Context, disk *testserver.Tmpfs) error {
	if err := s.primary.Pause(); err != nil {
		return errors.Join(err, closed(disk))
	}
	replica, err := s.startCopy(ctx, disk)
	if err != nil {
		return err
	}
	s.replica = replica
	if err := replica.Follow(ctx, replica.db, s.primary.MySQL); err != nil {
		return err
	}
	return s.synchronise(ctx)
}

// startCopy starts a copy of the primary, which is paused and goes on.
func (s *mysqlServer) startCopy(ctx context.Context, disk *testserver.Tmpfs) (*mysqlNode, error) {
	replica, err := s.start(ctx, disk, s.primary)
	return replica, errors.Join(err, s.primary.Resume())
}

// synchronise lets commits wait for the replica, and returns when it has all that was committed before.
func (s *mysqlServer) synchronise(ctx context.Context) error {
	if s.replica == nil {
		return nil
	}
	if err := s.primary.Synchronous(ctx, s.primary.db); err != nil {
		return err
	}
	_, err := s.primary.db.ExecContext(ctx, "INSERT INTO "+mysqlDatabase+".placed VALUES (UUID(), FALSE)")
	return err
}

// replicaPatience is how long a replica may take to apply what it has received.
const replicaPatience = 30 * time.Second

// promotion kills the primary and makes its replica the primary, and what was the primary a replica of that.
func (s *mysqlServer) promotion() chaos.Fault {
	return chaos.Fault{
		Name: promotion, Room: chaos.Databases, Repeats: chaos.EveryRelay, Stops: true,
		Begin: func(ctx context.Context, strike *chaos.Strike) (func(context.Context) error, error) {
			stuck, err := s.promote(ctx)
			if stuck != nil {
				strike.Idle(fmt.Sprintf("the replica did not apply what it has in %v and was made again, its primary is the old one: %v", s.applies, stuck))
			}
			return nil, err
		},
	}
}

// promote promotes the replica. One that does not apply what it has makes place for a new one of the old primary, as it is.
func (s *mysqlServer) promote(ctx context.Context) (stuck, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.primary
	if err := old.Kill(ctx); err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, s.applies)
	defer cancel()
	if stuck = s.replica.Promote(soon, s.replica.db); stuck != nil {
		stuck = errors.Join(stuck, s.replica.busy(ctx))
		if err := old.Start(ctx); err != nil {
			return stuck, err
		}
		old = s.replica
	} else {
		s.primary = s.replica
	}
	s.replica = nil
	for _, w := range []*chaos.Wire{s.relays, s.producers, s.operators} {
		w.Lead(s.primary.address())
	}
	disk, err := old.leave()
	if err != nil {
		return stuck, errors.Join(err, closed(disk))
	}
	return stuck, s.follow(ctx, disk)
}

// leave ends the server, and returns its disk, if it has one, without its data.
func (n *mysqlNode) leave() (disk *testserver.Tmpfs, err error) {
	disk, n.disk = n.disk, nil
	if err = n.close(); err == nil && disk != nil {
		err = os.RemoveAll(filepath.Join(disk.Dir(), "data"))
	}
	return disk, err
}

// busy is what the server's threads wait for, as an error.
func (n *mysqlNode) busy(ctx context.Context) (err error) {
	rows, err := n.db.QueryContext(ctx, "SELECT COALESCE(user, ''), COALESCE(state, ''), COALESCE(time, 0) FROM information_schema.processlist WHERE command <> 'Sleep'")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []error
	for rows.Next() {
		var user, state string
		var seconds int
		if err := rows.Scan(&user, &state, &seconds); err != nil {
			return err
		}
		all = append(all, fmt.Errorf("%s: %s, for %d s", user, state, seconds))
	}
	return errors.Join(errors.Join(all...), rows.Err())
}

// started runs what starts the primary, and lets commits wait for the replica again, which a start forgets.
func (s *mysqlServer) started(ctx context.Context, start func(*mysqlNode) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := start(s.primary); err != nil {
		return err
	}
	return s.synchronise(ctx)
}

// current returns the primary.
func (s *mysqlServer) current() *mysqlNode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.primary
}

func (n *mysqlNode) address() string { return fmt.Sprintf("127.0.0.1:%d", n.Port()) }

func (n *mysqlNode) close() error { return errors.Join(closed(n.db), n.Close(), closed(n.disk)) }

// exec executes a statement of the superuser's in a session of its own.
func (s *mysqlServer) exec(ctx context.Context, text string) error {
	conn, err := s.session(ctx)
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, text)
	return errors.Join(err, conn.Close())
}

// session is one of the superuser's on the primary, in the producers' database, as soon as the server has one: sessions that others
// left may be there for a moment. It waits for a table no longer than an operator may who knows that everybody waits behind him, even
// those whose transactions he waits for, where these are prepared: servers wait for a year.
func (s *mysqlServer) session(ctx context.Context) (conn *sql.Conn, err error) {
	err = patiently(ctx, func() (err error) { conn, err = s.current().db.Conn(ctx); return err })
	if err != nil {
		return nil, err
	}
	for _, text := range []string{"USE " + mysqlDatabase, "SET SESSION lock_wait_timeout = 8"} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// Version implements chaos.Database.
func (s *mysqlServer) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replica != nil {
		return s.primary.Version() + " with a replica that commits wait for"
	}
	return s.primary.Version()
}

// DSN implements chaos.Database.
func (s *mysqlServer) DSN(role chaos.Role) string {
	switch role {
	case chaos.Relays:
		return s.dsn(string(role), s.relays)
	case chaos.Producers:
		// A client that asks whether a transaction stands waits for it a little, and asks again: it may be prepared by then.
		return s.dsn(string(role), s.producers) + "?innodb_lock_wait_timeout=1"
	default:
		return s.dsn("root", s.operators)
	}
}

func (s *mysqlServer) dsn(user string, w *chaos.Wire) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s", user, s.password, w.Addr(), mysqlDatabase)
}

// Close implements chaos.Database.
func (s *mysqlServer) Close() (err error) {
	if s.watch != nil {
		err = s.watch.db.Close()
	}
	for _, w := range []*chaos.Wire{s.relays, s.producers, s.operators} {
		err = errors.Join(err, closed(w))
	}
	for _, n := range []*mysqlNode{s.replica, s.primary} {
		if n != nil {
			err = errors.Join(err, n.close())
		}
	}
	return err
}

package adapters

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/store/pgstore"
)

// postgres is a started PostgreSQL: one server behind a pooler, or two of which one is the primary.
type postgres struct {
	relays, producers []*chaos.Wire // to each server
	first             int           // the port of the server that the first of them lead to
	pooler            *testserver.PgBouncer
	disks             []*testserver.Tmpfs // under the servers, or none

	mu      sync.Mutex
	primary *testserver.Postgres
	standby *testserver.Postgres
	copies  int // standbys that were made

	watch *pgxpool.Pool
}

// The names of faults that need something to be there.
const (
	promotion    = "SIGKILL of the primary and promotion of its standby"
	pgStandbyLag = "200ms"
	// pgConnections is how many the servers take.
	pgConnections = "70"
)

// Start implements chaos.Store.
func (k Postgres) Start(ctx context.Context, t chaos.Terms) (_ chaos.Database, err error) {
	p := &postgres{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if t.Wants(fullDisk) {
		if err := p.mount(ctx, !k.Pooled && t.Wants(promotion)); err != nil {
			return nil, err
		}
	}
	p.primary, err = testserver.StartPostgres(ctx, testserver.PostgresOptions{
		DataDir:  p.freeDisk(),
		Settings: map[string]string{"max_connections": pgConnections, "max_wal_size": "64MB", "min_wal_size": "32MB"},
	})
	if err != nil {
		return nil, err
	}
	p.first = p.primary.Port()
	ports := []int{p.first}
	switch {
	case k.Pooled:
		if p.pooler, err = testserver.StartPgBouncer(ctx, p.primary, testserver.PgBouncerOptions{PoolSize: 20}); err != nil {
			return nil, err
		}
		ports[0] = p.pooler.Port()
	case t.Wants(promotion):
		if err := p.follow(ctx, 0); err != nil {
			return nil, err
		}
		ports = append(ports, p.standby.Port())
	}
	for _, port := range ports {
		for _, wires := range []*[]*chaos.Wire{&p.relays, &p.producers} {
			w, err := chaos.NewWire(fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				return nil, err
			}
			*wires = append(*wires, w)
		}
	}
	return p, p.prepare(ctx)
}

// follow makes a standby of the primary. The caller holds the lock, or is alone.
func (p *postgres) follow(ctx context.Context, port int) (err error) {
	p.copies++
	p.standby, err = testserver.StartStandby(ctx, p.primary, testserver.StandbyOptions{
		Name: fmt.Sprintf("standby%d", p.copies), Synchronous: true,
		Postgres: testserver.PostgresOptions{
			DataDir: p.freeDisk(), Port: port,
			Settings: map[string]string{"wal_retrieve_retry_interval": pgStandbyLag, "max_connections": pgConnections},
		},
	})
	return err
}

// mount makes small file systems for one server, or for two.
func (p *postgres) mount(ctx context.Context, two bool) error {
	for n := 0; n < 1 || n < 2 && two; n++ {
		disk, err := diskOf(ctx, 4<<30)
		if disk == nil {
			return err
		}
		p.disks = append(p.disks, disk)
	}
	return nil
}

// freeDisk is a folder for data on a file system that the primary does not use; empty: there is none.
func (p *postgres) freeDisk() string {
	for _, disk := range p.disks {
		if p.primary == nil || disk != p.diskOf(p.primary) {
			return filepath.Join(disk.Dir(), "data")
		}
	}
	return ""
}

// diskOf is the file system under a server.
func (p *postgres) diskOf(server *testserver.Postgres) *testserver.Tmpfs {
	i := slices.IndexFunc(p.disks, func(d *testserver.Tmpfs) bool { return d.Dir() == filepath.Dir(server.DataDir()) })
	if i < 0 {
		return nil
	}
	return p.disks[i]
}

// prepare makes the box, the producers' table and that of effects.
func (p *postgres) prepare(ctx context.Context) error {
	pool, err := pgPool(ctx, p.DSN(chaos.Operators), 2)
	if err != nil {
		return err
	}
	defer pool.Close()
	s, err := pgstore.Open(ctx, pool, pgstore.Options{Create: true})
	if err != nil {
		return err
	}
	// A transaction's row stands there if the transaction does.
	_, err = pool.Exec(ctx, `CREATE TABLE placed (name text PRIMARY KEY, stands boolean NOT NULL)`)
	if err == nil {
		_, err = pool.Exec(ctx, pgEffects)
	}
	return errors.Join(err, s.Close())
}

// server is the primary.
func (p *postgres) server() *testserver.Postgres {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.primary
}

// Version implements chaos.Database.
func (p *postgres) Version() string {
	version := p.server().Version()
	switch {
	case p.pooler != nil:
		return version + " behind PgBouncer"
	case len(p.relays) > 1:
		return version + " with a synchronous standby"
	default:
		return version
	}
}

// DSN implements chaos.Database. It names both servers, where there are two, and leads to the one that can be written to.
func (p *postgres) DSN(role chaos.Role) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	dsn := p.primary.DSN("postgres")
	if p.pooler != nil && role != chaos.Operators {
		dsn = p.pooler.DSN("postgres")
	}
	wires := map[chaos.Role][]*chaos.Wire{chaos.Relays: p.relays, chaos.Producers: p.producers}[role]
	var hosts []string
	for _, w := range wires {
		hosts = append(hosts, w.Addr())
	}
	if role == chaos.Operators && p.standby != nil {
		hosts = []string{fmt.Sprintf("127.0.0.1:%d", p.primary.Port()), fmt.Sprintf("127.0.0.1:%d", p.standby.Port())}
	}
	if len(hosts) > 0 {
		dsn = at(dsn, strings.Join(hosts, ","))
	}
	if len(hosts) > 1 {
		dsn = with(dsn, "target_session_attrs", "read-write")
	}
	if role == chaos.Operators {
		return dsn
	}
	return with(dsn, "application_name", string(role))
}

// with is a URL with one parameter more.
func with(dsn, name, value string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// pgWatch asks what sessions of relays do to others: the longest that one of them is idle in a transaction, the longest that a
// session of a producer waits for one of them, and for what. It reads what sessions show of themselves, and locks nothing.
const pgWatch = `
SELECT (
		SELECT coalesce(max(extract(epoch FROM clock_timestamp() - a.state_change)), 0)::float8 FROM pg_stat_activity a
		WHERE a.application_name = 'relay' AND a.state LIKE 'idle in transaction%'),
	coalesce(w.waited, 0), coalesce(w.lock, '')
FROM (SELECT) one LEFT JOIN LATERAL (
	SELECT extract(epoch FROM clock_timestamp() - l.waitstart)::float8 AS waited,
		concat_ws(' ', l.locktype, l.mode, l.relation::regclass::text, 'held at', left(b.query, 100)) AS lock
	FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid AND NOT l.granted
	JOIN pg_stat_activity b ON b.application_name = 'relay' AND b.pid = ANY (pg_blocking_pids(a.pid))
	WHERE a.application_name = 'producer' AND l.waitstart IS NOT NULL ORDER BY 1 DESC LIMIT 1) w ON true`

// Watch implements chaos.Watched.
func (p *postgres) Watch(ctx context.Context) (chaos.Seen, error) {
	if p.watch == nil {
		pool, err := pgPool(ctx, p.DSN(chaos.Operators), 1)
		if err != nil {
			return chaos.Seen{}, err
		}
		p.watch = pool
	}
	var open, waited float64
	var lock string
	err := p.watch.QueryRow(ctx, pgWatch).Scan(&open, &waited, &lock)
	return chaos.Seen{Open: seconds(open), Waited: seconds(waited), Lock: lock}, err
}

// seconds is how long so many are.
func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// at is a URL with another host and port.
func at(dsn, host string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	u.Host = host
	return u.String()
}

// Close implements chaos.Database.
func (p *postgres) Close() (err error) {
	if p.watch != nil {
		p.watch.Close()
	}
	for _, w := range append(p.relays, p.producers...) {
		err = errors.Join(err, w.Close())
	}
	if p.pooler != nil {
		err = errors.Join(err, p.pooler.Close())
	}
	for _, s := range []*testserver.Postgres{p.standby, p.primary} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	for _, disk := range p.disks {
		err = errors.Join(err, disk.Close())
	}
	return err
}

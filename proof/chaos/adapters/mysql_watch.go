package adapters

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/postbag/postbag/proof/chaos"
)

// What sessions of relays do to others. Both servers show sessions and locks, by other means; nothing is locked to read them. The first
// statement returns for how many seconds the longest of the relays' sessions has been idle in a transaction, the second each pair of a
// producer's transaction and one of a relay that it waits for, with the lock and what the relay does.
const (
	mysqlIdle = `
SELECT COALESCE(MAX(CAST(me.timer_start AS SIGNED) - CAST(e.timer_end AS SIGNED)), 0) / 1e12
FROM performance_schema.threads t
JOIN performance_schema.events_statements_current e ON e.thread_id = t.thread_id
JOIN performance_schema.events_statements_current me ON me.thread_id = PS_CURRENT_THREAD_ID()
JOIN information_schema.innodb_trx x ON x.trx_mysql_thread_id = t.processlist_id
WHERE t.processlist_user = 'relay' AND t.processlist_command = 'Sleep'`
	mysqlWaits = `
SELECT CONCAT(w.requesting_engine_transaction_id, ' ', w.blocking_engine_transaction_id),
	CONCAT_WS(' ', l.object_name, l.index_name, l.lock_type, l.lock_mode, 'held in', r.processlist_command, r.processlist_state, LEFT(r.processlist_info, 100))
FROM performance_schema.data_lock_waits w
JOIN performance_schema.data_locks l ON l.engine_lock_id = w.requesting_engine_lock_id AND l.engine = w.engine
JOIN performance_schema.threads p ON p.thread_id = w.requesting_thread_id AND p.processlist_user = 'producer'
JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_engine_transaction_id
JOIN performance_schema.threads r ON r.processlist_id = b.trx_mysql_thread_id AND r.processlist_user = 'relay'`

	mariadbIdle = `
SELECT COALESCE(MAX(p.time_ms), 0) / 1e3
FROM information_schema.processlist p JOIN information_schema.innodb_trx x ON x.trx_mysql_thread_id = p.id
WHERE p.user = 'relay' AND p.command = 'Sleep'`
	mariadbWaits = `
SELECT CONCAT(w.requesting_trx_id, ' ', w.blocking_trx_id),
	CONCAT_WS(' ', l.lock_table, l.lock_index, l.lock_type, l.lock_mode, 'held in', r.command, r.state, LEFT(r.info, 100))
FROM information_schema.innodb_lock_waits w
JOIN information_schema.innodb_locks l ON l.lock_id = w.requested_lock_id
JOIN information_schema.innodb_trx q ON q.trx_id = w.requesting_trx_id
JOIN information_schema.processlist p ON p.id = q.trx_mysql_thread_id AND p.user = 'producer'
JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id
JOIN information_schema.processlist r ON r.id = b.trx_mysql_thread_id AND r.user = 'relay'`
)

// mysqlWatch looks at sessions and locks.
type mysqlWatch struct {
	db    *sql.DB
	since map[string]time.Time // each wait, by when it was seen first
}

// Watch implements chaos.Watched. The servers say since when a lock is waited for in whole seconds only: what counts is from one look
// to another that sees the same wait, so that it is a look shorter than it was. InnoDB shows again only what nobody has looked at for
// 100 ms, so looks must be further apart.
func (s *mysqlServer) Watch(ctx context.Context) (seen chaos.Seen, err error) {
	if s.watch == nil {
		db, err := mysqlOpen(s.dsn("root", s.operators), 1)
		if err != nil {
			return seen, err
		}
		s.watch = &mysqlWatch{db: db}
	}
	idle, waits := mysqlIdle, mysqlWaits
	if s.kind.MariaDB {
		idle, waits = mariadbIdle, mariadbWaits
	}
	var open float64
	if err := s.watch.db.QueryRowContext(ctx, idle).Scan(&open); err != nil {
		return seen, err
	}
	seen.Open = seconds(open)
	seen.Waited, seen.Lock, err = s.watch.waits(ctx, waits)
	return seen, err
}

// waits returns the longest time for which a wait has been seen, and for what.
func (w *mysqlWatch) waits(ctx context.Context, text string) (longest time.Duration, lock string, err error) {
	rows, err := w.db.QueryContext(ctx, text)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	now, seen := time.Now(), map[string]time.Time{}
	for rows.Next() {
		var name, what string
		if err := rows.Scan(&name, &what); err != nil {
			return 0, "", err
		}
		if seen[name] = now; !w.since[name].IsZero() {
			seen[name] = w.since[name]
		}
		if waited := now.Sub(seen[name]); waited > longest {
			longest, lock = waited, what
		}
	}
	w.since = seen
	return longest, lock, rows.Err()
}

package adapters

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/postbag/postbag/proof/chaos"
)

var (
	errNotPrepared = errors.New("adapters: no transaction of that name is prepared")
	errStillHeld   = errors.New("adapters: the session that prepared the transaction has not let go of it; try again")
)

// xaStart begins a distributed transaction in a session, and returns its name as statements take it. The name has the number of
// the session, so that who commits it from another one, perhaps in another process, can look whether the first is gone.
func xaStart(ctx context.Context, conn *sql.Conn, name string) (xid string, err error) {
	var session int64
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&session); err != nil {
		return "", err
	}
	xid = fmt.Sprintf("'%s','%d'", name, session)
	_, err = conn.ExecContext(ctx, "XA START "+xid)
	return xid, err
}

// xaCommitElsewhere commits a transaction that another session has prepared, if that session has let go of it. MariaDB answers OK
// to an XA COMMIT that comes while the session ends, does nothing, and forgets the transaction: its rows stay locked, and are seen
// by nobody until the server starts again. It refuses while the session is there.
func xaCommitElsewhere(ctx context.Context, db *sql.DB, name string) error {
	xid, session, err := xaPrepared(ctx, db, name)
	if err != nil {
		return err
	}
	held, err := xaHeld(ctx, db, session)
	if err != nil {
		return err
	}
	if held {
		return errStillHeld
	}
	_, err = db.ExecContext(ctx, "XA COMMIT "+xid)
	return err
}

// xaPrepared finds a transaction that is prepared and not ended, and the session that xaStart began it in.
func xaPrepared(ctx context.Context, db *sql.DB, name string) (xid string, session int64, err error) {
	rows, err := db.QueryContext(ctx, "XA RECOVER")
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var format, global, branch int
		var data string
		if err := rows.Scan(&format, &global, &branch, &data); err != nil {
			return "", 0, err
		}
		if global+branch != len(data) || data[:global] != name {
			continue
		}
		session, err = strconv.ParseInt(data[global:], 10, 64)
		return fmt.Sprintf("'%s','%s'", name, data[global:]), session, err
	}
	if err := rows.Err(); err != nil {
		return "", 0, err
	}
	return "", 0, errNotPrepared
}

// xaLooks lets one at a time look at what InnoDB shows, which is as old as the last look of anybody, if that was less than 100 ms ago.
var xaLooks sync.Mutex

// xaHeld says whether InnoDB still has a transaction of a session: a session leaves the list of processes before that. What InnoDB
// shows is new enough if the transaction that asks is in it.
func xaHeld(ctx context.Context, db *sql.DB, session int64) (held bool, err error) {
	xaLooks.Lock()
	defer xaLooks.Unlock()
	conn, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, xaRelease(ctx, conn)) }()
	if _, err := conn.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT"); err != nil {
		return false, err
	}
	for range 10 {
		if err := chaos.Pause(ctx, 150*time.Millisecond); err != nil {
			return false, err
		}
		var recent bool
		err := conn.QueryRowContext(ctx, "SELECT COALESCE(SUM(trx_mysql_thread_id = CONNECTION_ID()), 0) > 0, "+
			"COALESCE(SUM(trx_mysql_thread_id = ? AND trx_mysql_thread_id <> CONNECTION_ID()), 0) > 0 "+ // numbers begin again with the server
			"FROM information_schema.innodb_trx", session).Scan(&recent, &held)
		if err != nil || recent {
			return held, err
		}
	}
	return true, nil
}

// xaRelease ends the transaction of a session and gives it back, whether ctx has ended or not. If that fails, it ends the session: the
// pool must not give it to others.
func xaRelease(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		return dropped(conn)
	}
	return conn.Close()
}

package testserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// replicationWords are what a server calls the things of replication, which the two call differently.
type replicationWords struct {
	follow, start, stop, reset, status string
	source, replica                    string // in the names of variables
	waitAlone                          string
	received, applied                  [2]string // columns of the status: what was received, and what was applied of it
	io                                 string    // the column that says whether it receives
}

var (
	mysqlWords = replicationWords{
		follow: "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = %d, SOURCE_USER = 'root', SOURCE_PASSWORD = '%s', " +
			"SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 100000",
		start: "START REPLICA", stop: "STOP REPLICA", reset: "RESET REPLICA ALL", status: "SHOW REPLICA STATUS",
		source: "rpl_semi_sync_source", replica: "rpl_semi_sync_replica", waitAlone: "wait_no_replica",
		received: [2]string{"Source_Log_File", "Read_Source_Log_Pos"}, applied: [2]string{"Relay_Source_Log_File", "Exec_Source_Log_Pos"},
		io: "Replica_IO_Running",
	}
	mariadbWords = replicationWords{
		follow: "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %d, MASTER_USER = 'root', MASTER_PASSWORD = '%s', " +
			"MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1",
		start: "START SLAVE", stop: "STOP SLAVE", reset: "RESET SLAVE ALL", status: "SHOW SLAVE STATUS",
		source: "rpl_semi_sync_master", replica: "rpl_semi_sync_slave", waitAlone: "wait_no_slave",
		received: [2]string{"Master_Log_File", "Read_Master_Log_Pos"}, applied: [2]string{"Relay_Master_Log_File", "Exec_Master_Log_Pos"},
		io: "Slave_IO_Running",
	}
)

func (m *MySQL) words() *replicationWords {
	if m.opts.Oracle {
		return &mysqlWords
	}
	return &mariadbWords
}

// replicationSettings are those of a server that can have replicas and be one: global transaction ids, and plug-ins with
// which a commit can wait for a replica.
func (m *MySQL) replicationSettings() map[string]string {
	s := map[string]string{"relay-log": "relaylog"}
	if m.opts.Oracle {
		s["gtid-mode"], s["enforce-gtid-consistency"] = "ON", "ON"
		s["plugin-load-add"] = "semisync_source.so;semisync_replica.so"
		s["loose-rpl-semi-sync-replica-enabled"] = "ON"
	} else {
		s["log-slave-updates"], s["rpl-semi-sync-slave-enabled"] = "ON", "ON"
	}
	return s
}

// Follow makes the server a read-only replica of a primary, and returns when it receives: from its first change on, or from
// where a CopyOf it was made. Both were started with Replication; db is the superuser's on this server.
func (m *MySQL) Follow(ctx context.Context, db *sql.DB, primary *MySQL) error {
	w := m.words()
	if m.opts.CopyOf != nil && !m.opts.Oracle { // MySQL knows by itself what it has
		if err := m.run(ctx, db, w.reset, "SET GLOBAL gtid_slave_pos = @@gtid_binlog_pos"); err != nil {
			return err
		}
	}
	if err := m.run(ctx, db, fmt.Sprintf(w.follow, primary.port, primary.password), w.start, "SET GLOBAL read_only = 1"); err != nil {
		return err
	}
	return m.await(ctx, db, "receives", func(status map[string]string) bool { return status[w.io] == "Yes" })
}

// Synchronous makes every commit on a primary wait until a replica has received it. It must have one that follows. db is
// the superuser's on this server.
func (m *MySQL) Synchronous(ctx context.Context, db *sql.DB) error {
	prefix := "SET GLOBAL " + m.words().source
	err := m.run(ctx, db, prefix+"_wait_point = 'AFTER_SYNC'", prefix+"_timeout = 3600000", prefix+"_"+m.words().waitAlone+" = 1", prefix+"_enabled = 1")
	if err != nil {
		return err
	}
	return m.until(ctx, "is waited for by commits", func() (bool, error) {
		var name, clients string
		err := db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE '"+m.words().source+"_clients'").Scan(&name, &clients)
		return clients != "0", err
	})
}

// Promote makes a replica a primary, when it has applied what it has received. db is the superuser's on this server.
func (m *MySQL) Promote(ctx context.Context, db *sql.DB) error {
	w := m.words()
	err := m.await(ctx, db, "has applied what it received", func(status map[string]string) bool {
		return status[w.received[0]] == status[w.applied[0]] && status[w.received[1]] == status[w.applied[1]]
	})
	if err != nil {
		return err
	}
	return m.run(ctx, db, w.stop, w.reset, "SET GLOBAL read_only = 0")
}

// Deaf ends what a replica receives, as a cut line does. db is the superuser's on this server.
func (m *MySQL) Deaf(ctx context.Context, db *sql.DB) error {
	return m.run(ctx, db, m.words().stop+" IO_THREAD")
}

func (m *MySQL) run(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, text := range statements {
		if _, err := db.ExecContext(ctx, text); err != nil {
			word, _, _ := strings.Cut(text, " = ") // no password
			return fmt.Errorf("testserver: %s: %s ...: %w", m.programs.name, word, err)
		}
	}
	return nil
}

// await waits for a state of a replica.
func (m *MySQL) await(ctx context.Context, db *sql.DB, what string, reached func(map[string]string) bool) error {
	var status map[string]string
	err := m.until(ctx, what, func() (_ bool, err error) {
		status, err = replicaStatus(ctx, db, m.words().status)
		return err == nil && reached(status), err
	})
	if err != nil {
		return fmt.Errorf("%w (%s %s)", err, status["Last_IO_Error"], status["Last_SQL_Error"])
	}
	return nil
}

// replicaPatience is how long a replica gets: it may have tables to rebuild that its source rebuilt long ago, one
// statement after another.
const replicaPatience = 3 * time.Minute

func (m *MySQL) until(ctx context.Context, what string, reached func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, replicaPatience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		there, err := reached()
		if there || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("testserver: not within %v: a replica of %s %s: %w", replicaPatience, m.programs.name, what, ctx.Err())
		case <-tick.C:
		}
	}
}

// replicaStatus returns the one row of the status, by the names of its columns.
func replicaStatus(ctx context.Context, db *sql.DB, query string) (status map[string]string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		return nil, errors.Join(err, rows.Err(), errors.New("testserver: the server is no replica: Follow first"))
	}
	values := make([]sql.NullString, len(names))
	dest := make([]any, len(names))
	for i := range values {
		dest[i] = &values[i]
	}
	if err := rows.Scan(dest...); err != nil {
		return nil, err
	}
	status = make(map[string]string, len(names))
	for i, name := range names {
		status[name] = values[i].String
	}
	return status, nil
}

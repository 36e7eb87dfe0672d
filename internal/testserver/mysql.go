package testserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// MySQLOptions says what MySQL or MariaDB server to start. The zero value is a durable MariaDB.
type MySQLOptions struct {
	// Oracle starts MySQL 9 instead of MariaDB.
	Oracle bool
	// Port on 127.0.0.1. Defaults to a free one.
	Port int
	// Settings are server options without dashes, over the defaults: a binary log, 500 connections, UTC. An empty value
	// makes an option without one.
	Settings map[string]string
	// NoSync gives up durability against loss of power, for tests that only need the SQL. A killed server still
	// recovers everything.
	NoSync bool
	// DataDir takes the data; it must be empty or absent, and is not removed at the end. Defaults to a temporary folder.
	DataDir string
	// Kept: DataDir may hold the data of an earlier server that had Kept, too. This one goes on with it, and its settings are its
	// own. The password lies in DataDir.
	Kept bool
	// CopyOf is a server of the same kind, stopped or paused, whose data this one begins with: as it would after a crash then.
	CopyOf *MySQL
	// Replication makes a server that can have replicas, and be one: see [MySQL.Follow].
	Replication bool
	// StartTimeout is how long a start or recovery may take. Defaults to 2 min.
	StartTimeout time.Duration
}

// MySQL is a private MySQL or MariaDB server. Its methods may be called concurrently; commands wait for each other.
type MySQL struct {
	server

	opts     MySQLOptions
	programs mysqlPrograms
	as       *account
	home     *folder
	data     string
	password string
	port     int
}

// StartMySQL starts a server and returns when it accepts connections. A [MissingError] says that it is not installed.
func StartMySQL(ctx context.Context, opts MySQLOptions) (*MySQL, error) {
	if opts.StartTimeout == 0 {
		opts.StartTimeout = 2 * time.Minute
	}
	programs, err := findMySQL(ctx, opts.Oracle)
	if err != nil {
		return nil, err
	}
	as, err := accountNamed("mysql", "MySQL")
	if err != nil {
		return nil, err
	}
	t, err := mysqlTemplate(ctx, programs, as)
	if err != nil {
		return nil, err
	}
	home, err := newFolder("mysql", false)
	if err != nil {
		return nil, err
	}
	m := &MySQL{opts: opts, programs: programs, as: as, home: home, password: t.password, data: opts.DataDir}
	if m.name, m.begin = programs.name, m.start; m.data == "" {
		m.data = filepath.Join(home.path, "data")
	}
	from := t.data
	if opts.CopyOf != nil {
		from, m.password = opts.CopyOf.data, opts.CopyOf.password
	}
	if err := errors.Join(os.MkdirAll(m.data, 0o700), as.own(m.data)); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.password, err = keepPassword(opts.Kept, m.data, m.password, as, func() error { return copyTree(from, m.data, as) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("testserver: the data of %s could not be copied: %w: give %s at least 200 MB",
			programs.name, err, m.data), m.Close())
	}
	for _, name := range []string{"auto.cnf", "sock.lock"} { // the other server's identity, and its lock
		if err := os.Remove(filepath.Join(m.data, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(err, m.Close())
		}
	}
	if err := m.firstStart(ctx, opts.Port, &m.port); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// settings are what every server gets, the profile, and the caller's own, in this order.
func (m *MySQL) settings() map[string]string {
	s := map[string]string{
		"bind-address":    "127.0.0.1",
		"port":            strconv.Itoa(m.port),
		"socket":          filepath.Join(m.data, "sock"),
		"pid-file":        filepath.Join(m.data, "pid"),
		"server-id":       strconv.Itoa(m.port), // its own, on this machine
		"log-bin":         "binlog",
		"max-connections": "500",
		"back-log":        "200",
		// Durable, also where the server's own default is not.
		"innodb-flush-log-at-trx-commit": "1",
		"sync-binlog":                    "1",
		"default-time-zone":              "+00:00",
		"skip-name-resolve":              "",
		"init-file":                      filepath.Join(m.data, initFile),
		"tmpdir":                         m.data,
	}
	maps.Copy(s, m.programs.settings)
	if m.opts.NoSync {
		maps.Copy(s, map[string]string{"innodb-flush-log-at-trx-commit": "2", "sync-binlog": "0"})
	}
	if m.opts.Replication {
		maps.Copy(s, m.replicationSettings())
	}
	maps.Copy(s, m.opts.Settings)
	return s
}

func (m *MySQL) args() []string {
	args := append(slices.Clone(m.programs.first), "--datadir="+m.data)
	settings := m.settings()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if value := settings[name]; value != "" {
			args = append(args, "--"+name+"="+value)
		} else {
			args = append(args, "--"+name)
		}
	}
	return args
}

func (m *MySQL) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.opts.StartTimeout)
	defer cancel()
	return m.launch(ctx, command{
		name: m.programs.name, path: m.programs.server, as: m.as, death: os.Kill, log: m.logFile(), args: m.args(),
	}, m.ready)
}

// handshake is the version of the protocol in a server's first packet; one that refuses sends 0xff there.
const handshake = 10

// ready reads the greeting that a server sends first, which it does after its init file.
func (m *MySQL) ready(ctx context.Context) bool {
	conn, err := dial(ctx, m.port)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	var head [5]byte
	_, err = io.ReadFull(conn, head[:])
	return err == nil && head[4] == handshake
}

// Close kills the server and removes its files. It may be called twice.
func (m *MySQL) Close() error {
	return errors.Join(m.retire(), m.home.Close())
}

// DSN is the connection string of the superuser for a database ("" for none), as go-sql-driver/mysql has it. It holds a
// password: it is made for this machine's user only, and must not go into a log.
func (m *MySQL) DSN(database string) string {
	return fmt.Sprintf("root:%s@tcp(%s)/%s", m.password, loopback(m.port), database)
}

// DataDir is the folder with the data, for tests that copy or harm it while the server is stopped.
func (m *MySQL) DataDir() string { return m.data }

// Port is the server's port on 127.0.0.1. It stays the same over restarts.
func (m *MySQL) Port() int { return m.port }

// Password is the superuser's.
func (m *MySQL) Password() string { return m.password }

// Version is what the server says with --version.
func (m *MySQL) Version() string { return m.programs.version }

// LogTail returns the last lines of the server's log.
func (m *MySQL) LogTail(lines int) string { return fileTail(m.logFile(), lines) }

func (m *MySQL) logFile() string { return filepath.Join(m.home.path, "log") }

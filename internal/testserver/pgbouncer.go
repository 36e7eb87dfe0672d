package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// PgBouncerOptions says what pooler to start.
type PgBouncerOptions struct {
	// Program is the path of pgbouncer. Defaults to the one in PATH, else /usr/sbin/pgbouncer.
	Program string
	// Port on 127.0.0.1. Defaults to a free one.
	Port int
	// PoolSize is the number of server connections for each database and role. Defaults to 10.
	PoolSize int
	// Users are further roles with their passwords; the superuser is always there.
	Users map[string]string
}

// PgBouncer is a private pooler in transaction mode in front of a [Postgres].
type PgBouncer struct {
	pg   *Postgres
	opts PgBouncerOptions
	as   *account
	home *folder
	path string
	port int

	mu   sync.Mutex
	proc *process
}

// StartPgBouncer starts a pooler and returns when it accepts connections.
func StartPgBouncer(ctx context.Context, pg *Postgres, opts PgBouncerOptions) (*PgBouncer, error) {
	path, err := findPgBouncer(opts.Program)
	if err != nil {
		return nil, err
	}
	home, err := newFolder("pgbouncer", false)
	if err != nil {
		return nil, err
	}
	if opts.PoolSize == 0 {
		opts.PoolSize = 10
	}
	b := &PgBouncer{pg: pg, opts: opts, as: pg.as, home: home, path: path}
	if err := b.firstStart(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func findPgBouncer(program string) (string, error) {
	places := []string{"pgbouncer", "/usr/sbin/pgbouncer"}
	if program != "" {
		places = []string{program}
	}
	for _, name := range places {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", &MissingError{What: "the program pgbouncer", Fix: "run scripts/setup, or apt-get install pgbouncer"}
}

func (b *PgBouncer) firstStart(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.port = b.opts.Port
	var err error
	for range startAttempts {
		if b.opts.Port == 0 {
			if b.port, err = freePort(); err != nil {
				return err
			}
		}
		if err = b.start(ctx); err == nil || !portTaken(b.port) {
			return err
		}
	}
	return err
}

func (b *PgBouncer) start(ctx context.Context) error {
	if err := errors.Join(b.write("users", b.users()), b.write("pgbouncer.ini", b.config())); err != nil {
		return fmt.Errorf("testserver: PgBouncer's settings: %w", err)
	}
	proc, err := command{
		name: "PgBouncer", path: b.path, as: b.as, log: filepath.Join(b.home.path, "log"),
		args: []string{"--quiet", filepath.Join(b.home.path, "pgbouncer.ini")},
	}.start()
	if err != nil {
		return err
	}
	b.proc = proc
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = proc.until(ctx, func() bool {
		conn, err := dial(ctx, b.port)
		return err == nil && conn.Close() == nil
	})
	if err != nil {
		err = errors.Join(err, proc.stop(context.WithoutCancel(ctx), os.Kill))
	}
	return err
}

// config is pgbouncer.ini: transaction mode, and otherwise PgBouncer's defaults as far as possible.
func (b *PgBouncer) config() string {
	return strings.Join([]string{
		"[databases]",
		fmt.Sprintf("* = host=127.0.0.1 port=%d", b.pg.Port()),
		"[pgbouncer]",
		"listen_addr = 127.0.0.1",
		fmt.Sprintf("listen_port = %d", b.port),
		"unix_socket_dir =",
		"auth_type = scram-sha-256",
		"auth_file = " + filepath.Join(b.home.path, "users"),
		"admin_users = postgres",
		"pool_mode = transaction",
		"max_client_conn = 500",
		fmt.Sprintf("default_pool_size = %d", b.opts.PoolSize),
		"ignore_startup_parameters = extra_float_digits",
		"",
	}, "\n")
}

// users is the auth_file: plain passwords, with which PgBouncer can prove itself to the server (SCRAM).
func (b *PgBouncer) users() string {
	var text strings.Builder
	add := func(name, password string) {
		fmt.Fprintf(&text, "%s %s\n", quoteIdentifier(name), quoteIdentifier(password))
	}
	add("postgres", b.pg.Password())
	for name, password := range b.opts.Users {
		add(name, password)
	}
	return text.String()
}

func (b *PgBouncer) write(name, text string) error {
	path := filepath.Join(b.home.path, name)
	return errors.Join(os.WriteFile(path, []byte(text), 0o600), b.as.own(path))
}

// DSN is the connection string of the superuser, through the pooler.
func (b *PgBouncer) DSN(database string) string {
	return postgresURL(b.port, "postgres", b.pg.Password(), database)
}

// DSNAs is the connection string for another role of Options.Users.
func (b *PgBouncer) DSNAs(role, password, database string) string {
	return postgresURL(b.port, role, password, database)
}

// Port is the pooler's port on 127.0.0.1.
func (b *PgBouncer) Port() int { return b.port }

// Restart ends the pooler at once, with all client connections, and starts it again on the same port.
func (b *PgBouncer) Restart(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.proc.stop(ctx, sigTerm); err != nil {
		return err
	}
	return b.start(ctx)
}

// LogTail returns the last lines of the pooler's log.
func (b *PgBouncer) LogTail(lines int) string {
	return fileTail(filepath.Join(b.home.path, "log"), lines)
}

// Close ends the pooler and removes its files. It may be called twice.
func (b *PgBouncer) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var err error
	if b.proc != nil {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		err = b.proc.stop(ctx, sigTerm)
	}
	return errors.Join(err, b.home.Close())
}

package testserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// PostgresOptions says what PostgreSQL to start. The zero value is a durable server of the newest installed version.
type PostgresOptions struct {
	// BinDir is the folder of PostgreSQL's programs. Defaults to POSTBAG_PG_BINDIR, else the newest version that Debian
	// has installed, else the one in PATH.
	BinDir string
	// DataDir takes the data; it must be empty or absent, and is not removed at the end. Defaults to a temporary folder.
	DataDir string
	// Kept: DataDir may hold the data of an earlier server that had Kept, too. This one goes on with it, and its settings are its
	// own. The password lies in DataDir.
	Kept bool
	// Port on 127.0.0.1. Defaults to a free one.
	Port int
	// Settings go into postgresql.conf, over the defaults: max_prepared_transactions 20, wal_level logical,
	// full durability. Values are written as they are, quoted.
	Settings map[string]string
	// NoSync gives up durability against loss of power, for tests that only need the SQL: fsync and full_page_writes off.
	// A killed server still recovers. On Linux the data is in memory (/dev/shm) if 4 GB are free there, neither TMPDIR nor
	// POSTBAG_FULL is set, and DataDir is empty: a database of its own for each test costs half as much.
	NoSync bool
	// StartTimeout is how long a start or recovery may take. Defaults to 60 s.
	StartTimeout time.Duration
}

// settingsFile holds our settings, in the data directory.
const settingsFile = "testserver.conf"

// Postgres is a private PostgreSQL server. Its methods may be called concurrently; commands (Start, Stop, Kill, Pause,
// Resume, Close) wait for each other.
type Postgres struct {
	opts     PostgresOptions
	programs pgPrograms
	as       *account
	home     *folder
	data     string
	template template
	password string
	port     int

	mu     sync.Mutex
	proc   *process
	frozen []relative
	closed bool
}

// StartPostgres starts a server and returns when it accepts connections. A [MissingError] says that it is not installed.
func StartPostgres(ctx context.Context, opts PostgresOptions) (*Postgres, error) {
	p, err := preparePostgres(ctx, opts)
	if err != nil {
		return nil, err
	}
	if p.password, err = keepPassword(opts.Kept, p.data, p.password, p.as, p.fillData); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if err := p.firstStart(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// preparePostgres finds programs and account and makes the folders, all but the data.
func preparePostgres(ctx context.Context, opts PostgresOptions) (*Postgres, error) {
	if opts.StartTimeout == 0 {
		opts.StartTimeout = time.Minute
	}
	programs, err := findPostgres(ctx, opts.BinDir)
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	t, err := postgresTemplate(ctx, programs, as)
	if err != nil {
		return nil, err
	}
	base := ""
	if opts.NoSync && opts.DataDir == "" {
		base = inMemory()
	}
	home, err := newFolderIn(base, "postgres", false)
	if err != nil {
		return nil, err
	}
	p := &Postgres{opts: opts, programs: programs, as: as, home: home, data: opts.DataDir, template: t, password: t.password}
	if p.data == "" {
		p.data = filepath.Join(home.path, "data")
	}
	if err := p.makeData(); err != nil {
		return nil, errors.Join(err, home.Close())
	}
	return p, nil
}

// makeData makes the data directory, empty and owned by the server's account.
func (p *Postgres) makeData() error {
	if err := os.MkdirAll(p.data, 0o700); err != nil {
		return fmt.Errorf("testserver: PostgreSQL's data directory: %w", err)
	}
	entries, err := os.ReadDir(p.data)
	if err != nil {
		return fmt.Errorf("testserver: PostgreSQL's data directory: %w", err)
	}
	if len(entries) > 0 && !(p.opts.Kept && isKept(p.data)) {
		return fmt.Errorf("testserver: PostgreSQL's data directory %s is not empty: name an empty one", p.data)
	}
	return errors.Join(os.Chmod(p.data, 0o700), p.as.own(p.data), p.as.reach(p.data)) //nolint:gosec // a folder needs x
}

func (p *Postgres) fillData() error {
	if err := copyTree(p.template.data, p.data, p.as); err != nil {
		return fmt.Errorf("testserver: PostgreSQL's template could not be copied: %w: give %s at least 64 MB", err, p.data)
	}
	return p.addToFile("postgresql.conf", "include = "+quoteLiteral(settingsFile))
}

// settings are what every server gets, the profile, and the caller's own, in this order.
func (p *Postgres) settings() map[string]string {
	s := map[string]string{
		"listen_addresses":          "127.0.0.1",
		"unix_socket_directories":   "",
		"port":                      strconv.Itoa(p.port),
		"max_prepared_transactions": "20",
		"wal_level":                 "logical",
		"logging_collector":         "off",
		"log_destination":           "stderr",
		"log_line_prefix":           "%m [%p] %a ",
		"timezone":                  "UTC",
	}
	if p.opts.NoSync {
		maps.Copy(s, map[string]string{"fsync": "off", "full_page_writes": "off"})
	}
	maps.Copy(s, p.opts.Settings)
	return s
}

// configure writes our settings into a file of their own, which postgresql.conf includes.
func (p *Postgres) configure() error {
	settings := p.settings()
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s = %s\n", name, quoteLiteral(settings[name]))
	}
	file := filepath.Join(p.data, settingsFile)
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("testserver: PostgreSQL's settings: %w", err)
	}
	return p.as.own(file)
}

// addToFile appends a line to one of the server's own files.
func (p *Postgres) addToFile(name, line string) (err error) {
	file, err := os.OpenFile(filepath.Join(p.data, name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("testserver: PostgreSQL's settings: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.WriteString("\n" + line + "\n")
	return err
}

// DSN is the connection string of the superuser for a database. It holds a password: it is made for this machine's user
// only, and must not go into a log.
func (p *Postgres) DSN(database string) string { return p.DSNAs("postgres", p.password, database) }

// DSNAs is the connection string for another role; an empty password is left out.
func (p *Postgres) DSNAs(role, password, database string) string {
	return postgresURL(p.port, role, password, database)
}

func postgresURL(port int, role, password, database string) string {
	u := url.URL{
		Scheme: "postgres", Host: loopback(port), Path: "/" + database, RawQuery: "sslmode=disable",
		User: url.User(role),
	}
	if password != "" {
		u.User = url.UserPassword(role, password)
	}
	return u.String()
}

// Port is the server's port on 127.0.0.1. It stays the same over restarts.
func (p *Postgres) Port() int { return p.port }

// Password is the superuser's.
func (p *Postgres) Password() string { return p.password }

// DataDir is the folder of the server's data.
func (p *Postgres) DataDir() string { return p.data }

// BinDir is the folder of this version's programs (pg_dump and the like).
func (p *Postgres) BinDir() string { return p.programs.dir }

// Version is what "postgres --version" says.
func (p *Postgres) Version() string { return p.programs.version }

// Log returns the server's log. It is for a test that looks for a line in it: other sessions may
// write much after that line.
func (p *Postgres) Log() string { return fileText(p.logFile()) }

// LogTail returns the last lines of the server's log, of 64 KiB at most.
func (p *Postgres) LogTail(lines int) string { return fileTail(p.logFile(), lines) }

func (p *Postgres) logFile() string { return filepath.Join(p.home.path, "log") }

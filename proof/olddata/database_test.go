package olddata_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/pgstore"
	"github.com/postbag/postbag/store/sqlitestore"

	"github.com/jackc/pgx/v5/pgxpool"
)

// kind is a kind of database, with the dump of an old box on it.
type kind struct {
	name string // of the dump, too
	// start starts an empty database. dsn is for the daemon, as its configuration names it.
	start func(t *testing.T) (db *sql.DB, dsn string)
	// open opens the box with the newest program.
	open func(t *testing.T, dsn string, unmigrated bool) relayStore
	// driver is the kind's name in postbag.yaml.
	driver string
	// insert publishes a message without the library, as the contract of SQL of each version allows.
	insert string
	dump   func(t *testing.T, db *sql.DB, dsn string) []string
}

// relayStore is a store that can be migrated.
type relayStore interface {
	store.Store
	store.Migrator
	store.Inspector
	store.Operator
	store.Steward
	store.Retainer
}

func kinds() []kind {
	return []kind{
		{
			name: "postgresql", driver: "postgresql", start: startPostgres, open: openPostgres, dump: dumpPostgres,
			insert: `INSERT INTO postbag.outbox (id, topic, key, type, payload) VALUES ($1, 't', $2, $3, $4)`,
		},
		{name: "mysql", driver: "mysql", start: startMySQL(true), open: openMySQL, insert: insertMySQL, dump: dumpMySQL},
		{name: "mariadb", driver: "mysql", start: startMySQL(false), open: openMySQL, insert: insertMySQL, dump: dumpMySQL},
		{
			name: "sqlite", driver: "sqlite", start: startSQLite, open: openSQLite, dump: dumpSQLite,
			insert: `INSERT INTO postbag_outbox (id, topic, "key", type, payload) VALUES (?, 't', ?, ?, ?)`,
		},
	}
}

const insertMySQL = "INSERT INTO postbag_outbox (id, topic, `key`, type, payload) VALUES (?, 't', ?, ?, ?)"

// publish writes a message in a transaction of its own.
func (k *kind) publish(ctx context.Context, db *sql.DB, id postbag.ID, key, typ string) error {
	var name any = id[:]
	if k.name == "postgresql" {
		name = id.String()
	}
	_, err := db.ExecContext(ctx, k.insert, name, key, typ, []byte(id.String()))
	return err
}

func startPostgres(t *testing.T) (*sql.DB, string) {
	t.Helper()
	server := servertest.Postgres(t, testserver.PostgresOptions{})
	return opened(t, "pgx", server.DSN("postgres")), server.DSN("postgres")
}

func startMySQL(oracle bool) func(t *testing.T) (*sql.DB, string) {
	return func(t *testing.T) (*sql.DB, string) {
		t.Helper()
		server := servertest.MySQL(t, testserver.MySQLOptions{Oracle: oracle})
		if _, err := opened(t, "mysql", server.DSN("")).ExecContext(t.Context(), "CREATE DATABASE shop"); err != nil {
			t.Fatal(err)
		}
		return opened(t, "mysql", server.DSN("shop")), server.DSN("shop")
	}
}

func startSQLite(t *testing.T) (*sql.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	return opened(t, "sqlite", sqlitestore.DSN(path)), path
}

func opened(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func openPostgres(t *testing.T, dsn string, unmigrated bool) relayStore {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := pgstore.Open(t.Context(), pool, pgstore.Options{Create: os.Getenv(dumping) != "", Unmigrated: unmigrated})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func openMySQL(t *testing.T, dsn string, unmigrated bool) relayStore {
	t.Helper()
	s, err := mysqlstore.Open(t.Context(), dsn, mysqlstore.Options{Create: os.Getenv(dumping) != "", Unmigrated: unmigrated})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func openSQLite(t *testing.T, dsn string, unmigrated bool) relayStore {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), dsn, sqlitestore.Options{Create: os.Getenv(dumping) != "", Unmigrated: unmigrated})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// statementEnd parts the statements of a dump.
const statementEnd = "\n;;\n"

// load makes the old box in an empty database.
func (k *kind) load(t *testing.T, db *sql.DB) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", k.name+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for statement := range strings.SplitSeq(string(text), statementEnd) {
		if _, err := conn.ExecContext(t.Context(), statement); strings.TrimSpace(statement) != "" && err != nil {
			t.Fatalf("%v in the dump's statement %.300s", err, statement)
		}
	}
	if k.name != "postgresql" {
		return
	}
	if _, err := conn.ExecContext(t.Context(), "SELECT pg_catalog.set_config('search_path', 'public', false)"); err != nil {
		t.Fatal(err)
	}
}

// yaml is the configuration of a daemon that delivers the box.
func (k *kind) yaml(url string) string {
	return fmt.Sprintf(`store: {kind: %s, dsn_env: BOX_DSN}
destinations: {hook: {webhook: {url: %s, secrets_env: [SECRET], allow_private: [127.0.0.0/8]}}}
subscriptions: [{to: hook, on_reject: supersede}]
ttl: 3s
`, k.driver, url)
}

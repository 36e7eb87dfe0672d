package mysqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// databasePool keeps migrated databases of tests that ended. To make the twenty tables takes a server longer than most tests do.
type databasePool struct {
	mu   sync.Mutex
	free []*pooledDatabase
}

// pooledDatabase is a database that had no box, and the rows that its tables held then.
type pooledDatabase struct {
	name   string
	schema map[string]string  // how each table is made, by its name, and what else the database has
	rows   map[string][][]any // by table
}

// locks is the one table with thousands of rows. Nothing writes to it after the migration.
const locks = "postbag__lock"

// pooled returns the DSN of a migrated database without a box. When the test passes, the pool gets it back, unless the test changed
// its schema.
func (k *kind) pooled(tb testing.TB) string {
	tb.Helper()
	m := k.server(tb)
	k.pool.mu.Lock()
	var d *pooledDatabase
	if n := len(k.pool.free); n > 0 {
		d, k.pool.free = k.pool.free[n-1], k.pool.free[:n-1]
	}
	k.pool.mu.Unlock()
	if d == nil {
		d = k.newPooled(tb)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			return // its sessions may hold locks that a drop would wait for
		}
		same, err := d.reset(context.Background(), m.DSN(d.name))
		switch {
		case err != nil:
			tb.Errorf("database %s cannot be used again: %v", d.name, err)
		case !same:
			k.drop(tb, d.name)
		default:
			k.pool.mu.Lock()
			defer k.pool.mu.Unlock()
			k.pool.free = append(k.pool.free, d)
		}
	})
	return m.DSN(d.name)
}

// newPooled makes and migrates a database, and notes what it holds.
func (k *kind) newPooled(tb testing.TB) *pooledDatabase {
	tb.Helper()
	d := &pooledDatabase{name: fmt.Sprintf("pooled_%d", k.count.Add(1)), rows: map[string][][]any{}}
	makeDatabase(tb, k.admin, d.name)
	dsn := k.m.DSN(d.name)
	if err := newFixture(tb, dsn).Close(); err != nil {
		tb.Fatal(err)
	}
	db := openSQL(tb, dsn)
	var err error
	if d.schema, err = schemaOf(tb.Context(), db); err != nil {
		tb.Fatal(err)
	}
	for table := range d.schema {
		if table == locks || table == routines {
			continue
		}
		if d.rows[table], err = rowsOf(tb.Context(), db, table); err != nil {
			tb.Fatal(err)
		}
	}
	return d
}

// reset drops the boxes that a test made, and gives the other tables the rows that they had. It reports false if the schema is not
// what it was. A lock that the test left behind is an error.
func (d *pooledDatabase) reset(ctx context.Context, dsn string) (same bool, err error) {
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return false, err
	}
	c.Params = map[string]string{"lock_wait_timeout": "10", "innodb_lock_wait_timeout": "10"}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return false, err
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	schema, err := schemaOf(ctx, db)
	if err != nil {
		return false, err
	}
	for table := range schema {
		if _, known := d.schema[table]; known {
			continue
		}
		if _, err := db.ExecContext(ctx, "DROP TABLE `"+table+"`"); err != nil {
			return false, fmt.Errorf("table %s: %w", table, err)
		}
		delete(schema, table)
	}
	if !maps.Equal(schema, d.schema) {
		return false, nil
	}
	for table, rows := range d.rows {
		if err := refill(ctx, db, table, rows); err != nil {
			return false, fmt.Errorf("table %s: %w", table, err)
		}
	}
	return true, nil
}

// routines is the name under which schemaOf notes what is no table.
const routines = "(routines)"

// numbering is where a table's numbers go on. It is not a part of the schema.
var numbering = regexp.MustCompile(` AUTO_INCREMENT=[0-9]+`)

// schemaOf returns how each table is made, and the names of the database's routines, triggers and events.
func schemaOf(ctx context.Context, db *sql.DB) (map[string]string, error) {
	tables, err := texts(ctx, db, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, table := range tables {
		var name, made string
		if err := db.QueryRowContext(ctx, "SHOW CREATE TABLE `"+table+"`").Scan(&name, &made); err != nil {
			return nil, err
		}
		out[table] = numbering.ReplaceAllString(made, "")
	}
	others, err := texts(ctx, db, "SELECT CONCAT(routine_name, ' ', definer, ' ', last_altered) FROM information_schema.routines WHERE routine_schema = DATABASE() "+
		"UNION ALL SELECT CONCAT(trigger_name, ' ', event_object_table) FROM information_schema.triggers WHERE trigger_schema = DATABASE() AND event_object_table LIKE 'postbag\\_\\_%' "+
		"UNION ALL SELECT event_name FROM information_schema.events WHERE event_schema = DATABASE() ORDER BY 1")
	out[routines] = strings.Join(others, ", ")
	return out, err
}

// refill makes a table hold these rows and no other.
func refill(ctx context.Context, db *sql.DB, table string, rows [][]any) error {
	if _, err := db.ExecContext(ctx, "DELETE FROM `"+table+"`"); err != nil {
		return err
	}
	for _, row := range rows {
		places := strings.TrimSuffix(strings.Repeat("?, ", len(row)), ", ")
		if _, err := db.ExecContext(ctx, "INSERT INTO `"+table+"` VALUES ("+places+")", row...); err != nil {
			return err
		}
	}
	return nil
}

// texts returns the one column of a query.
func texts(ctx context.Context, db *sql.DB, query string) (out []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// rowsOf returns all rows of a table.
func rowsOf(ctx context.Context, db *sql.DB, table string) (out [][]any, err error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM `"+table+"`") //nolint:unqueryvet // all of them, whatever they are
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

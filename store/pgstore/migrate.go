package pgstore

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/store"
)

// stepFiles are named by their version and their name, as 0001_postbag.sql.
//
//go:embed schema/0*.sql
var stepFiles embed.FS

// recordStep ends a step: a process that runs its SQL has taken it.
const recordStep = `
-- This step was taken.
INSERT INTO postbag._migrations (version, name) VALUES (0, 'begin'), (%d, '%s') ON CONFLICT (version) DO NOTHING;
`

// steps returns all migrations in order. Each is additive and leaves the programs
// of the version before at work, unless it raises _meta.reader; the last one's version
// is that of the schema.
func steps() []store.Step {
	files, err := stepFiles.ReadDir("schema")
	if err != nil {
		return nil
	}
	var all []store.Step
	for i, f := range files {
		text, err := stepFiles.ReadFile("schema/" + f.Name())
		if err != nil {
			return nil
		}
		_, name, _ := strings.Cut(strings.TrimSuffix(f.Name(), ".sql"), "_")
		all = append(all, store.Step{
			Version: i + 1, Name: name,
			SQL: strings.ReplaceAll(string(text), "{pages}", strconv.Itoa(fillerPages)) + fmt.Sprintf(recordStep, i+1, name),
		})
	}
	return all
}

// readerVersion is this program's version as far as the schema is concerned; a
// schema that needs a higher one is refused. A step that the program before cannot
// live with raises both.
const readerVersion = 2

// lockTimeout bounds how long a change of the schema waits for a lock, and others
// for it.
const lockTimeout = "SET LOCAL lock_timeout = '5s'"

// lockMigrations keeps all others from changing the schema until the transaction
// ends. It is a row's lock: advisory ones stay behind in poolers.
const lockMigrations = "SELECT FROM postbag._migrations WHERE version = 0 FOR UPDATE"

// Migrate implements store.Migrator. Each step is one transaction.
func (s *Store) Migrate(ctx context.Context) ([]string, error) {
	done, err := migrate(ctx, s.inDDL)
	s.server.Store(nil)
	s.catalog.Store(nil)
	return done, translateError("migrate", err)
}

// Pending implements store.Migrator.
func (s *Store) Pending(ctx context.Context) (version int, missing []store.Step, err error) {
	version, missing, err = pending(ctx, s.inDDL)
	return version, missing, translateError("look at the schema", err)
}

func (s *Store) inDDL(ctx context.Context, fn func(ddl) error) error {
	return s.inOwnTx(ctx, func(_ context.Context, tx pgx.Tx) error { return fn(pgxDDL{tx}) })
}

// pending returns the version that is there, zero for none, and what is missing.
func pending(ctx context.Context, in inDDL) (version int, missing []store.Step, err error) {
	err = in(ctx, func(tx ddl) error {
		return tx.one(ctx, `SELECT coalesce(max(version), 0) FROM postbag._migrations`, nil, &version)
	})
	if err != nil && !errors.Is(schemaError(err), store.ErrSchema) {
		return 0, nil, err
	}
	for _, step := range steps() {
		if step.Version > version {
			missing = append(missing, step)
		}
	}
	return version, missing, nil
}

// migrate takes the missing steps, and returns their names.
func migrate(ctx context.Context, in inDDL) ([]string, error) {
	_, missing, err := pending(ctx, in)
	if err != nil || len(missing) == 0 {
		return nil, err // a role without the right to make anything can still see that
	}
	if err := beginMigrations(ctx, in); err != nil {
		return nil, err
	}
	var done []string
	for _, step := range missing {
		took := false
		err := in(ctx, func(tx ddl) (err error) {
			took, err = take(ctx, tx, step)
			return err
		})
		if err != nil {
			return done, fmt.Errorf("step %d (%s): %w", step.Version, step.Name, err)
		}
		if took {
			done = append(done, step.Name)
		}
	}
	return done, nil
}

// beginMigrations makes the table that says which steps were taken. Several may
// do so at once: PostgreSQL's IF NOT EXISTS then fails for all but one, which
// goes away by doing it again.
func beginMigrations(ctx context.Context, in inDDL) error {
	for try := 0; ; try++ {
		err := in(ctx, func(tx ddl) error {
			var encoding string
			if err := tx.one(ctx, "SELECT current_setting('server_encoding')", nil, &encoding); err != nil {
				return err
			}
			if err := refuseEncoding(encoding); err != nil {
				return err
			}
			return execAll(ctx, tx, lockTimeout, `CREATE SCHEMA IF NOT EXISTS postbag`,
				`CREATE TABLE IF NOT EXISTS postbag._migrations (version integer PRIMARY KEY, name text NOT NULL, made timestamptz NOT NULL DEFAULT clock_timestamp())`,
				`INSERT INTO postbag._migrations (version, name) VALUES (0, 'begin') ON CONFLICT DO NOTHING`)
		})
		switch sqlState(err) {
		case codeUnique, codeDuplicateSchema, codeDuplicateTable:
			if try < 10 {
				continue
			}
		default:
		}
		return err
	}
}

// take takes one step, unless it was taken.
func take(ctx context.Context, tx ddl, step store.Step) (took bool, err error) {
	if err := execAll(ctx, tx, lockTimeout, lockMigrations); err != nil {
		return false, err
	}
	err = tx.one(ctx, `SELECT NOT EXISTS (SELECT FROM postbag._migrations WHERE version = $1)`, []any{step.Version}, &took)
	if err != nil || !took {
		return false, err
	}
	return true, script(ctx, tx, step.SQL)
}

// execAll runs statements without parameters.
func execAll(ctx context.Context, tx ddl, statements ...string) error {
	for _, sql := range statements {
		if err := tx.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// checkSchema refuses a schema that is missing, too old or too new.
func (s *Store) checkSchema(ctx context.Context) error {
	return translateError("look at the schema", s.lookAtSchema(ctx))
}

// lookAtSchema needs the rights of a producer alone.
func (s *Store) lookAtSchema(ctx context.Context) error {
	var v serverState
	there := false
	err := s.run(ctx, call{st: s.statements.get("standby", ""), each: func(r row) error {
		c := columns{rest: r}
		v.recovering = c.bool()
		return c.err
	}}, call{st: s.statements.get("schema", ""), each: func(r row) error {
		c := columns{rest: r}
		v.reader, v.schema, v.encoding, there = c.int2(), int(c.int4()), c.text(), true
		return c.err
	}})
	switch {
	case v.recovering:
		return store.ErrStandby
	case sqlState(err) == codeNoSchema, sqlState(err) == codeNoTable:
		c := s.pool.Config().ConnConfig
		return noTables(cmp.Or(c.Database, c.User)) // the server's own default
	case err != nil:
		return schemaError(err)
	case !there:
		return store.ErrSchema
	}
	return v.refuse()
}

// noTables is the error of a database that was never migrated, or of another one than was meant.
func noTables(database string) error {
	return fmt.Errorf("database %q has no tables of Postbag: %w", database, store.ErrSchema)
}

// refuse says why the schema cannot be worked with.
func (v *serverState) refuse() error {
	latest := steps()[len(steps())-1].Version
	switch {
	case v.schema < latest:
		return fmt.Errorf("version %d is there and %d is needed: %w", v.schema, latest, store.ErrSchema)
	case v.reader > readerVersion:
		return fmt.Errorf("version %d needs a newer program: %w", v.schema, store.ErrSchema)
	}
	return refuseEncoding(v.encoding)
}

// refuseEncoding refuses a database that could not hold every key.
func refuseEncoding(encoding string) error {
	if encoding == "UTF8" {
		return nil
	}
	return &fault{doing: "look at the database", said: "its encoding is " + encoding, fix: "make one with ENCODING 'UTF8'"}
}

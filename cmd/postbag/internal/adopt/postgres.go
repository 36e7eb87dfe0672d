package adopt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Postgres adopts tables of a PostgreSQL database.
type Postgres struct {
	// Pool are connections as the role that does it.
	Pool *pgxpool.Pool
	// Store appends to the boxes of the same database.
	Store postbag.Appender[pgx.Tx]
}

// pgNotes makes the tables in which it is noted what was imported. Rows of _adopted
// are few: those that were undelivered when an adoption began.
const pgNotes = `
CREATE TABLE IF NOT EXISTS postbag._adoptions (
  id       integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source   text        COLLATE "C" NOT NULL,
  -- The consumer group, where the original has several.
  grp      text        COLLATE "C" NOT NULL,
  original text        COLLATE "C" NOT NULL,
  box      text        COLLATE "C" NOT NULL,
  -- What there is in the database: import, trigger or view.
  mode     text        COLLATE "C" NOT NULL DEFAULT 'import',
  made     timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (source, grp)
);
CREATE TABLE IF NOT EXISTS postbag._adopted (
  adoption integer  NOT NULL,
  n        bigint   GENERATED ALWAYS AS IDENTITY,
  -- What tells the row from others in the original.
  ref      text     COLLATE "C" NOT NULL,
  ref2     text     COLLATE "C" NOT NULL,
  state    smallint NOT NULL,
  PRIMARY KEY (adoption, n),
  UNIQUE (adoption, ref, ref2)
);
CREATE INDEX IF NOT EXISTS _adopted_listed ON postbag._adopted (adoption, n) WHERE state = 0;`

// Describe implements Database. A name with a dot may be one of a table that is
// searched, as watermill makes them, before it is a schema and a table.
func (d *Postgres) Describe(ctx context.Context, name string) (*Table, error) {
	names := []string{pgName(name)}
	if schema, table, dotted := strings.Cut(name, "."); dotted {
		names = append(names, pgName(schema)+"."+pgName(table))
	}
	t := &Table{}
	var oid uint32
	var kind string
	err := d.Pool.QueryRow(ctx, `SELECT c.oid, n.nspname, c.relname, c.relkind::text FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.oid = COALESCE(to_regclass($1), to_regclass($2))`, names[0], names[len(names)-1]).Scan(&oid, &t.Schema, &t.Name, &kind)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, input(fmt.Errorf("%w as %.100q; correct --table, with its schema if that is not in the search_path", ErrNoTable, name))
	}
	if err != nil {
		return nil, pgError("look at the table", err)
	}
	if kind != "r" && kind != "p" && kind != "v" {
		return nil, input(fmt.Errorf("adopt: %s is neither a table nor a view; correct --table", t))
	}
	t.View = kind == "v"
	rows, err := d.Pool.Query(ctx, `SELECT a.attname, format_type(a.atttypid, a.atttypmod), b.typname, EXISTS (SELECT FROM pg_catalog.pg_index i
			WHERE i.indrelid = a.attrelid AND i.indisvalid AND i.indpred IS NULL AND i.indkey[0] = a.attnum)
		FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
		JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
		WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, oid)
	if err != nil {
		return nil, pgError("look at the table", err)
	}
	t.Columns, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (Column, error) {
		var c Column
		var base string
		err := row.Scan(&c.Name, &c.Type, &base, &c.Indexed)
		c.Kind = pgKinds[base]
		return c, err
	})
	return t, pgError("look at the table", err)
}

var pgKinds = map[string]Kind{
	"text": Text, "varchar": Text, "bpchar": Text, "citext": Text, "name": Text,
	"int2": Integer, "int4": Integer, "int8": Integer,
	"uuid": UUID, "json": JSON, "jsonb": JSON, "bytea": Bytes, "bool": Boolean,
	"timestamp": Time, "timestamptz": Time, "date": Time,
}

// Known implements Database.
func (d *Postgres) Known(ctx context.Context, p *Plan) (*Adoption, error) {
	var there bool
	err := d.Pool.QueryRow(ctx, `SELECT to_regclass('postbag._adoptions') IS NOT NULL`).Scan(&there)
	if err != nil || !there {
		return nil, pgError("look for an earlier adoption", err)
	}
	a := &Adoption{}
	err = d.Pool.QueryRow(ctx, `SELECT id, box, mode FROM postbag._adoptions WHERE source = $1 AND grp = $2`, p.Table.String(), p.Group).
		Scan(&a.ID, &a.Box, &a.Mode)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // nothing is known
	}
	return a, pgError("look for an earlier adoption", err)
}

// Enrol implements Database.
func (d *Postgres) Enrol(ctx context.Context, p *Plan) (*Adoption, error) {
	if a, err := d.Known(ctx, p); a != nil || err != nil {
		return a, err
	}
	var there bool
	err := d.Pool.QueryRow(ctx, `SELECT to_regclass('postbag._adopted_listed') IS NOT NULL`).Scan(&there)
	if err != nil {
		return nil, pgError("make the tables of adoptions", err)
	}
	for try := 0; ; try++ {
		err = d.Store.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if !there {
				if _, err := tx.Exec(ctx, pgNotes, pgx.QueryExecModeSimpleProtocol); err != nil {
					return pgError("make the tables of adoptions", err)
				}
			}
			_, err := tx.Exec(ctx, `INSERT INTO postbag._adoptions (source, grp, original, box) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
				p.Table.String(), p.Group, p.From, p.Box)
			return pgError("begin the adoption", err)
		})
		// Two that make a table at once: one of them is told that it is there.
		if code := pgCode(err); (code != "23505" && code != "42P07") || try == 3 {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return d.Known(ctx, p)
}

// Count implements Database.
func (d *Postgres) Count(ctx context.Context, p *Plan, a *Adoption) (Counts, error) {
	r := pgRow{p, "o"}
	var c Counts
	err := d.Pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE due AND NOT known), count(*) FILTER (WHERE known),
		count(*) FILTER (WHERE NOT due AND NOT known)
		FROM (SELECT COALESCE(`+p.due(pgSyntax{})+`, false) AS due, `+r.known(a)+` AS known FROM `+r.from()+` o) s`).
		Scan(&c.Undelivered, &c.Known, &c.Other)
	return c, pgError("count the rows", err)
}

func (r pgRow) from() string { return pgSyntax{}.table(r.Table.Schema, r.Table.Name) }

// known says that a row was noted and is not to be imported any more.
func (r pgRow) known(a *Adoption) string {
	if a == nil {
		return "false"
	}
	ref, ref2 := r.refs()
	return fmt.Sprintf("EXISTS (SELECT FROM postbag._adopted k WHERE k.adoption = %d AND k.ref = %s AND k.ref2 = %s AND k.state <> 0)", a.ID, ref, ref2)
}

// Scan implements Database, in a transaction that cannot write.
func (d *Postgres) Scan(ctx context.Context, p *Plan, a *Adoption, fn func(*Row) error) error {
	r := pgRow{p, "o"}
	ref, ref2 := r.refs()
	err := pgx.BeginTxFunc(ctx, d.Pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT `+ref+`, `+ref2+`, `+r.read()+` FROM `+r.from()+` o WHERE `+
			p.due(pgSyntax{})+` AND NOT `+r.known(a)+` ORDER BY `+r.orderBy())
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var row Row
			var ref2 string
			var id *string
			if err := rows.Scan(&row.Ref, &ref2, &id, &row.Topic, &row.Key, &row.Type, &row.Headers, &row.Payload); err != nil {
				return err
			}
			row.name(ref2, id)
			if err := fn(&row); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return pgError("read the rows", err)
}

// name completes a row with its second name and its id, if it has one.
func (r *Row) name(ref2 string, id *string) {
	if ref2 != "" {
		r.Ref += "/" + ref2
	}
	if id != nil {
		r.ID = *id
	}
}

// Check implements Database.
func (d *Postgres) Check(ctx context.Context, p *Plan) error {
	var box bool
	err := d.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM postbag._boxes WHERE name = $1)`, p.Box).Scan(&box)
	if err != nil {
		return pgError("look for the box", err)
	}
	if !box {
		return fmt.Errorf("adopt: %s: %w; make it with postbag migrate up --box %s", p.Box, store.ErrNoBox, p.Box)
	}
	if p.Table.View && p.Mode != Import {
		return input(fmt.Errorf("adopt: %s is a view, which has no place for a %s; name the table that it shows", p.Table, p.Mode))
	}
	if err := d.rights(ctx, p); err != nil {
		return err
	}
	if p.From == "watermill" && p.Table.Column("acked") == nil {
		if err := d.group(ctx, p); err != nil {
			return err
		}
	}
	r := pgRow{p, "o"}
	_, err = d.Pool.Exec(ctx, `EXPLAIN SELECT `+r.read()+` FROM `+r.from()+` o WHERE `+p.due(pgSyntax{})+` ORDER BY `+r.orderBy())
	if err != nil && p.Where != "" {
		return input(fmt.Errorf("--where is no condition on %s: %w", p.Table, pgError("ask for the undelivered rows", err)))
	}
	return pgError("ask for the undelivered rows", err)
}

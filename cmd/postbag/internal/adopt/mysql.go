package adopt

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// MySQL adopts tables of a MySQL or MariaDB server.
type MySQL struct {
	// DB are connections to the database of the boxes, for this alone: their sessions
	// get other settings.
	DB *sql.DB
	// Store appends to the boxes of the same database.
	Store postbag.Appender[postbag.SQLTx]
}

// myNotes makes the tables in which it is noted what was imported, as in PostgreSQL.
// What is fed by a trigger is not noted: the trigger is there, or it is not.
var myNotes = []string{
	`CREATE TABLE IF NOT EXISTS postbag__adoptions (
		id       INT AUTO_INCREMENT PRIMARY KEY,
		source   VARBINARY(255) NOT NULL,
		grp      VARBINARY(255) NOT NULL,
		original VARBINARY(64)  NOT NULL,
		box      VARBINARY(64)  NOT NULL,
		made     TIMESTAMP(6)   NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
		UNIQUE (source, grp)
	) ENGINE = InnoDB`,
	`CREATE TABLE IF NOT EXISTS postbag__adopted (
		adoption INT            NOT NULL,
		n        BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
		ref      VARBINARY(400) NOT NULL,
		ref2     VARBINARY(64)  NOT NULL,
		state    TINYINT        NOT NULL,
		UNIQUE (adoption, ref, ref2),
		KEY (adoption, state, n)
	) ENGINE = InnoDB`,
}

// session is a connection whose settings are those that the SQL here is written for.
// A trigger keeps them.
func (d *MySQL) session(ctx context.Context, fn func(*sql.Conn) error) error {
	conn, err := d.DB.Conn(ctx)
	if err != nil {
		return myError("connect", err)
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	for _, setting := range []string{
		`SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'`,
		`SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`, `SET SESSION time_zone = '+00:00'`,
		`SET NAMES utf8mb4`, `SET SESSION lock_wait_timeout = 1`, `SET SESSION autocommit = 1`,
	} {
		if _, err := conn.ExecContext(ctx, setting); err != nil {
			return myError("prepare the session", err)
		}
	}
	return fn(conn)
}

// one reads one row of a query on its own.
func (d *MySQL) one(ctx context.Context, doing, query string, args []any, into ...any) error {
	return d.session(ctx, func(conn *sql.Conn) error {
		return myError(doing, conn.QueryRowContext(ctx, query, args...).Scan(into...))
	})
}

// Describe implements Database.
func (d *MySQL) Describe(ctx context.Context, name string) (*Table, error) {
	schema, table, dotted := strings.Cut(name, ".")
	if !dotted {
		schema, table = "", ""
	}
	t := &Table{}
	var kind string
	err := d.one(ctx, "look at the table", `SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES
		WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? OR TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY TABLE_SCHEMA = DATABASE() DESC LIMIT 1`,
		[]any{name, schema, table}, &t.Schema, &t.Name, &kind)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, input(fmt.Errorf("%w as %.100q; correct --table, with its database if that is another than the store's", ErrNoTable, name))
	}
	if err != nil {
		return nil, err
	}
	t.View = kind == "VIEW"
	return t, d.session(ctx, func(conn *sql.Conn) error { return describeColumns(ctx, conn, t) })
}

func describeColumns(ctx context.Context, conn *sql.Conn, t *Table) error {
	err := each(ctx, conn, `SELECT c.COLUMN_NAME, c.COLUMN_TYPE, c.DATA_TYPE, EXISTS (SELECT 1 FROM information_schema.STATISTICS s
			WHERE s.TABLE_SCHEMA = c.TABLE_SCHEMA AND s.TABLE_NAME = c.TABLE_NAME AND s.COLUMN_NAME = c.COLUMN_NAME AND s.SEQ_IN_INDEX = 1)
		FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ? ORDER BY c.ORDINAL_POSITION`, []any{t.Schema, t.Name},
		func(rows *sql.Rows) error {
			var c Column
			var base string
			err := rows.Scan(&c.Name, &c.Type, &base, &c.Indexed)
			c.Kind = myKinds[strings.ToLower(base)]
			t.Columns = append(t.Columns, c)
			return err
		})
	if err != nil {
		return myError("look at the table", err)
	}
	// MariaDB has no JSON of its own: a text with a check stands for it.
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Kind != Text {
			continue
		}
		var is bool
		err := conn.QueryRowContext(ctx, `SELECT VERSION() LIKE '%MariaDB%' AND EXISTS (SELECT 1 FROM information_schema.CHECK_CONSTRAINTS
			WHERE CONSTRAINT_SCHEMA = ? AND CHECK_CLAUSE = ?)`, t.Schema, "json_valid("+myName(c.Name)+")").Scan(&is)
		if err != nil {
			return myError("look at the table", err)
		}
		if is {
			c.Kind = JSON
		}
	}
	return nil
}

var myKinds = map[string]Kind{
	"char": Text, "varchar": Text, "tinytext": Text, "text": Text, "mediumtext": Text, "longtext": Text,
	"tinyint": Integer, "smallint": Integer, "mediumint": Integer, "int": Integer, "bigint": Integer,
	"uuid": UUID, "json": JSON, "binary": Bytes, "varbinary": Bytes, "tinyblob": Bytes, "blob": Bytes, "mediumblob": Bytes, "longblob": Bytes,
	"datetime": Time, "timestamp": Time, "date": Time,
}

// Known implements Database. What there is in the database is asked of the database.
func (d *MySQL) Known(ctx context.Context, p *Plan) (*Adoption, error) {
	var there bool
	err := d.one(ctx, "look for an earlier adoption", `SELECT COUNT(*) = 2 FROM information_schema.TABLES
		WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('postbag__adoptions', 'postbag__adopted')`, nil, &there)
	if err != nil || !there {
		return nil, err
	}
	a := &Adoption{Mode: Import}
	err = d.one(ctx, "look for an earlier adoption", `SELECT id, box FROM postbag__adoptions WHERE source = ? AND grp = ?`,
		[]any{p.Table.String(), p.Group}, &a.ID, &a.Box)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // nothing is known
	}
	if err != nil {
		return nil, err
	}
	err = d.one(ctx, "look for the trigger", `SELECT EXISTS (SELECT 1 FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ? AND TRIGGER_NAME = ?)`,
		[]any{p.Table.Schema, myTrigger(a)}, &there)
	if there {
		a.Mode = Trigger
	}
	return a, err
}

// Enrol implements Database.
func (d *MySQL) Enrol(ctx context.Context, p *Plan) (*Adoption, error) {
	err := d.session(ctx, func(conn *sql.Conn) error {
		for _, table := range myNotes {
			if _, err := conn.ExecContext(ctx, table); err != nil {
				return myError("make the tables of adoptions", err)
			}
		}
		_, err := conn.ExecContext(ctx, `INSERT IGNORE INTO postbag__adoptions (source, grp, original, box) VALUES (?, ?, ?, ?)`,
			p.Table.String(), p.Group, p.From, p.Box)
		return myError("begin the adoption", err)
	})
	if err != nil {
		return nil, err
	}
	return d.Known(ctx, p)
}

// Count implements Database.
func (d *MySQL) Count(ctx context.Context, p *Plan, a *Adoption) (Counts, error) {
	r := myRow{p, "o"}
	var c Counts
	err := d.one(ctx, "count the rows", `SELECT COALESCE(SUM(due AND NOT known), 0), COALESCE(SUM(known), 0), COALESCE(SUM(NOT due AND NOT known), 0)
		FROM (SELECT COALESCE(`+p.due(mySyntax{})+`, FALSE) AS due, `+r.known(a)+` AS known FROM `+r.from()+` o) s`, nil,
		&c.Undelivered, &c.Known, &c.Other)
	return c, err
}

// Scan implements Database.
func (d *MySQL) Scan(ctx context.Context, p *Plan, a *Adoption, fn func(*Row) error) error {
	r := myRow{p, "o"}
	ref, ref2 := r.refs()
	return d.session(ctx, func(conn *sql.Conn) error {
		err := each(ctx, conn, `SELECT `+ref+`, `+ref2+`, `+r.read()+` FROM `+r.from()+` o WHERE `+
			p.due(mySyntax{})+` AND NOT `+r.known(a)+` ORDER BY `+r.orderBy(), nil, func(rows *sql.Rows) error {
			row, _, err := scanRow(p, rows)
			if err != nil {
				return err
			}
			return fn(&row)
		})
		return myError("read the rows", err)
	})
}

// scanRow reads a row, and its references as they are.
func scanRow(p *Plan, rows *sql.Rows) (Row, [2]string, error) {
	var row Row
	var refs [2]string
	var id *string
	err := rows.Scan(&refs[0], &refs[1], &id, &row.Topic, &row.Key, &row.Type, &row.Headers, &row.Payload)
	row.Ref = shownRef(p, refs)
	if id != nil && len(*id) == 32 {
		s := *id
		row.ID = s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
	}
	return row, refs, err
}

// shownRef is a row's name for people: bytes as a UUID, or in hexadecimal.
func shownRef(p *Plan, refs [2]string) string {
	shown := refs[0]
	if p.Table.Column(p.ref[0]).Kind == Bytes {
		shown = fmt.Sprintf("%x", refs[0])
		if len(refs[0]) == 16 {
			shown = postbag.ID([]byte(refs[0])).String()
		}
	}
	if refs[1] != "" {
		shown += "/" + refs[1]
	}
	return shown
}

// Check implements Database.
func (d *MySQL) Check(ctx context.Context, p *Plan) error {
	var box bool
	err := d.one(ctx, "look for the box", `SELECT EXISTS (SELECT 1 FROM postbag__box WHERE name = ?)`, []any{p.Box}, &box)
	if err != nil {
		return err
	}
	switch {
	case !box:
		return fmt.Errorf("adopt: %s: %w; make it with postbag migrate up --box %s", p.Box, store.ErrNoBox, p.Box)
	case p.Mode == View:
		return input(errors.New("adopt: MySQL and MariaDB have no triggers on views, so that a view could not feed a box; take --mode trigger"))
	case p.Table.View && p.Mode != Import:
		return input(fmt.Errorf("adopt: %s is a view, which has no place for a %s; name the table that it shows", p.Table, p.Mode))
	case p.order[0] == RowOrder && p.Table.Column(RowOrder) == nil:
		return input(errors.New("adopt: --column order=xmin is for PostgreSQL; name a column"))
	}
	if err := d.rights(ctx, p); err != nil {
		return err
	}
	if p.From == "watermill" && p.Table.Column("acked") == nil {
		if err := d.group(ctx, p); err != nil {
			return err
		}
	}
	r := myRow{p, "o"}
	err = d.session(ctx, func(conn *sql.Conn) error {
		err := each(ctx, conn, `EXPLAIN SELECT `+r.read()+` FROM `+r.from()+` o WHERE `+p.due(mySyntax{})+` ORDER BY `+r.orderBy(), nil,
			func(*sql.Rows) error { return nil })
		return myError("ask for the undelivered rows", err)
	})
	if err != nil && p.Where != "" {
		return input(fmt.Errorf("--where is no condition on %s: %w", p.Table, err))
	}
	return err
}

// group refuses a consumer group that watermill does not know, when it knows others.
func (d *MySQL) group(ctx context.Context, p *Plan) error {
	offsets, err := offsetsTable(p.Table, &p.Options)
	if err != nil {
		return err
	}
	return d.session(ctx, func(conn *sql.Conn) error {
		var groups []string
		err := each(ctx, conn, `SELECT consumer_group FROM `+mySyntax{}.table(p.Table.Schema, offsets)+` ORDER BY 1`, nil, func(rows *sql.Rows) error {
			var group string
			err := rows.Scan(&group)
			groups = append(groups, group)
			return err
		})
		switch {
		case myCode(err) == 1146:
			return input(fmt.Errorf("adopt: there is no table %s.%s of watermill's offsets; name it with --offsets", p.Table.Schema, offsets))
		case err != nil:
			return myError("look at the offsets", err)
		}
		return unknownGroup(p, groups)
	})
}

// myCode is the number of a server's error, or 0.
func myCode(err error) uint16 {
	if answer, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return answer.Number
	}
	return 0
}

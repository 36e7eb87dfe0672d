package adapters

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

// The tables of effects of databases whose placeholders are question marks.
const (
	mysqlEffects = "CREATE TABLE " + mysqlDatabase + ".effects (n BIGINT AUTO_INCREMENT PRIMARY KEY, id VARCHAR(40) NOT NULL, " +
		"k VARCHAR(100) NOT NULL, digest VARCHAR(64) NOT NULL, applied BIGINT NOT NULL)"
	sqliteEffects = `CREATE TABLE effects (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, k TEXT NOT NULL, digest TEXT NOT NULL, applied INTEGER NOT NULL)`
)

// Consume implements chaos.Applier.
func (MySQL) Consume(ctx context.Context, dsn string, c *chaos.Consumption) error {
	s, err := mysqlstore.Open(ctx, dsn, mysqlstore.Options{})
	if err != nil {
		return errors.Join(err, unread(ctx, c))
	}
	return errors.Join(consume[postbag.SQLTx](ctx, s, c, sqlWrite), s.Close())
}

// Effects implements chaos.Applier.
func (MySQL) Effects(ctx context.Context, dsn string, each func(chaos.Effect) error) error {
	db, err := mysqlOpen(dsn, 1)
	if err != nil {
		return err
	}
	return sqlEffects(ctx, db, each)
}

// Consume implements chaos.Applier.
func (SQLite) Consume(ctx context.Context, dsn string, c *chaos.Consumption) error {
	s, err := sqlitestore.Open(ctx, dsn, sqlitestore.Options{})
	if err != nil {
		return errors.Join(err, unread(ctx, c))
	}
	return errors.Join(consume[postbag.SQLTx](ctx, s, c, sqlWrite), s.Close())
}

// Effects implements chaos.Applier.
func (SQLite) Effects(ctx context.Context, dsn string, each func(chaos.Effect) error) error {
	db, err := sql.Open("sqlite", "file:"+dsn+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	return sqlEffects(ctx, db, each)
}

func sqlWrite(ctx context.Context, tx postbag.SQLTx, e chaos.Effect) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO effects (id, k, digest, applied) VALUES (?, ?, ?, ?)", e.ID, e.Key, e.Sum, int64(e.At))
	return err
}

// sqlEffects reads the table of effects, and closes the database.
func sqlEffects(ctx context.Context, db *sql.DB, each func(chaos.Effect) error) (err error) {
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, effectsQuery)
	if err != nil {
		return fmt.Errorf("adapters: read the effects: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e chaos.Effect
		var at int64
		if err := rows.Scan(&e.Position, &e.ID, &e.Key, &e.Sum, &at); err != nil {
			return err
		}
		e.At = time.Duration(at)
		if err := each(e); err != nil {
			return err
		}
	}
	return rows.Err()
}

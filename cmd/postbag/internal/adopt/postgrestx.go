package adopt

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
)

// How many rows a transaction moves, and about how many bytes of payload.
const (
	batchRows  = 500
	batchBytes = 16 << 20
)

// pgTx is a transaction on an adoption.
type pgTx struct {
	tx        pgx.Tx
	row       pgRow
	adoption  *Adoption
	publisher *postbag.Publisher[pgx.Tx]
	// table is the original's name, which a view takes from it.
	table string
}

// InTx implements Database. The adoption's row is what keeps two of these apart.
func (d *Postgres) InTx(ctx context.Context, p *Plan, a *Adoption, fn func(Tx) error) error {
	return d.inTx(ctx, p, a, func(t *pgTx) error { return fn(t) })
}

func (d *Postgres) inTx(ctx context.Context, p *Plan, a *Adoption, fn func(*pgTx) error) error {
	publisher, err := postbag.NewPublisher(d.Store, postbag.PublisherOptions{Box: p.Box, MaxSize: maxPayload})
	if err != nil {
		return err
	}
	return publisher.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var mode Mode
		err := tx.QueryRow(ctx, `SELECT mode FROM postbag._adoptions WHERE id = $1 FOR UPDATE`, a.ID).Scan(&mode)
		if err != nil {
			return pgError("lock the adoption", err)
		}
		if mode != a.Mode {
			return fmt.Errorf("adopt: somebody else changed the adoption of %s to %s meanwhile; look what is wanted, and run this again", p.Table, mode)
		}
		r := pgRow{p, "o"}
		return fn(&pgTx{tx: tx, row: r, adoption: a, publisher: publisher, table: r.from()})
	})
}

// List implements Tx. Numbers are given in the order of the rows.
func (t *pgTx) List(ctx context.Context, fed bool) (int, error) {
	ref, ref2 := t.row.refs()
	due, state := t.row.due(pgSyntax{}, "o"), Listed
	if fed {
		due, state = t.row.seen(), Fed
	}
	tag, err := t.tx.Exec(ctx, `INSERT INTO postbag._adopted (adoption, ref, ref2, state)
		SELECT $1, `+ref+`, `+ref2+`, $2 FROM `+t.table+` o WHERE `+due+` AND NOT EXISTS
		(SELECT FROM postbag._adopted k WHERE k.adoption = $1 AND k.ref = `+ref+` AND k.ref2 = `+ref2+`) ORDER BY `+t.row.orderBy(),
		t.adoption.ID, int(state))
	return int(tag.RowsAffected()), pgError("list the undelivered rows", err)
}

// Waiting implements Tx.
func (t *pgTx) Waiting(ctx context.Context) (n int, err error) {
	err = t.tx.QueryRow(ctx, `SELECT count(*) FROM postbag._adopted WHERE adoption = $1 AND state = 0`, t.adoption.ID).Scan(&n)
	return n, pgError("count the rows that wait", err)
}

// Next implements Tx.
func (t *pgTx) Next(ctx context.Context, after int64) ([]Row, error) {
	upto, err := t.upto(ctx, after)
	if err != nil || upto == 0 {
		return nil, err
	}
	rows, err := t.tx.Query(ctx, `SELECT a.n, a.ref, a.ref2, o.here IS NULL, o.id, COALESCE(o.topic, ''), COALESCE(o.key, ''), COALESCE(o.type, ''),
		COALESCE(o.headers, ''), o.payload
		FROM postbag._adopted a LEFT JOIN LATERAL (SELECT true AS here, `+t.row.read()+` FROM `+t.table+` o
			WHERE `+t.row.isNoted("a")+` AND `+t.row.due(pgSyntax{}, "o")+`) o ON true
		WHERE a.adoption = $1 AND a.state = 0 AND a.n > $2 AND a.n <= $3 ORDER BY a.n`, t.adoption.ID, after, upto)
	if err != nil {
		return nil, pgError("read the rows", err)
	}
	out, err := pgx.CollectRows(rows, func(got pgx.CollectableRow) (Row, error) {
		var row Row
		var ref2 string
		var id *string
		err := got.Scan(&row.N, &row.Ref, &ref2, &row.Gone, &id, &row.Topic, &row.Key, &row.Type, &row.Headers, &row.Payload)
		row.name(ref2, id)
		return row, err
	})
	return out, pgError("read the rows", err)
}

// upto is up to where the next rows are few and small enough for one transaction.
func (t *pgTx) upto(ctx context.Context, after int64) (int64, error) {
	payload, _ := t.row.col(RolePayload)
	rows, err := t.tx.Query(ctx, `SELECT a.n, COALESCE((SELECT pg_column_size(`+payload+`) FROM `+t.table+` o WHERE `+t.row.isNoted("a")+`), 0)
		FROM (SELECT n, ref, ref2 FROM postbag._adopted WHERE adoption = $1 AND state = 0 AND n > $2 ORDER BY n LIMIT $3) a ORDER BY a.n`,
		t.adoption.ID, after, batchRows)
	if err != nil {
		return 0, pgError("look for the next rows", err)
	}
	var upto, size, bytes int64
	_, err = pgx.ForEachRow(rows, []any{&after, &size}, func() error {
		if bytes == 0 || bytes+size <= batchBytes {
			upto = after
		}
		bytes += size + 1
		return nil
	})
	return upto, pgError("look for the next rows", err)
}

// Append implements Tx.
func (t *pgTx) Append(ctx context.Context, msgs []postbag.Message) error {
	return t.publisher.Publish(ctx, t.tx, msgs...)
}

// Settle implements Tx.
func (t *pgTx) Settle(ctx context.Context, state State, rows []int64) error {
	noted := ` FROM postbag._adopted a WHERE a.adoption = $1 AND a.n = ANY($2) AND ` + t.row.isNoted("a")
	if state == Imported {
		var err error
		switch t.row.Originals {
		case Mark:
			_, err = t.tx.Exec(ctx, `UPDATE `+t.table+` o SET `+t.row.settings()+noted, t.adoption.ID, rows)
		case Delete:
			_, err = t.tx.Exec(ctx, `DELETE FROM `+t.table+` o USING`+noted[len(` FROM`):], t.adoption.ID, rows)
		case Leave:
		}
		if err != nil {
			return pgError(string(t.row.Originals)+" the original's rows", err)
		}
	}
	if state == Gone {
		_, err := t.tx.Exec(ctx, `DELETE FROM postbag._adopted WHERE adoption = $1 AND n = ANY($2)`, t.adoption.ID, rows)
		return pgError("forget rows that are gone", err)
	}
	_, err := t.tx.Exec(ctx, `UPDATE postbag._adopted SET state = $3 WHERE adoption = $1 AND n = ANY($2)`, t.adoption.ID, rows, int(state))
	return pgError("note what was imported", err)
}

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
	publisher, err := postbag.NewPublisher(d.Store, postbag.PublisherOptions{Box: p.Box, MaxSize: postbag.MaxPayload})
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
		t := &pgTx{tx: tx, row: r, adoption: a, publisher: publisher, table: r.from()}
		if !p.Table.Column(p.ref[0]).Indexed {
			// A table without statistics would be scanned for each row, and not once for all.
			if err := t.run(ctx, "plan for a table without an index", `SET LOCAL enable_nestloop = off`); err != nil {
				return err
			}
		}
		return fn(t)
	})
}

// List implements Tx. Numbers are given in the order of the rows.
func (t *pgTx) List(ctx context.Context, fed bool) (int, error) {
	ref, ref2 := t.row.refs()
	due, state := t.row.due(pgSyntax{}), Listed
	if fed {
		due, state = t.row.seen(pgSyntax{}), Fed
	}
	tag, err := t.tx.Exec(ctx, `INSERT INTO postbag._adopted (adoption, ref, ref2, state)
		SELECT $1, `+ref+`, `+ref2+`, $2 FROM `+t.table+` o WHERE `+due+` AND NOT EXISTS
		(SELECT FROM postbag._adopted k WHERE k.adoption = $1 AND k.ref = `+ref+` AND k.ref2 = `+ref2+`) ORDER BY `+t.row.orderBy(),
		t.adoption.ID, int(state))
	if pgCode(err) == "23505" {
		return 0, errRowsAlike(t.row.Plan)
	}
	if err == nil && tag.RowsAffected() > maxHeld {
		// Without statistics of so many new rows a plan may read all of them for each one.
		_, err = t.tx.Exec(ctx, `ANALYZE postbag._adopted`)
	}
	return int(tag.RowsAffected()), pgError("list the undelivered rows", err)
}

// Waiting implements Tx.
func (t *pgTx) Waiting(ctx context.Context) (n int, err error) {
	err = t.tx.QueryRow(ctx, `SELECT count(*) FROM postbag._adopted WHERE adoption = $1 AND state = 0`, t.adoption.ID).Scan(&n)
	return n, pgError("count the rows that wait", err)
}

// Next implements Tx.
func (t *pgTx) Next(ctx context.Context, after int64) ([]Row, error) {
	next, err := t.tx.Query(ctx, `SELECT n, ref, ref2 FROM postbag._adopted WHERE adoption = $1 AND state = 0 AND n > $2 ORDER BY n LIMIT $3`,
		t.adoption.ID, after, batchRows)
	if err != nil {
		return nil, pgError("look for the next rows", err)
	}
	var rows []Row
	var refs, refs2 []string
	var n int64
	var ref, ref2 string
	_, err = pgx.ForEachRow(next, []any{&n, &ref, &ref2}, func() error {
		row := Row{N: n, Ref: ref, Gone: true}
		row.name(ref2, nil)
		rows = append(rows, row)
		refs, refs2 = append(refs, ref), append(refs2, ref2)
		return nil
	})
	if err != nil || len(rows) == 0 {
		return nil, pgError("look for the next rows", err)
	}
	few, err := t.few(ctx, refs, refs2)
	if err != nil {
		return nil, err
	}
	rows = rows[:few]
	return rows, t.read(ctx, rows, refs[:few], refs2[:few])
}

// joined is the join of the original with the references that are the first two
// parameters. It is quick by an index, and one scan where the original has none.
func (t *pgTx) joined(columns, where string) string {
	r := pgRow{t.row.Plan, "o"}
	types := []string{r.Table.Column(r.ref[0]).Type, "text"}
	if len(r.ref) > 1 {
		types[1] = r.Table.Column(r.ref[1]).Type
	}
	on := pgSyntax{}.column("o", r.ref[0]) + " = u.ref"
	if len(r.ref) > 1 {
		on += " AND " + pgSyntax{}.column("o", r.ref[1]) + " = u.ref2"
	}
	return `SELECT u.at, o.* FROM unnest($1::text[]::` + types[0] + `[], $2::text[]::` + types[1] + `[]) WITH ORDINALITY u (ref, ref2, at)
		CROSS JOIN LATERAL (SELECT ` + columns + ` FROM ` + t.table + ` o WHERE ` + on + where + `) o`
}

// few is how many of the next rows are small enough for one transaction.
func (t *pgTx) few(ctx context.Context, refs, refs2 []string) (int, error) {
	payload, _ := t.row.col(RolePayload)
	found, err := t.tx.Query(ctx, t.joined(`COALESCE(pg_column_size(`+payload+`), 0)`, ""), refs, refs2)
	if err != nil {
		return 0, pgError("measure the next rows", err)
	}
	sizes := make([]int64, len(refs))
	var at, size int64
	_, err = pgx.ForEachRow(found, []any{&at, &size}, func() error {
		sizes[at-1] = size
		return nil
	})
	var all int64
	for i, size := range sizes {
		if all += size; i > 0 && all > batchBytes {
			return i, pgError("measure the next rows", err)
		}
	}
	return len(refs), pgError("measure the next rows", err)
}

// read fills rows in that are there, and still undelivered.
func (t *pgTx) read(ctx context.Context, rows []Row, refs, refs2 []string) error {
	found, err := t.tx.Query(ctx, t.joined(t.row.read(), ` AND `+t.row.due(pgSyntax{})), refs, refs2)
	if err != nil {
		return pgError("read the rows", err)
	}
	defer found.Close()
	for found.Next() {
		var at int64
		var id *string
		var got Row
		if err := found.Scan(&at, &id, &got.Topic, &got.Key, &got.Type, &got.Headers, &got.Payload); err != nil {
			return pgError("read the rows", err)
		}
		got.N, got.Ref = rows[at-1].N, refs[at-1]
		got.name(refs2[at-1], id)
		rows[at-1] = got
	}
	return pgError("read the rows", found.Err())
}

// Append implements Tx.
func (t *pgTx) Append(ctx context.Context, msgs []postbag.Message) error {
	return t.publisher.Publish(ctx, t.tx, msgs...)
}

// Note implements Tx.
func (t *pgTx) Note(ctx context.Context, state State, rows []int64) error {
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

package adopt

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/postbag/postbag"
)

// myTx is a transaction on an adoption.
type myTx struct {
	conn      *sql.Conn
	row       myRow
	adoption  *Adoption
	publisher *postbag.Publisher[postbag.SQLTx]
	// refs are those of the rows that Next returned last.
	refs map[int64]any
}

// connTx is a transaction on a connection, for the publisher, which ends none.
type connTx struct{ *sql.Conn }

func (connTx) Commit() error   { return nil }
func (connTx) Rollback() error { return nil }

// InTx implements Database. The adoption's row is what keeps two of these apart.
func (d *MySQL) InTx(ctx context.Context, p *Plan, a *Adoption, fn func(Tx) error) error {
	return d.inTx(ctx, p, a, `START TRANSACTION`, fn)
}

// inTx runs fn in a transaction, and commits.
func (d *MySQL) inTx(ctx context.Context, p *Plan, a *Adoption, begin string, fn func(Tx) error) error {
	return d.session(ctx, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, begin); err != nil {
			return myError("begin a transaction", err)
		}
		var there int
		err := conn.QueryRowContext(ctx, `SELECT 1 FROM postbag__adoptions WHERE id = ? FOR UPDATE`, a.ID).Scan(&there)
		if err != nil {
			err = myError("lock the adoption", err)
		} else {
			err = d.on(conn, p, a, fn)
		}
		return end(ctx, conn, err)
	})
}

// on runs fn on a connection.
func (d *MySQL) on(conn *sql.Conn, p *Plan, a *Adoption, fn func(Tx) error) error {
	publisher, err := postbag.NewPublisher(d.Store, postbag.PublisherOptions{Box: p.Box, MaxSize: postbag.MaxPayload})
	if err != nil {
		return err
	}
	return fn(&myTx{conn: conn, row: myRow{p, "o"}, adoption: a, publisher: publisher})
}

// end commits, or rolls back for an error. A session on which that fails is closed,
// which ends its transaction.
func end(ctx context.Context, conn *sql.Conn, err error) error {
	if err == nil {
		_, err = conn.ExecContext(ctx, `COMMIT`)
		err = myError("commit", err)
	}
	if err != nil {
		if _, undo := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`); undo != nil {
			discard(conn)
		}
	}
	return err
}

// List implements Tx.
func (t *myTx) List(ctx context.Context, fed bool) (int, error) {
	ref, ref2 := t.row.refs()
	due, state := t.row.due(mySyntax{}), Listed
	if fed {
		due, state = t.row.seen(mySyntax{}), Fed
	}
	n, err := t.exec(ctx, `INSERT INTO postbag__adopted (adoption, ref, ref2, state)
		SELECT ?, `+ref+`, `+ref2+`, ? FROM `+t.row.from()+` o WHERE `+due+` AND NOT `+t.row.noted(t.adoption.ID, "")+` ORDER BY `+t.row.orderBy(),
		t.adoption.ID, int(state))
	if myCode(err) == 1062 {
		return 0, errRowsAlike(t.row.Plan)
	}
	return n, myError("list the undelivered rows", err)
}

// exec executes a statement, and says how many rows it changed.
func (t *myTx) exec(ctx context.Context, query string, args ...any) (int, error) {
	res, err := t.conn.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// Waiting implements Tx.
func (t *myTx) Waiting(ctx context.Context) (n int, err error) {
	err = t.conn.QueryRowContext(ctx, `SELECT COUNT(*) FROM postbag__adopted WHERE adoption = ? AND state = 0`, t.adoption.ID).Scan(&n)
	return n, myError("count the rows that wait", err)
}

// Next implements Tx.
func (t *myTx) Next(ctx context.Context, after int64) ([]Row, error) {
	out, refs, err := t.next(ctx, after)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	at := make(map[[2]string]int, len(out))
	for i := range refs {
		at[refs[i]] = i
	}
	payload, _ := t.row.col(RolePayload)
	few, err := t.few(ctx, payload, refs, at)
	if err != nil {
		return nil, err
	}
	out, refs = out[:few], refs[:few]
	t.refs = make(map[int64]any, few)
	for i := range out {
		t.refs[out[i].N] = t.argument(refs[i])
	}
	ref, ref2 := t.row.refs()
	where, args := t.among(refs)
	err = t.each(ctx, `SELECT `+ref+`, `+ref2+`, `+t.row.read()+` FROM `+t.row.from()+` o WHERE `+where+` AND `+t.row.due(mySyntax{}), args, func(rows *sql.Rows) error {
		row, refs, err := scanRow(t.row.Plan, rows)
		if i, ours := at[refs]; err == nil && ours && i < few {
			row.N = out[i].N
			out[i] = row
		}
		return err
	})
	return out, myError("read the rows", err)
}

// next are the next rows in the list.
func (t *myTx) next(ctx context.Context, after int64) (out []Row, refs [][2]string, err error) {
	err = t.each(ctx, `SELECT n, ref, ref2 FROM postbag__adopted WHERE adoption = ? AND state = 0 AND n > ? ORDER BY n LIMIT `+strconv.Itoa(batchRows),
		[]any{t.adoption.ID, after}, func(rows *sql.Rows) error {
			var n int64
			var ref [2]string
			err := rows.Scan(&n, &ref[0], &ref[1])
			out, refs = append(out, Row{N: n, Ref: shownRef(t.row.Plan, ref), Gone: true}), append(refs, ref)
			return err
		})
	return out, refs, myError("look for the next rows", err)
}

// few is how many of the next rows are small enough for one transaction.
func (t *myTx) few(ctx context.Context, payload string, refs [][2]string, at map[[2]string]int) (int, error) {
	sizes := make([]int64, len(refs))
	ref, ref2 := t.row.refs()
	where, args := t.among(refs)
	err := t.each(ctx, `SELECT `+ref+`, `+ref2+`, COALESCE(LENGTH(`+payload+`), 0) FROM `+t.row.from()+` o WHERE `+where, args, func(rows *sql.Rows) error {
		var got [2]string
		var size int64
		err := rows.Scan(&got[0], &got[1], &size)
		if i, ours := at[got]; ours {
			sizes[i] = size
		}
		return err
	})
	var all int64
	for i, size := range sizes {
		if all += size; i > 0 && all > batchBytes {
			return i, myError("measure the next rows", err)
		}
	}
	return len(refs), myError("measure the next rows", err)
}

// argument is a reference as a value of its column's kind, so that an index serves.
func (t *myTx) argument(ref [2]string) any {
	switch t.row.Table.Column(t.row.ref[0]).Kind {
	case Bytes:
		return []byte(ref[0])
	case Integer:
		if n, err := strconv.ParseInt(ref[0], 10, 64); err == nil {
			return n
		}
	default:
	}
	return ref[0]
}

// among is the condition on rows with one of some references. All originals here tell
// rows apart by one column.
func (t *myTx) among(refs [][2]string) (string, []any) {
	args := make([]any, len(refs))
	for i := range refs {
		args[i] = t.argument(refs[i])
	}
	return mySyntax{}.column("o", t.row.ref[0]) + ` IN (` + marks(len(refs)) + `)`, args
}

func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

func (t *myTx) each(ctx context.Context, query string, args []any, fn func(*sql.Rows) error) error {
	return each(ctx, t.conn, query, args, fn)
}

// each calls fn with each row of a query.
func each(ctx context.Context, conn *sql.Conn, query string, args []any, fn func(*sql.Rows) error) error {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its error is that of Err
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Append implements Tx.
func (t *myTx) Append(ctx context.Context, msgs []postbag.Message) error {
	return t.publisher.Publish(ctx, connTx{t.conn}, msgs...)
}

// Note implements Tx.
func (t *myTx) Note(ctx context.Context, state State, ns []int64) error {
	args := make([]any, len(ns))
	numbers := make([]string, len(ns))
	for i, n := range ns {
		args[i], numbers[i] = t.refs[n], strconv.FormatInt(n, 10)
	}
	run := func(doing, query string, args ...any) error {
		_, err := t.exec(ctx, query, args...)
		return myError(doing, err)
	}
	if state == Imported && t.row.Originals != Leave {
		query := `DELETE o FROM ` + t.row.from() + ` o WHERE `
		if t.row.Originals == Mark {
			query = `UPDATE ` + t.row.from() + ` o SET ` + t.row.settings() + ` WHERE `
		}
		query += mySyntax{}.column("o", t.row.ref[0]) + ` IN (` + marks(len(args)) + `)`
		if err := run(string(t.row.Originals)+" the original's rows", query, args...); err != nil {
			return err
		}
	}
	noted := fmt.Sprintf(` WHERE adoption = %d AND n IN (%s)`, t.adoption.ID, strings.Join(numbers, ", "))
	if state == Gone {
		return run("forget rows that are gone", `DELETE FROM postbag__adopted`+noted)
	}
	return run("note what was imported", `UPDATE postbag__adopted SET state = `+strconv.Itoa(int(state))+noted)
}

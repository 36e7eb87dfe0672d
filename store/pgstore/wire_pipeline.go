package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// call is one statement of a round trip with the server.
type call struct {
	st   *statement
	args *parameters
	// each gets every row of the result. Nil: there is none, or nobody cares.
	each func(row) error
	// reset, if not nil, is called before the call is sent, perhaps again.
	reset func()
}

// group is what is one transaction by itself: it has no BEGIN and no COMMIT, but
// the server ends it where the group ends, however its sender fares. Nothing
// stays open while a process sleeps.
type group []call

// inBinary asks for every column of a result in its binary format.
var inBinary = []int16{1}

// pipeline sends groups in one round trip. errs[i] is the server's refusal of
// groups[i], which was rolled back as a whole; the other groups stand by
// themselves. err says that the connection failed, so that any group may stand
// or not.
//
// A pooler that cannot keep prepared statements shows itself by an error that
// nothing else causes; the store does without them from then on and repeats the
// round trip, which every caller allows.
func (s *Store) pipeline(ctx context.Context, groups ...group) (errs []error, err error) {
	for range 3 {
		errs, err = s.pipelineOnce(ctx, groups)
		again := false
		for _, e := range append(errs, err) {
			again = s.withoutPrepared(e) || s.stalePlan(e) || again
		}
		if !again {
			break
		}
	}
	return errs, err
}

// run is pipeline for one group.
func (s *Store) run(ctx context.Context, calls ...call) error {
	errs, err := s.pipeline(ctx, calls)
	if err != nil {
		return err
	}
	return errs[0]
}

func (s *Store) pipelineOnce(ctx context.Context, groups []group) ([]error, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	if encoding := conn.Conn().PgConn().ParameterStatus("client_encoding"); encoding != "" && encoding != "UTF8" {
		return nil, encodingFault("talk to the server")
	}
	groups = s.whole(groups)
	e := pipelineRun{conn: conn, prepared: !s.unprepared.Load()}
	if err := e.prepare(ctx, groups); err != nil {
		return nil, err
	}
	p := conn.Conn().PgConn().StartPipeline(ctx)
	e.pipeline = p
	e.send(groups)
	if err := p.Flush(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	errs := make([]error, len(groups))
	for i, g := range groups {
		if errs[i], err = e.receive(g); err != nil {
			_ = p.Close()
			return nil, err
		}
	}
	return errs, p.Close()
}

// whole has every group begin with what keeps rows from being hidden from it, and others' functions from being called.
func (s *Store) whole(groups []group) []group {
	out := make([]group, len(groups))
	for i, g := range groups {
		if !g[0].st.whole {
			g = append(group{{st: s.statements.get("unfiltered", "")}}, g...)
		}
		out[i] = g
	}
	return out
}

// pipelineRun is one round trip under way.
type pipelineRun struct {
	conn     *pgxpool.Conn
	pipeline *pgconn.Pipeline
	prepared bool
}

// prepare sees to it that the connection knows all statements. New ones are prepared in a transaction with the search_path that
// they run with: the server looks then which functions they call.
func (e *pipelineRun) prepare(ctx context.Context, groups []group) error {
	if !e.prepared {
		return nil
	}
	own := e.conn.Conn().PgConn().CustomData()
	known, _ := own[preparedKey].(map[string]bool) // nil at first
	if known == nil {
		known = map[string]bool{}
		own[preparedKey] = known
	}
	var missing []*statement
	for _, g := range groups {
		for _, c := range g {
			if !known[c.st.name] {
				missing = append(missing, c.st)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	tx, err := e.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // prepared statements outlive their transaction
	if _, err := tx.Exec(ctx, "SELECT "+unled, pgx.QueryExecModeExec); err != nil {
		return err
	}
	for _, st := range missing {
		if _, err := tx.Conn().Prepare(ctx, st.name, st.sql); err != nil {
			return err
		}
		known[st.name] = true
	}
	return nil
}

// preparedKey is where a connection keeps the names of the statements that were prepared on it.
const preparedKey = "postbag.prepared"

func (e *pipelineRun) send(groups []group) {
	for _, g := range groups {
		for _, c := range g {
			var values [][]byte
			if c.args != nil {
				values = c.args.values
			}
			if c.reset != nil {
				c.reset()
			}
			if e.prepared {
				e.pipeline.SendQueryPrepared(c.st.name, values, inBinary, inBinary)
			} else {
				e.pipeline.SendQueryParams(c.st.sql, values, nil, inBinary, inBinary)
			}
		}
		e.pipeline.SendPipelineSync()
	}
}

// receive reads the answers to one group. The first error is the server's, or
// that of a row that could not be read; the second is the connection's.
func (e *pipelineRun) receive(g group) (refused, failed error) {
	for next := 0; ; {
		result, err := e.pipeline.GetResults()
		switch r := result.(type) {
		case *pgconn.PipelineSync:
			return refused, nil
		case *pgconn.ResultReader:
			err = readRows(r, g[next].each)
			next++
		case nil:
			if err == nil {
				return nil, errors.Join(refused, errCutShort)
			}
		default:
			return nil, fmt.Errorf("pgstore: the server's answer is a %T; look whether a proxy changes the protocol", result)
		}
		if err != nil && !isServerError(err) && !errors.Is(err, errRow) {
			return nil, errors.Join(refused, err)
		}
		if refused == nil {
			refused = err
		}
	}
}

var (
	errCutShort = errors.New("the server ended the connection")
	errRow      = errors.New("a row cannot be read; look whether the schema was changed by hand")
)

func readRows(r *pgconn.ResultReader, each func(row) error) error {
	var bad error
	for r.NextRow() {
		if each != nil && bad == nil {
			bad = each(r.Values())
		}
	}
	if _, err := r.Close(); err != nil {
		return err
	}
	if bad != nil {
		return fmt.Errorf("%w: %w", errRow, bad)
	}
	return nil
}

func isServerError(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e)
}

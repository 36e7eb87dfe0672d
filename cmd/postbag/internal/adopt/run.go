package adopt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postbag/postbag"
)

// Watch hears how far an adoption is. Its functions may be nil.
type Watch struct {
	// Total is how many rows a pass will move, Moved how many more it did.
	Total, Moved func(rows int)
	// Note is something that people should know.
	Note func(text string)
}

// Result is what was done.
type Result struct {
	// Imported messages are in the box now.
	Imported int `json:"imported"`
	// Skipped rows were left out because you told it to.
	Skipped int `json:"skipped"`
	// Gone rows were delivered or removed by the original before their turn.
	Gone int `json:"gone"`
	// Faults are the rows that could not be converted.
	Faults []Fault `json:"faults"`
	// Waiting rows are noted and not imported.
	Waiting int `json:"waiting"`
	// Held is how long writers of the original were held off.
	Held time.Duration `json:"-"`
}

// Bounds of what is done while writers are held off, and of waiting for them.
const (
	maxHeld   = 5000
	maxPasses = 20
	maxTries  = 60
	tryPause  = 500 * time.Millisecond
)

// errTooMany says that more came than may be imported while writers wait.
var errTooMany = errors.New("too many rows came while others were imported")

type run struct {
	db    Database
	plan  *Plan
	watch Watch
	known *Adoption
	res   Result
}

// Do adopts a table. What was done until an error stands, and Do goes on from there
// when it is called again.
func Do(ctx context.Context, db Database, p *Plan, w Watch) (Result, error) {
	a, err := db.Known(ctx, p)
	if err != nil {
		return Result{}, err
	}
	if a != nil && a.Box != p.Box {
		return Result{}, input(fmt.Errorf("adopt: %s is adopted into box %s already; give --box %s", p.Table, a.Box, a.Box))
	}
	if a != nil && a.Mode != Import {
		if a.Mode == p.Mode {
			return Result{}, nil // it is done
		}
		return Result{}, input(fmt.Errorf("adopt: a %s feeds the box from %s already, so that there is nothing to import; take it away with --undo first", a.Mode, p.Table))
	}
	if err := db.Check(ctx, p); err != nil {
		return Result{}, err
	}
	if a, err = db.Enrol(ctx, p); err != nil {
		return Result{}, err
	}
	r := &run{db: db, plan: p, watch: w, known: a}
	if p.Mode == Import {
		err = r.pass(ctx)
	} else {
		err = r.feed(ctx)
	}
	return r.res, err
}

// pass lists what is undelivered, and imports it some rows a transaction.
func (r *run) pass(ctx context.Context) error {
	err := r.db.InTx(ctx, r.plan, r.known, func(tx Tx) error {
		if _, err := tx.List(ctx, false); err != nil {
			return err
		}
		total, err := tx.Waiting(ctx)
		if err == nil && r.watch.Total != nil {
			r.watch.Total(total)
		}
		return err
	})
	if err != nil {
		return err
	}
	m := mover{plan: r.plan}
	for more := true; more; {
		before := m
		err := r.db.InTx(ctx, r.plan, r.known, func(tx Tx) error {
			m = before.clone() // a transaction may be tried again
			var err error
			more, err = m.batch(ctx, tx)
			return err
		})
		if err != nil {
			r.take(&before)
			return err
		}
		if r.watch.Moved != nil {
			r.watch.Moved(m.moved() - before.moved())
		}
	}
	r.take(&m)
	return r.waiting(ctx)
}

func (r *run) waiting(ctx context.Context) error {
	return r.db.InTx(ctx, r.plan, r.known, func(tx Tx) (err error) {
		r.res.Waiting, err = tx.Waiting(ctx)
		return err
	})
}

// take adds what a pass did.
func (r *run) take(m *mover) {
	r.res.Imported += m.imported
	r.res.Skipped += m.skipped
	r.res.Gone += m.gone
	r.res.Faults = m.faults
}

// feed imports what is there, and then makes the trigger or the view while writers
// are held off, with what came meanwhile imported in the same transaction.
func (r *run) feed(ctx context.Context) error {
	for try := 0; ; try++ {
		if err := r.pass(ctx); err != nil {
			return err
		}
		if len(r.res.Faults) > 0 || r.res.Waiting > 0 {
			return nil // the caller says what keeps it from being fed
		}
		var m mover
		err := r.hold(ctx, func(begun *time.Time) error {
			return r.db.Feed(ctx, r.plan, r.known, func(tx Tx) error {
				*begun = time.Now()
				m = mover{plan: r.plan}
				return m.rest(ctx, tx)
			})
		})
		switch {
		case errors.Is(err, errTooMany) && try < maxPasses:
			continue
		case errors.Is(err, errTooMany):
			return fmt.Errorf("adopt: rows are written to %s faster than they can be imported; try again when there is less to do", r.plan.Table)
		case errors.Is(err, errFaulty):
			r.res.Faults = m.faults
			return nil
		case err == nil:
			r.take(&m)
		}
		return err
	}
}

// hold repeats what needs the table for itself until it is had.
func (r *run) hold(ctx context.Context, fn func(begun *time.Time) error) error {
	for try := 0; ; try++ {
		var begun time.Time
		err := fn(&begun)
		if !begun.IsZero() {
			r.res.Held = time.Since(begun)
		}
		if !errors.Is(err, errBusy) {
			return err
		}
		if try == maxTries {
			return fmt.Errorf("adopt: %s: %w; end them, or try again when there is less to do", r.plan.Table, errBusy)
		}
		if try == 0 && r.watch.Note != nil {
			r.watch.Note("waiting for transactions that write to " + r.plan.Table.String())
		}
		select {
		case <-time.After(tryPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Undo takes a trigger or a view away. What it brought is noted, so that a later
// import does not bring it again.
func Undo(ctx context.Context, db Database, p *Plan, w Watch) (Result, error) {
	a, err := db.Known(ctx, p)
	if err != nil {
		return Result{}, err
	}
	if a == nil || a.Mode == Import {
		return Result{}, input(fmt.Errorf("adopt: neither a trigger nor a view feeds a box from %s; there is nothing to undo", p.Table))
	}
	r := &run{db: db, plan: p, watch: w, known: a}
	if a.Mode == Trigger {
		// Most of it before writers are held off: what the trigger has seen stays seen.
		err := r.db.InTx(ctx, p, a, func(tx Tx) error {
			_, err := tx.List(ctx, true)
			return err
		})
		if err != nil {
			return Result{}, err
		}
	}
	err = r.hold(ctx, func(begun *time.Time) error {
		return db.Unfeed(ctx, p, a, func(tx Tx) error {
			*begun = time.Now()
			if a.Mode != Trigger {
				return nil
			}
			_, err := tx.List(ctx, true)
			return err
		})
	})
	return r.res, err
}

// Preview is what an adoption would do.
type Preview struct {
	Counts

	// Convertible rows would be imported.
	Convertible int `json:"convertible"`
	// Faults are the rows that could not be, with those that would wait behind them.
	Faults []Fault `json:"faults"`
	// Mode is what there is in the database; empty: the table is not adopted.
	Mode Mode `json:"now,omitempty"`
}

// Look says what Do would do, and writes nothing.
func Look(ctx context.Context, db Database, p *Plan) (Preview, error) {
	var v Preview
	a, err := db.Known(ctx, p)
	if err != nil {
		return v, err
	}
	if a != nil {
		v.Mode = a.Mode
	}
	if err := db.Check(ctx, p); err != nil {
		return v, err
	}
	if v.Counts, err = db.Count(ctx, p, a); err != nil || v.Mode == Trigger || v.Mode == View {
		return v, err
	}
	m := mover{plan: p}
	err = db.Scan(ctx, p, a, func(row *Row) error {
		if _, ok := m.convert(row); ok {
			v.Convertible++
		}
		return nil
	})
	v.Faults = m.faults
	return v, err
}

// mover moves rows, and holds back those behind a row that could not be converted.
type mover struct {
	plan  *Plan
	after int64

	imported, skipped, gone int
	faults                  []Fault
	// stuck has the fault that each key waits behind; all is the one behind which
	// everything waits.
	stuck map[string]int
	all   int
}

func (m *mover) clone() mover {
	c := *m
	c.faults = slices.Clone(m.faults)
	c.stuck = maps.Clone(m.stuck)
	return c
}

func (m *mover) moved() int { return m.imported + m.skipped + m.gone }

// convert makes a message of a row, and says whether it may be imported.
func (m *mover) convert(r *Row) (postbag.Message, bool) {
	msg, err := m.plan.message(r)
	if m.all > 0 {
		m.faults[m.all-1].Behind++
		return msg, false
	}
	behind, waits := m.stuck[msg.Key]
	switch {
	case errors.Is(err, errKeyUnknown):
		m.faults = append(m.faults, Fault{Row: r.Ref, Reason: oneLine(err)})
		m.all = len(m.faults)
		return msg, false
	case waits && msg.Key != "":
		m.faults[behind].Behind++
		return msg, false
	case err != nil:
		m.faults = append(m.faults, Fault{Row: r.Ref, Reason: oneLine(err)})
		if m.stuck == nil {
			m.stuck = make(map[string]int)
		}
		m.stuck[msg.Key] = len(m.faults) - 1
		return msg, false
	}
	return msg, true
}

// batch moves some rows, and says whether there may be more.
func (m *mover) batch(ctx context.Context, tx Tx) (bool, error) {
	rows, err := tx.Next(ctx, m.after)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	var msgs []postbag.Message
	done := make(map[State][]int64)
	ids := make(map[postbag.ID]bool, len(rows))
	for i := range rows {
		r := &rows[i]
		state := Listed
		switch {
		case slices.Contains(m.plan.Skip, r.Ref):
			state = Skipped
			m.skipped++
		case r.Gone:
			state = Gone
			m.gone++
		default:
			if msg, ok := m.convert(r); ok {
				if ids[msg.ID] {
					return true, m.finish(ctx, tx, msgs, done) // one id twice does not go into one call
				}
				ids[msg.ID] = true
				msgs = append(msgs, msg)
				state = Imported
				m.imported++
			}
		}
		if state != Listed {
			done[state] = append(done[state], r.N)
		}
		m.after = r.N
	}
	return true, m.finish(ctx, tx, msgs, done)
}

func (m *mover) finish(ctx context.Context, tx Tx, msgs []postbag.Message, done map[State][]int64) error {
	if len(msgs) > 0 {
		if err := tx.Append(ctx, msgs); err != nil {
			return err
		}
	}
	for _, state := range []State{Imported, Skipped, Gone} {
		if len(done[state]) == 0 {
			continue
		}
		if err := tx.Note(ctx, state, done[state]); err != nil {
			return err
		}
	}
	return nil
}

// errFaulty says that a row could not be converted while writers were held off.
var errFaulty = errors.New("a row cannot be converted")

// rest lists and moves, in one transaction, what came since the last pass.
func (m *mover) rest(ctx context.Context, tx Tx) error {
	if _, err := tx.List(ctx, false); err != nil {
		return err
	}
	n, err := tx.Waiting(ctx)
	if err != nil {
		return err
	}
	if n > maxHeld {
		return errTooMany
	}
	for more := true; more && err == nil; {
		more, err = m.batch(ctx, tx)
	}
	if err == nil && len(m.faults) > 0 {
		err = errFaulty
	}
	return err
}

package adopt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postbag/postbag"
)

// Database does the work in the SQL of one kind of database, in which both the
// original and the box lie. Its errors say what to do about them, and hold nothing of
// a row.
type Database interface {
	// Describe returns a table by the name that an operator gives. ErrNoTable: there is
	// none.
	Describe(ctx context.Context, name string) (*Table, error)
	// Check refuses, without writing anything, a plan for which the box, a right or
	// another table is missing, or a condition is none.
	Check(ctx context.Context, p *Plan) error
	// Known returns what is known of the plan's table from before, and nil if nothing.
	Known(ctx context.Context, p *Plan) (*Adoption, error)
	// Count counts the plan's rows.
	Count(ctx context.Context, p *Plan, a *Adoption) (Counts, error)
	// Scan gives fn every row that is to be imported, in order, without writing
	// anything. The row is fn's until it returns.
	Scan(ctx context.Context, p *Plan, a *Adoption, fn func(*Row) error) error

	// Enrol makes an Adoption, and the tables in which it is noted what was imported,
	// unless they are there.
	Enrol(ctx context.Context, p *Plan) (*Adoption, error)
	// InTx runs fn in a transaction, one at a time for each adoption.
	InTx(ctx context.Context, p *Plan, a *Adoption, fn func(Tx) error) error
	// Feed makes the trigger or the view of the plan's mode. It runs fn while writers
	// of the original are held off, and the two take effect together, or not at all.
	// errBusy: the table could not be had for that yet.
	Feed(ctx context.Context, p *Plan, a *Adoption, fn func(Tx) error) error
	// Unfeed removes what Feed made, in the same way.
	Unfeed(ctx context.Context, p *Plan, a *Adoption, fn func(Tx) error) error
}

// Tx is a transaction on an adoption.
type Tx interface {
	// List notes rows that are to be imported and are not noted yet, in the original's
	// order, and says how many it noted. With fed it notes them as being in the box
	// already.
	List(ctx context.Context, fed bool) (int, error)
	// Waiting says how many rows are noted and not imported.
	Waiting(ctx context.Context) (int, error)
	// Next returns some of the noted rows behind a place, in order; none: there are no
	// more.
	Next(ctx context.Context, after int64) ([]Row, error)
	// Append appends messages to the box.
	Append(ctx context.Context, msgs []postbag.Message) error
	// Note writes down what became of rows.
	Note(ctx context.Context, state State, rows []int64) error
}

// State is what became of a noted row.
type State int

// The states.
const (
	Listed   State = 0 // it is to be imported
	Imported State = 1 // it is in the box; what Plan.Originals says is done to it
	Skipped  State = 2 // an operator skipped it
	Fed      State = 3 // a trigger brought it into the box
	Gone     State = 4 // the original delivered or removed it: it is forgotten
)

// Adoption is what is known of a table that is being adopted.
type Adoption struct {
	ID int64
	// Box is where it goes.
	Box string
	// Mode is what there is in the database: Import stands for neither a trigger nor a
	// view.
	Mode Mode
}

// Counts are numbers of rows.
type Counts struct {
	// Undelivered rows, as the plan sees it, that no adoption has imported.
	Undelivered int `json:"undelivered"`
	// Known rows were imported, skipped, or brought into the box by a trigger.
	Known int `json:"known"`
	// Other rows: delivered, given up, or not chosen.
	Other int `json:"other"`
}

// ErrNoTable says that there is no such table.
var ErrNoTable = errors.New("adopt: there is no such table")

// InputError says that what an operator wants cannot be; nothing was done.
type InputError struct{ err error }

// Error says what is wrong, and what to do.
func (e *InputError) Error() string { return e.err.Error() }

// Unwrap is the same without the type.
func (e *InputError) Unwrap() error { return e.err }

// input makes an InputError of an error, and nil of nil.
func input(err error) error {
	if err == nil {
		return nil
	}
	return &InputError{err}
}

// errRowsAlike says that nothing tells two rows apart.
func errRowsAlike(p *Plan) error {
	return input(fmt.Errorf("adopt: two rows of %s have the same %s, so that nothing tells them apart; delete one, or give it another",
		p.Table, strings.Join(p.ref, " and ")))
}

// errBusy says that transactions of others held the table.
var errBusy = errors.New("transactions that write to the table did not end in time")

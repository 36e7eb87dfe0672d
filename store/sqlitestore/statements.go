package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statement is what runs: a *sql.Stmt, or a text that is prepared each time.
type statement interface {
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
}

// queryer is a *sql.DB or a *sql.Conn.
type queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// unprepared is a text on a connection, or on any of a pool.
type unprepared struct {
	conn queryer
	text string
}

func (u unprepared) ExecContext(ctx context.Context, args ...any) (sql.Result, error) {
	return u.conn.ExecContext(ctx, u.text, args...)
}

func (u unprepared) QueryContext(ctx context.Context, args ...any) (*sql.Rows, error) {
	return u.conn.QueryContext(ctx, u.text, args...)
}

// statements keeps prepared statements by their text. There are few texts: those
// of sql.go, some of them once a box and once a shape of filter. SQLite prepares
// one again by itself when the schema has changed.
type statements struct {
	mu     sync.Mutex
	byText map[string]*sql.Stmt
	closed bool
}

// maxStatements bounds what is kept, whatever the number of boxes.
const maxStatements = 512

var errClosed = errors.New("the store is closed; open another one")

// get returns the statement of text with a comment behind it, bare if as many as may be are kept.
func (k *statements) get(ctx context.Context, db *sql.DB, text, comment string) (statement, error) {
	k.mu.Lock()
	st, kept := k.byText[text]
	closed, full := k.closed, len(k.byText) >= maxStatements
	k.mu.Unlock()
	switch {
	case closed:
		return nil, errClosed
	case kept:
		return st, nil
	case full:
		return unprepared{conn: db, text: text + comment}, nil
	}
	st, err := db.PrepareContext(ctx, text+comment)
	if err != nil {
		return nil, err
	}
	return k.keep(text, st)
}

// keep keeps st, unless another caller was faster.
func (k *statements) keep(text string, st *sql.Stmt) (statement, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, errors.Join(errClosed, st.Close())
	}
	if other, ok := k.byText[text]; ok {
		return other, st.Close()
	}
	if k.byText == nil {
		k.byText = make(map[string]*sql.Stmt)
	}
	k.byText[text] = st
	return st, nil
}

func (k *statements) close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	return k.forget()
}

// forget closes what is kept.
func (k *statements) forget() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for _, st := range k.byText {
		errs = append(errs, st.Close())
	}
	k.byText = nil
	return errors.Join(errs...)
}

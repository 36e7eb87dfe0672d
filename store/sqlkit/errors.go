package sqlkit

import (
	"database/sql"
	"errors"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// told is an error that says what failed and what to do about it.
type told struct{ error }

func (t *told) Unwrap() error { return t.error }

// Tell makes an error that says what failed, by translate. It returns an error that Tell
// has made before as it is, because that one already says what failed. Nil stays nil.
func Tell(doing string, err error, translate func(doing string, err error) error) error {
	if _, is := errors.AsType[*told](err); is || err == nil {
		return err
	}
	return &told{translate(doing, err)}
}

// EndedTx returns postbag.ErrTxEnded, which wraps err, if err says that a transaction of
// database/sql has ended; nil for another error.
func EndedTx(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return &endedTxError{err}
	}
	return nil
}

type endedTxError struct{ driver error }

func (*endedTxError) Error() string     { return postbag.ErrTxEnded.Error() }
func (e *endedTxError) Unwrap() []error { return []error{postbag.ErrTxEnded, e.driver} }

// NoNumber returns store.ErrNoNumber, which wraps the error of a driver.
func NoNumber(driver error) error { return &noNumberError{driver} }

type noNumberError struct{ driver error }

func (*noNumberError) Error() string {
	return strings.TrimPrefix(store.ErrNoNumber.Error(), "store: ")
}
func (e *noNumberError) Unwrap() []error { return []error{store.ErrNoNumber, e.driver} }

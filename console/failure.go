package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Failure is why a request was not answered, in JSON.
type Failure struct {
	// What failed, and what to do.
	Error string `json:"error"`
	// What kind of failure it is, for programs; none: no other word than the status. invalid: what was asked for is wrong by itself.
	// unsupported: this kind of store cannot do it. cursor, payloads, database, box, subscription, not-found: what is wrong, not shown, or
	// not there.
	Kind string `json:"kind,omitempty"`
}

// Kinds of failures.
const (
	FailureInvalid      = "invalid"
	FailureUnsupported  = "unsupported"
	FailureCursor       = "cursor"
	FailurePayloads     = "payloads"
	FailureDatabase     = "database"
	FailureBox          = "box"
	FailureSubscription = "subscription"
	FailureNotFound     = "not-found"
)

// payloadsError says why payload and headers are not shown.
type payloadsError struct{ error }

func (e *payloadsError) Unwrap() error { return e.error }

// failureKind is the word for a failure; empty: there is none.
func failureKind(err error) string {
	var bad *badRequestError
	var hidden *payloadsError
	switch {
	case errors.As(err, &hidden):
		return FailurePayloads
	case errors.Is(err, errNoDatabase):
		return FailureDatabase
	case errors.Is(err, errNoBox), errors.Is(err, store.ErrNoBox):
		return FailureBox
	case errors.Is(err, store.ErrNoSubscription):
		return FailureSubscription
	case errors.Is(err, store.ErrCursor):
		return FailureCursor
	case errors.Is(err, operations.ErrUnsupported):
		return FailureUnsupported
	case errors.As(err, &bad), errors.Is(err, operations.ErrInvalid):
		return FailureInvalid
	case errors.Is(err, operations.ErrNotFound):
		return FailureNotFound
	}
	return ""
}

// badRequestError is what is wrong with a request.
type badRequestError struct{ text string }

func (e *badRequestError) Error() string { return e.text }

func badRequestf(format string, args ...any) error {
	return &badRequestError{fmt.Sprintf(format, args...)}
}

// lateError is that of a search that took too long.
type lateError struct{ text string }

func (e *lateError) Error() string { return e.text }

// Unwrap says that it is context.DeadlineExceeded.
func (*lateError) Unwrap() error { return context.DeadlineExceeded }

// late says what to do about a search for an id that does not say when it was drawn, since no store has an index of ids.
func late(id postbag.ID, err error) error {
	if id.IsZero() || id[6]>>4 == 7 || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &lateError{"the database did not find the id in time, since an id that is no UUID of version 7 does not say where it is; search by topic, key or time"}
}

// statusOf is the HTTP status of an error, and its text.
func statusOf(err error) (code int, text string) {
	var bad *badRequestError
	var slow *lateError
	var denied *forbiddenError
	switch {
	case errors.As(err, &denied):
		return http.StatusForbidden, err.Error()
	case errors.As(err, &bad), errors.Is(err, operations.ErrInvalid):
		return http.StatusBadRequest, err.Error()
	case errors.Is(err, store.ErrCursor):
		return http.StatusBadRequest, "the cursor is malformed; use the one of the answer before, with the same filters"
	case errors.Is(err, operations.ErrNotFound):
		return http.StatusNotFound, err.Error()
	case errors.Is(err, store.ErrNoBox):
		return http.StatusNotFound, "there is no such box; the overview has those there are"
	case errors.Is(err, store.ErrNoSubscription):
		return http.StatusNotFound, "the box has no such subscription; the overview has those there are"
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable, err.Error()
	case errors.As(err, &slow):
		return http.StatusGatewayTimeout, slow.text
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout, "the database did not answer in time; ask for less, or try again"
	}
	return http.StatusBadGateway, err.Error()
}

// explained is the HTTP status of an error, and its text as the one who asks may read it.
func (c *console) explained(w http.ResponseWriter, r *http.Request, err error) (code int, text string) {
	code, text = statusOf(err)
	if code == http.StatusBadGateway {
		text = c.rights(r).reason(r.PathValue("database"), text)
	}
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	return code, c.words(text)
}

// fail answers with an error.
func (c *console) fail(w http.ResponseWriter, r *http.Request, err error) {
	code, text := c.explained(w, r, err)
	writeJSON(w, code, Failure{text, failureKind(err)})
}

package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Failure is why a request was not answered, in JSON.
type Failure struct {
	// What failed, and what to do.
	Error string `json:"error"`
}

// badRequestError is what is wrong with a request.
type badRequestError struct{ text string }

func (e *badRequestError) Error() string { return e.text }

func badRequestf(format string, args ...any) error {
	return &badRequestError{fmt.Sprintf(format, args...)}
}

// statusOf is the HTTP status of an error, and its text.
func statusOf(err error) (code int, text string) {
	var bad *badRequestError
	switch {
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
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout, "the database did not answer in time; ask for less, or try again"
	}
	return http.StatusBadGateway, err.Error()
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	code, text := statusOf(err)
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	writeJSON(w, code, Failure{text})
}

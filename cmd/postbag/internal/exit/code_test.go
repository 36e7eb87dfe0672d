package exit_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func TestEachKindOfErrorHasItsExitCode(t *testing.T) {
	t.Parallel()
	for want, errs := range map[exit.Code][]error{
		exit.OK:          {nil},
		exit.Failed:      {errors.New("no"), &broker.Error{Outcome: broker.Rejected}},
		exit.Usage:       {exit.Usagef("no"), &postbag.MessageError{}, operations.ErrInvalid, operations.ErrUnsupported, store.ErrFilterDiffers, store.ErrCursor, exit.With(exit.Usage, store.ErrNoBox)},
		exit.NotFound:    {store.ErrNoBox, store.ErrNoSubscription, postbag.ErrNoBox, operations.ErrNotFound},
		exit.Unavailable: {context.DeadlineExceeded, &net.OpError{Op: "dial", Err: errors.New("refused")}, &broker.Error{Outcome: broker.Unavailable}},
		exit.Schema:      {store.ErrSchema},
		exit.Interrupted: {context.Canceled},
	} {
		for _, err := range errs {
			if got := exit.Of(err); got != want {
				t.Errorf("%v ends with %d, want %d", err, got, want)
			}
			if err == nil {
				continue
			}
			if got := exit.Of(errors.Join(nil, fmt.Errorf("doing: %w", err))); got != want {
				t.Errorf("%v, wrapped, ends with %d, want %d", err, got, want)
			}
		}
	}
	if exit.With(exit.Usage, nil) != nil {
		t.Error("no error has a code")
	}
}

func TestEveryCodeHasAMeaningOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, c := range exit.Codes() {
		if seen[c.Meaning()] {
			t.Errorf("code %d means the same as another: %s", c, c.Meaning())
		}
		seen[c.Meaning()] = true
	}
}

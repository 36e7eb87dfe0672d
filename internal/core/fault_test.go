package core_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

func TestAnErrorOfTheStoreIsTheFaultThatItWraps(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]core.Fault{
		nil:                      core.Fine,
		store.ErrMoved:           core.Moved,
		store.ErrRestarted:       core.Moved,
		store.ErrLeaseLost:       core.LeaseLost,
		store.ErrNoSubscription:  core.LeaseLost,
		context.DeadlineExceeded: core.TimedOut,
		context.Canceled:         core.Failed,
		store.ErrSchema:          core.Failed,
	} {
		given := err
		if err != nil {
			given = fmt.Errorf("a call: %w", err)
		}
		if got := core.FaultOf(given); got != want {
			t.Errorf("%v is fault %d, not %d", given, got, want)
		}
	}
	if got := core.FaultOf(errors.Join(context.DeadlineExceeded, store.ErrMoved)); got != core.Moved {
		t.Errorf("a database that moved, and a timeout, are fault %d", got)
	}
}

package storekit

import (
	"errors"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Said says whether err already is an error of package store, or one of own. Such an
// error says what to do, so the caller only puts before it what was being done.
func Said(err error, own ...error) bool {
	is := func(known error) bool { return errors.Is(err, known) }
	return slices.ContainsFunc(own, is) || slices.ContainsFunc([]error{
		store.ErrNoBox, store.ErrNoSubscription, store.ErrFilterDiffers, store.ErrWorked, store.ErrRestarted, store.ErrMoved, store.ErrStandby,
		store.ErrSchema, store.ErrLeaseLost, store.ErrPosition, postbag.ErrCommitUnknown, postbag.ErrNoTx, postbag.ErrTxEnded,
		store.ErrPause, store.ErrPauseOver, store.ErrTooManyPauses, store.ErrTooManyOperations, store.ErrErrorNote, store.ErrTooManyErrorNotes,
		store.ErrNoOperation, store.ErrOperationHeld, store.ErrOperationLost, store.ErrOperationState, store.ErrOperationVersion,
	}, is)
}

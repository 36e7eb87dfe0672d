package storekit

import (
	"errors"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Said says whether err already is one of the errors of the seam, or one of a
// store's own: then it says the rest itself, and only what was being done is
// missing before it.
func Said(err error, own ...error) bool {
	is := func(known error) bool { return errors.Is(err, known) }
	return slices.ContainsFunc(own, is) || slices.ContainsFunc([]error{
		store.ErrNoBox, store.ErrNoSubscription, store.ErrFilterDiffers, store.ErrRestarted, store.ErrMoved, store.ErrStandby,
		store.ErrSchema, store.ErrLeaseLost, store.ErrPosition, postbag.ErrCommitUnknown, postbag.ErrNoTx,
	}, is)
}

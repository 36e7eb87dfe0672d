package storekit

import (
	"cmp"

	"github.com/postbag/postbag/store"
)

// CompareRefs puts subscriptions into the sequence of their boxes and names.
func CompareRefs(a, b store.Ref) int {
	return cmp.Or(cmp.Compare(a.Box, b.Box), cmp.Compare(a.Subscription, b.Subscription))
}

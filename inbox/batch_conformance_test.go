package inbox_test

import (
	"testing"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/effectstest"
	"github.com/postbag/postbag/store/memstore"
)

type batchOptions = inbox.BatchDestinationOptions[*memstore.Tx]

// batchShelf is a shelf whose handler gets pages.
type batchShelf struct {
	*shelf

	to *inbox.BatchDestination[*memstore.Tx]
}

func newBatchShelf(tb testing.TB, change ...func(*batchShelf, *batchOptions)) *batchShelf {
	tb.Helper()
	w := &batchShelf{shelf: newShelf(tb)}
	o := batchOptions{Store: w.store, Consumer: "billing", Handle: w.keep}
	for _, c := range change {
		c(w, &o)
	}
	var err error
	if w.to, err = inbox.NewBatchDestination(o); err != nil {
		tb.Fatal(err)
	}
	return w
}

func TestAHandlerOfPagesConformsAsADestination(t *testing.T) {
	t.Parallel()
	open := func(*testing.T) effectstest.Store[*memstore.Tx] { return memstore.New(memstore.Options{}) }
	t.Run("message by message", func(t *testing.T) { effectstest.Run(t, "in memory", open) })
	t.Run("page by page", func(t *testing.T) { effectstest.RunWhole(t, "in memory", open) })
}

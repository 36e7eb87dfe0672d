package sqlitestore

import (
	"fmt"
	"sync/atomic"

	"github.com/postbag/postbag/store"
)

// identity is the database that the last Check accepted. A connection that was
// opened later may find another file under the same path.
type identity struct{ id atomic.Pointer[string] }

func (i *identity) accept(id string) { i.id.Store(&id) }

// same returns ErrMoved if id is not the accepted one. Before the first Check
// every database is taken.
func (i *identity) same(id string) error {
	if accepted := i.id.Load(); accepted != nil && *accepted != id {
		return fmt.Errorf("found database %s where %s was: %w", id, *accepted, store.ErrMoved)
	}
	return nil
}

package operations

import (
	"context"
	"slices"

	"github.com/postbag/postbag/store"
)

// still says which messages are still in the one state that a choice is for. Others may have given them commands since
// the preview, which can be long ago: a pause has no end.
type still struct {
	store   Store
	preview *Preview
	cursor  string // of the page that the last look ended in
}

// of returns those of seqs that are still in that state, and that no other command waits for. Each call has later seqs than the
// last one, unless the choice has ids.
func (s *still) of(ctx context.Context, seqs []int64) ([]int64, error) {
	look := s.byQuery
	if len(s.preview.IDs) > 0 {
		look = s.byID
	}
	found := make(map[int64]bool, len(seqs))
	err := look(ctx, seqs, func(item *store.Item) {
		found[item.Seq] = item.State == s.preview.Only && (item.Queued == 0 || item.Queued == s.preview.Kind)
	})
	return slices.DeleteFunc(slices.Clone(seqs), func(seq int64) bool { return !found[seq] }), err
}

// byQuery reads the pages in which the seqs are.
func (s *still) byQuery(ctx context.Context, seqs []int64, see func(*store.Item)) error {
	q := s.preview.Query
	q.Ref, q.State, q.Oldest, q.Limit = s.preview.Ref, s.preview.Only, true, len(seqs)
	for {
		q.Cursor = s.cursor
		items, next, err := s.store.List(ctx, q)
		if err != nil {
			return err
		}
		for i := range items {
			see(&items[i])
		}
		if next == "" || len(items) > 0 && items[len(items)-1].Seq >= seqs[len(seqs)-1] {
			return nil // the next look begins with this page, which is older by then
		}
		s.cursor = next
	}
}

// byID reads the messages one by one.
func (s *still) byID(ctx context.Context, seqs []int64, see func(*store.Item)) error {
	for _, seq := range seqs {
		items, err := s.store.Show(ctx, s.preview.Box, s.preview.idOf[seq])
		if err != nil {
			return err
		}
		for i := range items {
			if items[i].Subscription == s.preview.Subscription {
				see(&items[i])
			}
		}
	}
	return nil
}

package operations

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// Skip says which messages of a subscription are given up: those that were stored before a time
// and are neither delivered nor dead.
type Skip struct {
	store.Ref
	Before time.Time
	// Types are exact, or a prefix and ".*". Empty: all.
	Types []string
	// Filter is the choice in the words of the one who gave it, for the audit log.
	Filter string
}

// skipped are the states of messages that a Skip is for. What is in flight may be delivered just now.
var skipped = []store.State{store.StatePending, store.StateRetrying, store.StateBlocked, store.StateHeld}

// PreviewSkip looks up what would be skipped. It is a discard, which Run carries out as any other. If there is
// nothing, it is ErrNotFound.
func (s Store) PreviewSkip(ctx context.Context, k Skip) (*Preview, error) {
	all := &Preview{Choice: Choice{Ref: k.Ref, Kind: store.Discard, Query: store.Query{Before: k.Before, Types: k.Types}, Filter: k.Filter}}
	if s.Editor == nil {
		return nil, refusef(ErrUnsupported, "this kind of store takes commands for parked messages only; nothing was done")
	}
	for _, state := range skipped {
		p := &Preview{Choice: all.Choice}
		p.Query.State = state
		if err := s.byQuery(ctx, p); err != nil {
			return nil, err
		}
		all.seqs, all.First = append(all.seqs, p.seqs...), append(all.First, p.First...)
	}
	if len(all.seqs) == 0 {
		return nil, refusef(ErrNotFound, "no message of %s waits that was stored before %s; nothing was done", k.Ref, k.Before.UTC().Format(time.RFC3339))
	}
	all.Query.State = store.StatePending // as many at a time as pending ones may be
	slices.Sort(all.seqs)
	all.seqs = slices.Compact(all.seqs)
	slices.SortFunc(all.First, func(a, b store.Item) int { return cmp.Compare(a.Seq, b.Seq) })
	all.First = slices.CompactFunc(all.First, func(a, b store.Item) bool { return a.Seq == b.Seq })
	all.First = all.First[:min(len(all.First), PreviewItems)]
	return all, nil
}

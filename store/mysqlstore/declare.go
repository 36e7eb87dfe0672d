package mysqlstore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// startOf returns the position at which a subscription begins.
func (s *Store) startOf(t *sqlkit.Tx, box string, from store.Start) (store.Position, error) {
	swept, err := sqlkit.Swept(t.Query, box)
	last := swept
	switch {
	case err != nil:
	case from.Now:
		last, err = lastSeq(t.Query, box)
	case !from.At.IsZero():
		last, err = t.Before(t.Query, box, from.At)
	case from.After > 0:
		last = max(swept, from.After)
	default:
		at := position{high: swept}
		return at.encode(), nil
	}
	if err != nil {
		return "", err
	}
	var v serverState
	if _, err := t.Row(s.serverStateText(), nil, v.dest()...); err != nil {
		return "", err
	}
	at, err := passedUpTo(t, &v, box, swept, last)
	if err == nil {
		at.mark, err = marked(t.Query, box, at.high)
	}
	return at.encode(), err
}

// seqsAtATime is how many seqs one statement looks for holes in.
const seqsAtATime = 20_000

// passedUpTo returns the position that has passed what there is up to a seq, and
// nothing that may still appear there. Other subscriptions' positions know of
// most of that; the rest of the log is looked through for holes.
func passedUpTo(t *sqlkit.Tx, v *serverState, box string, swept, last int64) (position, error) {
	p := position{high: swept}
	readers, err := t.Readers(t.Query, box)
	if err != nil {
		return p, err
	}
	for i := range readers {
		for _, h := range readers[i].Shards {
			if at, ok := h.At.(*position); ok && at.high > p.high {
				p = *at
			}
		}
	}
	if p.high >= last {
		return position{high: last, open: p.open.upTo(last)}, nil
	}
	b := builder{w: &reading{seen: *v}, high: p.high}
	for b.high < last {
		seqs, err := sqlkit.Numbers(t.Query, fmt.Sprintf(sqlSeqs, tableOf(box)), []any{b.high, last, seqsAtATime})
		if err != nil {
			return p, err
		}
		for _, seq := range seqs {
			b.holes = append(b.holes, b.missing(seq)...)
			b.high = seq
		}
		if len(seqs) < seqsAtATime {
			break
		}
	}
	p = position{high: b.high, open: p.open.plus(b.holes)}
	if len(p.encode()) > maxPosition {
		return p, fmt.Errorf("box %s has too many transactions under way, or rolled back just now, for a position in it; try again in a minute", box)
	}
	return p, nil
}

// lastSeq returns the highest seq of box that is committed, zero if none.
func lastSeq(query sqlkit.Querier, box string) (last int64, err error) {
	_, err = sqlkit.Row(query, fmt.Sprintf(sqlLastSeq, tableOf(box)), nil, &last)
	return last, err
}

// EndReplay removes a replay; see [store.Replayer].
func (s *Store) EndReplay(ctx context.Context, a store.Audit, r store.Ref, summary string) error {
	defer s.known.forget()
	return s.base.EndReplay(ctx, a, r, summary)
}

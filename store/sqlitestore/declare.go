package sqlitestore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// startOf returns the position at which a subscription begins.
func startOf(t *sqlkit.Tx, box string, from store.Start) (store.Position, error) {
	after, err := sqlkit.Swept(t.Query, box)
	switch {
	case err != nil:
	case from.Now:
		after, err = lastSeq(t.Query, box)
	case !from.At.IsZero():
		after, err = t.Before(t.Query, box, from.At)
	default:
		after = max(after, from.After)
	}
	if err != nil {
		return "", err
	}
	at, err := placeAt(t.Query, box, after)
	return at.encode(), err
}

// placeAt returns the place of a seq. Where its row was deleted it has no mark.
func placeAt(query sqlkit.Querier, box string, seq int64) (place, error) {
	at := place{seq: seq}
	var id bytesValue
	found, err := sqlkit.Row(query, fmt.Sprintf(sqlIDOf, quoted(box)), []any{seq}, &id)
	if found {
		whole, _ := sqlkit.IDOf(id)
		at.mark = markOf(whole[:])
	}
	return at, err
}

// lastSeq returns the last seq that box has given out, zero if none.
func lastSeq(query sqlkit.Querier, box string) (last int64, err error) {
	_, err = sqlkit.Row(query, sqlLastSeq, []any{tableOf(box)}, &last)
	return last, err
}

// tableOf returns the name of a box's table.
func tableOf(box string) string { return "postbag_" + box }

// quoted returns the same for use in a statement.
func quoted(box string) string { return `"` + tableOf(box) + `"` }

// EndReplay removes a replay; see [store.Replayer].
func (s *Store) EndReplay(ctx context.Context, a store.Audit, r store.Ref, summary string) error {
	return s.base.EndReplay(ctx, a, r, summary)
}

package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
)

// countRows is how many rows are counted exactly, of a log or of a backlog; what
// is longer is estimated from its seqs.
const countRows = 5000

// Overview returns all boxes with their subscriptions; see [store.Inspector].
func (s *Store) Overview(ctx context.Context) (store.Overview, error) {
	var o store.Overview
	err := s.snapshot(ctx, func(t *transaction) error {
		o = store.Overview{Now: time.UnixMicro(t.now).UTC()}
		relays, err := t.Relays()
		if err != nil {
			return err
		}
		o.Relays = relays
		var boxes []store.BoxView
		err = t.query(sqlBoxes, nil, func(rows *sql.Rows) error {
			var b store.BoxView
			err := rows.Scan(&b.Name, &b.Last, &b.Scheduled)
			boxes = append(boxes, b)
			return err
		})
		for i := range boxes {
			if err == nil {
				err = t.viewBox(&boxes[i])
			}
		}
		o.Boxes = boxes
		return err
	})
	return o, translateError("look at everything", err)
}

func (t *transaction) viewBox(b *store.BoxView) error {
	var first sql.NullInt64
	var count int64
	swept, err := t.swept(b.Name)
	if err != nil {
		return err
	}
	args := []any{swept, b.Last, countRows}
	if _, err := t.row(fmt.Sprintf(sqlSweepEnd, quoted(b.Name)), args, &first, &count); err != nil {
		return err
	}
	b.Rows = count
	if count == countRows {
		b.Rows += b.Last - first.Int64
	}
	readers, err := readersOf(t.query, b.Name)
	if err != nil {
		return err
	}
	for i := range readers {
		v, err := t.viewSubscription(&readers[i], b.Last)
		if err != nil {
			return err
		}
		b.Subscriptions = append(b.Subscriptions, v)
	}
	return nil
}

func (t *transaction) viewSubscription(r *reader, last int64) (store.SubscriptionView, error) {
	v := store.SubscriptionView{Parked: map[store.ParkState]int64{}}
	state, err := t.State(r.Ref)
	if err != nil {
		return v, err
	}
	v.SubscriptionState = state
	var types string
	if _, err := t.row(sqlCounts, []any{r.id}, &types, &v.Delivered, &v.Discarded, &v.Commands); err != nil {
		return v, err
	}
	if err := json.Unmarshal([]byte(types), &v.Types); err != nil {
		return v, err
	}
	err = t.query(sqlParkedCounts, []any{r.id}, func(rows *sql.Rows) error {
		var state store.ParkState
		var n int64
		err := rows.Scan(&state, &n)
		v.Parked[state] = n
		return err
	})
	if err != nil {
		return v, err
	}
	return v, t.viewBacklog(&v, r, last)
}

// viewBacklog counts what lies beyond a subscription's positions, exactly as
// long as it is not much.
func (t *transaction) viewBacklog(v *store.SubscriptionView, r *reader, last int64) error {
	n, at := 0, r.floor()
	err := placesIn(t.query, r.Box, at, last, countRows, func(row *placed) error {
		n, at = n+1, row.seq
		if row.seq <= r.passedBy(row.slot) {
			return nil
		}
		v.Backlog++
		v.Oldest = max(v.Oldest, time.Duration(t.now-row.at)*time.Microsecond)
		return nil
	})
	if n == countRows {
		v.Backlog += last - at
	}
	return err
}

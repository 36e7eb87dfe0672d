package sqlkit

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// countRows is how many rows are counted exactly, of a log or of a backlog; what
// is longer is estimated from its seqs.
const countRows = 5000

// Overview returns all boxes with their subscriptions; see [store.Inspector].
func (s *Base) Overview(ctx context.Context) (store.Overview, error) {
	var o store.Overview
	err := s.hooks.Snapshot(ctx, func(t *Tx) error {
		o = store.Overview{Now: time.UnixMicro(t.Now).UTC()}
		relays, err := t.relays()
		if err != nil {
			return err
		}
		o.Relays = relays
		var ended []store.Pause
		if o.Pauses, err = t.readPauses(func(p *store.Pause) { ended = append(ended, *p) }); err != nil {
			return err
		}
		var boxes []store.BoxView
		err = t.Query(sqlBoxes, nil, func(rows *sql.Rows) error {
			var b store.BoxView
			err := rows.Scan(&b.Name, &b.Scheduled)
			boxes = append(boxes, b)
			return err
		})
		for i := range boxes {
			if err == nil {
				err = t.viewBox(&boxes[i], relays)
				stillPaused(&boxes[i], ended)
			}
			if err != nil && errors.Is(s.dialect.Translate("look", err), store.ErrNoBox) {
				boxes[i], err = store.BoxView{Name: boxes[i].Name, Missing: true}, nil
			}
		}
		o.Boxes = boxes
		if err != nil {
			return err
		}
		notices, err := t.notices()
		for i := range boxes {
			boxes[i].Notices = notices[boxes[i].Name]
		}
		return err
	})
	return o, s.dialect.Translate("look at everything", err)
}

// notices returns what happened to boxes that people should know.
func (t *Tx) notices() (map[string][]store.Notice, error) {
	entries, err := auditLines(t.Query, SQLNotices, storekit.NoticesAmong, storekit.NoticeEntries)
	return storekit.Notices(entries, time.UnixMicro(t.Now)), err
}

func (t *Tx) viewBox(b *store.BoxView, relays []store.RelayState) error {
	var err error
	if b.Last, err = t.Last(t.Query, b.Name); err != nil {
		return err
	}
	swept, err := sweptTo(t.Query, b.Name)
	if err != nil {
		return err
	}
	var first int64
	if _, err := t.Row(t.In(b.Name, sqlCount), []any{swept, b.Last, countRows}, &first, &b.Rows); err != nil {
		return err
	}
	if b.Rows == countRows {
		b.Rows += b.Last - first
	}
	r, err := t.retention(b.Name, "")
	if err != nil {
		return err
	}
	held := r.View(t.Now)
	b.Retention = &held
	readers, err := t.Readers(t.Query, b.Name)
	if err != nil {
		return err
	}
	if b.Removed, err = t.removed(b.Name); err != nil {
		return err
	}
	for i := range readers {
		v, err := t.viewSubscription(&readers[i], b.Last)
		if err != nil {
			return err
		}
		freeDead(v.Shards, relays)
		b.Subscriptions = append(b.Subscriptions, v)
	}
	return nil
}

// removed returns the subscriptions of a box that operators removed.
func (t *Tx) removed(box string) ([]store.Removed, error) {
	var out []store.Removed
	err := t.Query(sqlRemoved, []any{box}, func(rows *sql.Rows) error {
		var r store.Removed
		var at int64
		err := rows.Scan(&r.Name, &at, &r.By)
		r.At = time.UnixMicro(at).UTC()
		out = append(out, r)
		return err
	})
	return out, err
}

func (t *Tx) viewSubscription(r *Reader, last int64) (store.SubscriptionView, error) {
	v := store.SubscriptionView{Parked: map[store.ParkState]int64{}}
	state, err := t.state(r.Ref)
	if err != nil {
		return v, err
	}
	v.SubscriptionState = state
	var made int64
	var replay sql.NullString
	if _, err := t.Row(sqlCounts, []any{r.ID}, &made, &replay, &v.Filtered, &v.Begun, &v.WantedBy, &v.Delivered, &v.Discarded, &v.Superseded, &v.Commands); err != nil {
		return v, err
	}
	if v.Replay, err = storekit.ParseReplay(replay.String, v.Ref, len(v.Shards)); err != nil {
		return v, err
	}
	v.Made = time.UnixMicro(made).UTC()
	if err := t.viewParked(&v, r.ID); err != nil {
		return v, err
	}
	if v.Replay != nil { // what lies behind its end is none of its own
		last = min(last, v.Replay.Through)
	}
	return v, t.viewBacklog(&v, r, last)
}

// freeDead shows shards as free whose owner is not among the living: nobody has taken
// them since its heartbeat was over.
func freeDead(shards []store.ShardState, living []store.RelayState) {
	for i := range shards {
		owner := shards[i].Owner
		if !slices.ContainsFunc(living, func(r store.RelayState) bool { return r.ID == owner }) {
			shards[i].Owner = ""
		}
	}
}

// viewParked counts the parked messages of a subscription, and those of topics that do
// not work.
func (t *Tx) viewParked(v *store.SubscriptionView, id int64) error {
	for state := store.ParkRetrying; state <= store.ParkHeld; state++ {
		var n int64
		if _, err := t.Row(SQLParkedCount, []any{id, int(state), store.CountedParked}, &n); err != nil {
			return err
		}
		if n > 0 {
			v.Parked[state] = n
		}
	}
	if v.Parked[store.ParkHeld] == 0 {
		return nil
	}
	held, err := heldTopics(t.Query, id, store.AllSlots)
	slices.SortStableFunc(held, func(a, b store.HeldTopic) int { return cmp.Compare(b.Messages, a.Messages) })
	v.Held = held[:min(len(held), heldShown)]
	for i := 0; err == nil && i < len(v.Held); i++ {
		_, err = t.Row(SQLHeldReason, []any{id, v.Held[i].Topic}, &v.Held[i].Reason)
	}
	return err
}

// heldShown is how many topics that do not work a view has.
const heldShown = 20

// viewBacklog counts what lies beyond a subscription's positions, exactly as
// long as it is not much. Behind many rows that were passed, over a seq that is
// still open, what all shards have passed is left out of the estimate.
func (t *Tx) viewBacklog(v *store.SubscriptionView, r *Reader, last int64) error {
	n, at := 0, r.LowWatermark()
	err := t.Places(t.Query, r.Box, at, last, countRows, func(row *Placed) error {
		n, at = n+1, row.Seq
		if r.Passed(row.Seq, row.Slot) {
			return nil
		}
		v.Backlog++
		v.Oldest = max(v.Oldest, Ahead(t.Now, int64(row.At)))
		return nil
	})
	if n == countRows {
		v.Backlog += max(last-max(at, r.high()), 0)
	}
	return err
}

package sqlkit

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Blocked returns the hashes of a lease's keys that are blocked, and the topics that
// messages are held for; see [store.Store]. If another relay has the lease by now, it
// returns ErrLeaseLost.
func (s *Base) Blocked(ctx context.Context, l store.Lease) (store.Blocks, error) {
	doing := "list the blocked keys of " + l.String()
	held, err := s.row(ctx, SQLHolds, []any{l.Box, l.Subscription, l.Lo, l.Hi, l.Token}, new(int))
	if err == nil && !held {
		err = store.ErrLeaseLost
	}
	if err != nil {
		return store.Blocks{}, s.dialect.Translate(doing, err)
	}
	id, err := s.hooks.Subscription(ctx, l.Ref)
	if err != nil {
		return store.Blocks{}, s.dialect.Translate(doing, err)
	}
	var out store.Blocks
	keys, err := ChainsOf(s.hooks.Query(ctx), id, l.Slots)
	if err == nil {
		out.Keys = keys.List
		out.Held, err = heldTopics(s.hooks.Query(ctx), id, l.Slots)
	}
	if err == nil {
		out.Waiting, err = waitingOf(s.hooks.Query(ctx), id, l.Slots)
	}
	if err != nil {
		return store.Blocks{}, s.dialect.Translate(doing, err)
	}
	return out, nil
}

// heldTopics returns the topics for which messages in some slots are held, by name.
func heldTopics(query Querier, id int64, slots store.Slots) ([]store.HeldTopic, error) {
	var out []store.HeldTopic
	err := query(SQLHeldTopics, []any{id, slots.Lo, slots.Hi}, func(rows *sql.Rows) error {
		var h store.HeldTopic
		err := rows.Scan(&h.Topic, &h.Messages)
		out = append(out, h)
		return err
	})
	return out, err
}

// Due returns parked messages whose time has come; see [store.Due].
func (s *Base) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	doing := "list what is due of " + d.String()
	if d.Limit <= 0 || d.Bytes <= 0 || d.Followers < 0 {
		return nil, s.dialect.Translate(doing, fmt.Errorf("limit %d, bytes %d, followers %d; use positive limits",
			d.Limit, d.Bytes, d.Followers))
	}
	q := dueRows{d: s.dialect, query: s.hooks.Query(ctx), due: d}
	var err error
	if q.id, err = s.hooks.Subscription(ctx, d.Ref); err == nil && q.id == 0 {
		err = store.ErrNoSubscription
	}
	if err == nil {
		q.now, err = s.hooks.Now(ctx)
	}
	var out []store.Parked
	if err == nil {
		out, err = storekit.Due(d, &q)
	}
	if err != nil {
		return nil, s.dialect.Translate(doing, err)
	}
	return out, nil
}

// dueRows is what one Due asks the database.
type dueRows struct {
	d     *Dialect
	query Querier
	due   store.Due
	id    int64
	now   int64
}

// Candidates implements [storekit.DueRows].
func (q *dueRows) Candidates(after storekit.Candidate, limit int) ([]storekit.Candidate, error) {
	var page []storekit.Candidate
	err := q.query(q.d.Due, []any{q.id, q.now, after.Ready, after.Ready, after.Seq, limit}, func(rows *sql.Rows) error {
		var c storekit.Candidate
		err := rows.Scan(&c.Seq, &c.Slot, &c.Ready, &c.Chain)
		page = append(page, c)
		return err
	})
	return page, err
}

// Followers implements [storekit.DueRows].
func (q *dueRows) Followers(c storekit.Candidate, in store.Slots, limit int, each func(int64, store.ParkState) bool) error {
	return q.query(q.d.Followers, []any{q.id, c.Chain, c.Seq, in.Lo, in.Hi, limit}, func(rows *sql.Rows) error {
		var seq int64
		var state store.ParkState
		if err := rows.Scan(&seq, &state); err != nil {
			return err
		}
		if !each(seq, state) {
			return ErrEnough
		}
		return nil
	})
}

// Held implements [storekit.DueRows].
func (q *dueRows) Held(topic string, after int64, limit int) ([]storekit.Candidate, error) {
	var page []storekit.Candidate
	err := q.query(q.d.Held, []any{q.id, topic, after, limit}, func(rows *sql.Rows) error {
		var c storekit.Candidate
		err := rows.Scan(&c.Seq, &c.Slot, &c.Chain)
		page = append(page, c)
		return err
	})
	return page, err
}

// Leads implements [storekit.DueRows].
func (q *dueRows) Leads(c storekit.Candidate, in store.Slots) (bool, error) {
	var first head
	found, err := Row(q.query, q.d.Head, []any{q.id, c.Chain, in.Lo, in.Hi}, new(int64), &first.seq, &first.state, &first.due, &first.ready)
	return found && first.seq == c.Seq, err
}

// Parked implements [storekit.DueRows].
func (q *dueRows) Parked(seq int64) (store.Parked, bool, error) {
	var row logRow
	var p ParkedRow
	var first int64
	dest := append(append(row.dest(), p.Dest()...), &first)
	found, err := Row(q.query, q.d.In(q.due.Box, SQLParked), []any{q.id, seq}, dest...)
	if err != nil || !found {
		return store.Parked{}, false, err
	}
	p.Seq = seq
	age := max(0, time.Duration(q.now-first)*time.Microsecond)
	return store.Parked{Record: row.record(), Park: p.At(q.now), First: age}, true, nil
}

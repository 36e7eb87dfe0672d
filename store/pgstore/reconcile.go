package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
	"github.com/postbag/postbag/store/storekit"
)

// reconcile makes the positions of a database that was copied from another
// cluster good for this one. Of the transaction ids in them nothing can be told
// here, so that every shard goes back to its floor: what lies beyond is
// delivered, perhaps again.
//
// The last seq given out is read before this transaction has an id, and is the
// box's foreign bound: rows up to there may have ids of the other cluster, and
// every transaction that begins later writes beyond it.
//
// There may be very many parked rows, so that transactions of their own delete them first, some in each. The database is
// not accepted meanwhile: no relay writes in it, and who comes next goes on if the process ends. Each of them first puts
// the shards at their floors. What shows that a log was numbered again is gone once producers have written on, and what
// was deleted must come again, also where another process goes on.
func (s *Store) reconcile(ctx context.Context, seen serverState) error {
	boxes, err := s.readCatalog(ctx)
	for more := true; more && err == nil; {
		more, err = s.reconcileSome(ctx, seen, boxes)
	}
	return err
}

// floors are the seqs behind which subscriptions begin again.
type floors map[int32]int64

// reconcileSome is one transaction of reconcile. more: it has only deleted some parked rows.
func (s *Store) reconcileSome(ctx context.Context, seen serverState, boxes *catalog) (more bool, err error) {
	err = s.inOwnTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		lasts := map[string]int64{}
		for name := range boxes.boxes {
			var last int64
			if err := tx.QueryRow(ctx, s.statements.get("last", name).sql).Scan(&last); err != nil {
				return err
			}
			lasts[name] = last
		}
		var written string
		if err := tx.QueryRow(ctx, `SELECT identity FROM postbag._meta FOR UPDATE`).Scan(&written); err != nil {
			return err
		}
		if written == seen.identity {
			return nil // somebody else did it
		}
		lowest := floors{}
		for _, sub := range boxes.subs {
			if err := s.putBack(ctx, tx, sub, lasts[sub.ref.Box], lowest); err != nil {
				return err
			}
		}
		if more, err = s.forgetParked(ctx, tx, boxes, lowest); err != nil || more {
			return err
		}
		return s.sendAllBack(ctx, tx, boxes, lasts, lowest)
	})
	return more && err == nil, err
}

// sendAllBack takes all subscriptions back to the floors of their shards, and accepts the database.
func (s *Store) sendAllBack(ctx context.Context, tx pgx.Tx, boxes *catalog, lasts map[string]int64, lowest floors) error {
	for name, box := range boxes.boxes {
		if _, err := tx.Exec(ctx, `UPDATE postbag._boxes SET "foreign" = $2,
			numbering = pg_relation_filenode(to_regclass('postbag.' || name || '__seq'))::bigint WHERE id = $1`, box.id, lasts[name]); err != nil {
			return err
		}
	}
	for _, sub := range boxes.subs {
		if sub.ref.Subscription == store.Maintenance {
			continue
		}
		if err := s.beginAt(ctx, tx, sub, lowest[sub.id], lasts[sub.ref.Box]); err != nil {
			return err
		}
	}
	for name := range boxes.boxes {
		if _, err := tx.Exec(ctx, s.statements.get("note", "").sql, storekit.Itself, "the database was copied from another server",
			"send "+name+" again, from where it was"); err != nil {
			return err
		}
	}
	return execAll(ctx, pgxDDL{tx}, `UPDATE postbag._meta SET identity = postbag._identity()`,
		`UPDATE postbag._relays SET dead = true`, `DELETE FROM postbag._life`, `UPDATE postbag._epoch SET n = n + 1`)
}

// forgetParked deletes some rows that subscriptions have parked beyond their floors. more: there may be more of them.
func (s *Store) forgetParked(ctx context.Context, tx pgx.Tx, boxes *catalog, lowest floors) (more bool, err error) {
	for _, sub := range boxes.subs {
		if sub.ref.Subscription == store.Maintenance {
			continue
		}
		gone, err := tx.Exec(ctx, s.statements.get("back_parked", "").sql, sub.id, lowest[sub.id], storekit.SweepMost)
		if err != nil || gone.RowsAffected() >= storekit.SweepMost {
			return err == nil, err
		}
	}
	return false, nil
}

// floorOf returns the seq behind which a subscription begins again. It locks its shards.
func (s *Store) floorOf(ctx context.Context, tx pgx.Tx, sub *catalogSubscription, last int64) (int64, error) {
	positions, err := s.shardPositions(ctx, tx, sub)
	if err != nil {
		return 0, err
	}
	floor := last
	for i := range positions {
		p := &positions[i]
		floor = min(floor, p.Lowest())
		// Rows that came along have the transaction ids that the positions speak of. Where they show that the numbering was
		// begun again before the copy was made, what lies below the floor was never sent.
		begun, err := s.outnumbered(ctx, tx, sub.ref.Box, p)
		if err != nil {
			return 0, err
		}
		if begun {
			floor = 0
		}
	}
	return floor, nil
}

// putBack puts the shards of a subscription at their floor, and notes it in lowest. It can be done again: what stands at
// a floor stays there.
func (s *Store) putBack(ctx context.Context, tx pgx.Tx, sub *catalogSubscription, last int64, lowest floors) error {
	if sub.ref.Subscription == store.Maintenance {
		_, err := tx.Exec(ctx, s.statements.get("free_shards", "").sql, sub.id)
		return err
	}
	floor, err := s.floorOf(ctx, tx, sub, last)
	if err != nil {
		return err
	}
	lowest[sub.id] = floor
	if _, err := tx.Exec(ctx, s.statements.get("back_flush", "").sql, sub.id); err != nil {
		return err
	}
	back := snapshots.Position{Floor: floor, Base: last}
	_, err = tx.Exec(ctx, s.statements.get("back_shards", "").sql, sub.id, []byte(back.Encode()))
	return err
}

// beginAt lets the ledger of a subscription begin at its floor. What it had parked beyond comes again with the rest.
func (s *Store) beginAt(ctx context.Context, tx pgx.Tx, sub *catalogSubscription, floor, last int64) error {
	back := snapshots.Position{Floor: floor, Base: last}
	for _, q := range []struct {
		name string
		args []any
	}{
		{"back_ledger", []any{sub.id, floor / store.TallySpan}}, // the span of the first message to come again
		{"back_cut", []any{sub.id, []byte(back.Encode()), floor}},
		{"back_commands", []any{sub.id, floor}},
	} {
		if _, err := tx.Exec(ctx, s.statements.get(q.name, "").sql, q.args...); err != nil {
			return err
		}
	}
	return nil
}

package sqlitestore

import (
	"context"
	"database/sql"

	"github.com/postbag/postbag/store"
)

// reconcile accepts the database, and sets back the subscriptions whose positions
// lie beyond the end of their log. It returns the database's identity, whether it
// is another one than before, and what was set back.
func (s *Store) reconcile(ctx context.Context) (id string, another bool, back []store.Ref, err error) {
	err = s.locked(ctx, "check", func(t *transaction) error {
		if found, err := t.Row(sqlMeta, nil, &id, &t.Epoch); err != nil || !found {
			return store.ErrSchema
		}
		if _, err := t.Exec(sqlLock); err != nil { // a read-only file lets a transaction begin
			return err
		}
		if back, err = t.beyond(); err != nil {
			return err
		}
		for _, ref := range back {
			if err := t.SetBack(ref, "the log ended before its positions"); err != nil {
				return err
			}
		}
		return t.commit()
	})
	if err != nil {
		return "", false, nil, err
	}
	another = s.accepted.same(id) != nil
	s.accepted.accept(id)
	return id, another, back, nil
}

// beyond returns the subscriptions with a position that their log does not reach.
func (t *transaction) beyond() ([]store.Ref, error) {
	var all []store.Ref
	var passed []int64
	err := t.Query(sqlPositions, nil, func(rows *sql.Rows) error {
		var ref store.Ref
		var position []byte
		if err := rows.Scan(&ref.Box, &ref.Subscription, &position); err != nil {
			return err
		}
		seq, err := seqOf(store.Position(position))
		if n := len(all); n > 0 && all[n-1] == ref {
			passed[n-1] = max(passed[n-1], seq)
			return err
		}
		all, passed = append(all, ref), append(passed, seq)
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []store.Ref
	for i, ref := range all {
		last, err := lastSeq(t.Query, ref.Box)
		if err != nil {
			return nil, err
		}
		if passed[i] > last {
			out = append(out, ref)
			if err := t.raiseSeq(ref.Box, passed[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// raiseSeq makes the box go on after the highest seq that it ever had.
func (t *transaction) raiseSeq(box string, to int64) error {
	changed, err := t.Exec(sqlRaiseSeq, tableOf(box), to)
	if err == nil && changed == 0 {
		_, err = t.Exec(sqlInsertSeq, tableOf(box), to)
	}
	return err
}

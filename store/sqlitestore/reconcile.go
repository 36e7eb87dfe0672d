package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/postbag/postbag/store"
)

// reconcile accepts the database, and sets back the subscriptions of boxes whose
// log is another one than their positions were written in. It returns the database's identity, whether it
// is another one than before, and what was set back.
func (s *Store) reconcile(ctx context.Context) (id string, another bool, back []store.Ref, err error) {
	for more := true; more && err == nil; {
		more, err = s.reconcileSome(ctx, &id, &back)
	}
	if err != nil {
		return "", false, nil, err
	}
	another = s.accepted.same(id) != nil
	s.accepted.accept(id)
	return id, another, back, nil
}

// reconcileSome is one transaction of reconcile. more: it has only deleted some of what is to be deleted.
func (s *Store) reconcileSome(ctx context.Context, id *string, back *[]store.Ref) (more bool, err error) {
	err = s.locked(ctx, "check", s.deadline(), func(t *transaction) error {
		if found, err := t.Row(sqlMeta, nil, id, &t.Epoch); err != nil || !found {
			return store.ErrSchema
		}
		if _, err := t.Exec(sqlLock); err != nil { // a read-only file lets a transaction begin
			return err
		}
		all, highest, err := t.elsewhere()
		if err != nil {
			return err
		}
		*back = all
		if more, err = t.ForgetSome(*back); err != nil {
			return err
		}
		if more {
			return t.commit()
		}
		for _, ref := range *back {
			if err := t.raiseSeq(ref.Box, highest[ref.Box]); err != nil { // from then on the log may look like the one that it was
				return err
			}
			if err := t.SetBack(ref, "the log is not the one its positions were written in"); err != nil {
				return err
			}
		}
		if err := t.AllAreSetBack(); err != nil {
			return err
		}
		return t.commit()
	})
	return more, err
}

// elsewhere returns the subscriptions of boxes whose log is not the one that a position in it was written in, or which are being
// set back in parts, and the highest position in each box.
func (t *transaction) elsewhere() (all []store.Ref, highest map[string]int64, err error) {
	highest, moved := make(map[string]int64), make(map[string]bool)
	if err := t.SettingBack(moved); err != nil {
		return nil, nil, err
	}
	err = t.eachPosition(func(ref store.Ref, at place) error {
		if n := len(all); ref.Subscription != store.Maintenance && (n == 0 || all[n-1] != ref) {
			all = append(all, ref)
		}
		highest[ref.Box] = max(highest[ref.Box], at.seq)
		same, err := sameLog(t.Query, ref.Box, at)
		if err != nil && errors.Is(translate("check", err), store.ErrNoBox) { // somebody dropped its table, which stops no other box
			return nil
		}
		moved[ref.Box] = moved[ref.Box] || !same
		return err
	})
	return slices.DeleteFunc(all, func(ref store.Ref) bool { return !moved[ref.Box] }), highest, err
}

// eachPosition calls each with all positions, by subscription.
func (t *transaction) eachPosition(each func(store.Ref, place) error) error {
	type standing struct {
		ref store.Ref
		at  place
	}
	var all []standing
	err := t.Query(sqlPositions, nil, func(rows *sql.Rows) error {
		var h standing
		var position []byte
		if err := rows.Scan(&h.ref.Box, &h.ref.Subscription, &position); err != nil {
			return err
		}
		var err error
		h.at, err = placeOf(store.Position(position))
		all = append(all, h)
		return err
	})
	for i := range all {
		if err == nil {
			err = each(all[i].ref, all[i].at)
		}
	}
	return err
}

// raiseSeq makes the box go on after the highest seq that it ever had.
func (t *transaction) raiseSeq(box string, to int64) error {
	changed, err := t.Exec(sqlRaiseSeq, tableOf(box), to)
	if err == nil && changed == 0 {
		_, err = t.Exec(sqlInsertSeq, tableOf(box), to)
	}
	return err
}

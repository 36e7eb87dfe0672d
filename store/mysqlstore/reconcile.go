package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// reconcile accepts the database, and sets back the subscriptions of boxes whose
// log is another one than their positions were written in. It returns the
// database's identity, whether it is another one than before, whether it is older data of the same, and
// what was set back.
func (s *Store) reconcile(ctx context.Context) (id string, another, older bool, back []store.Ref, err error) {
	for more := true; more && err == nil; {
		more, err = s.reconcileSome(ctx, &id, &older, &back)
	}
	if err != nil {
		return "", false, false, nil, err
	}
	old := s.server.Load()
	accepted := *old
	accepted.identity = id
	s.server.Store(&accepted)
	if another = old.identity != "" && old.identity != id; another || older {
		s.seen.forget()
	}
	return id, another, older, back, nil
}

// reconcileSome is one transaction of reconcile. more: it has only deleted some of what is to be deleted.
func (s *Store) reconcileSome(ctx context.Context, id *string, older *bool, back *[]store.Ref) (more bool, err error) {
	err = retry(ctx, "check", func() error {
		return s.inOwnTx(ctx, "START TRANSACTION", func(t *transaction) error {
			*id = t.identity
			switch {
			case t.identity == "":
				return store.ErrSchema
			case t.readOnly:
				return store.ErrStandby
			}
			if _, err := t.Row(sqlLockMeta, nil, new(int)); err != nil {
				return err
			}
			var err error
			if *back, err = t.elsewhere(); err != nil {
				return err
			}
			if more, err = t.ForgetSome(*back); err != nil {
				return err
			}
			if more {
				return t.commit()
			}
			before := s.seen.before(&t.serverState)
			if *older = before > 0; *older {
				if err := t.acceptOlder(before); err != nil {
					return err
				}
			}
			if err := t.setBack(*back); err != nil {
				return err
			}
			return t.commit()
		})
	})
	return more, err
}

// setBack sets back what elsewhere returned, and forgets what was kept of the log that was.
func (t *transaction) setBack(back []store.Ref) error {
	for _, ref := range back {
		if err := t.SetBack(ref, "the log is not the one its positions were written in"); err != nil {
			return err
		}
		if _, err := t.Exec(sqlSetWitness, 0, nil, ref.Box); err != nil {
			return err
		}
		house, err := t.Subscription(store.Ref{Box: ref.Box, Subscription: store.Maintenance})
		if err == nil {
			_, err = t.Exec(sqlForgetDiscardedOf, house)
		}
		if err != nil {
			return err
		}
	}
	return t.AllAreSetBack()
}

// elsewhere returns the subscriptions of boxes whose log is not the one that a
// position in it was written in, of those that have lost their witness, and of those that are being set back in parts.
func (t *transaction) elsewhere() ([]store.Ref, error) {
	logs, err := logs(t.Query)
	if err != nil {
		return nil, err
	}
	moved := make(map[string]bool)
	var all []store.Ref
	err = t.eachPosition(func(ref store.Ref, p *position) error {
		log, ok := logs[ref.Box]
		if !ok || ref.Subscription == store.Maintenance {
			return nil
		}
		if n := len(all); n == 0 || all[n-1] != ref {
			all = append(all, ref)
		}
		has, err := log.has(t.Query, ref.Box, p)
		moved[ref.Box] = moved[ref.Box] || !has
		return err
	})
	return slices.DeleteFunc(all, func(ref store.Ref) bool { return !moved[ref.Box] }), err
}

// eachPosition calls each with all positions, by subscription.
func (t *transaction) eachPosition(each func(store.Ref, *position) error) error {
	type standing struct {
		ref store.Ref
		at  position
	}
	var all []standing
	err := t.Query(sqlPositions, nil, func(rows *sql.Rows) error {
		var h standing
		var text []byte
		if err := rows.Scan(&h.ref.Box, &h.ref.Subscription, &text); err != nil {
			return err
		}
		var err error
		if h.at, err = decodePosition(store.Position(text)); err != nil {
			return fmt.Errorf("a position of %s: %w", h.ref, err)
		}
		all = append(all, h)
		return nil
	})
	for i := range all {
		if err == nil {
			err = each(all[i].ref, &all[i].at)
		}
	}
	return err
}

// logState is what a box and its log say of each other.
type logState struct {
	last, swept int64
	witnessed   bool // the log has the row that it must have

	witness int64
	id      []byte
}

// has says whether a log can be the one in which a position was.
func (l *logState) has(query sqlkit.Querier, box string, p *position) (bool, error) {
	now := there{witnessed: l.witnessed}
	if p.mark != 0 {
		if _, err := sqlkit.Row(query, fmt.Sprintf(sqlMarkedBy, tableOf(box)), []any{p.high}, &now.row); err != nil {
			return false, err
		}
	}
	return p.high <= l.last && p.holds(&now, l.swept), nil
}

// logs returns the boxes' logs by the names of the boxes.
func logs(query sqlkit.Querier) (map[string]*logState, error) {
	logs := make(map[string]*logState)
	err := query(sqlWitnesses, nil, func(rows *sql.Rows) error {
		var box string
		log := new(logState)
		err := rows.Scan(&box, &log.swept, &log.witness, &log.id)
		logs[box] = log
		return err
	})
	if err != nil {
		return nil, err
	}
	for box, log := range logs {
		log.last, err = lastSeq(query, box)
		if codeOf(err) == codeNoTable { // somebody dropped it, which stops no other box
			delete(logs, box)
			continue
		}
		if err != nil {
			return nil, err
		}
		if log.witnessed = log.witness == 0; log.witnessed {
			continue
		}
		var id []byte
		found, err := sqlkit.Row(query, fmt.Sprintf(sqlIDOf, tableOf(box)), []any{log.witness}, &id)
		if err != nil {
			return nil, err
		}
		log.witnessed = found && string(id) == string(log.id)
	}
	return logs, nil
}

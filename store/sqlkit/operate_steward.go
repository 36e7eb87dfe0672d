package sqlkit

import (
	"context"
	"errors"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// SetFilter gives a subscription another filter; see [store.Steward].
func (s *Base) SetFilter(ctx context.Context, a store.Audit, r store.Ref, f store.Filter) error {
	types, takes, err := filterTexts(f)
	if err = errors.Join(storekit.CheckNewFilter(f), err); err != nil {
		return fmt.Errorf("%s: set the filter of %s: %w", s.dialect.Package, r, err)
	}
	return s.order(ctx, a, "set the filter of", r, func(t *Tx, id int64) (string, error) {
		if found, err := t.Row(sqlSettings+t.Lock, []any{id}, new(string)); err != nil || !found {
			return "", orElse(err, store.ErrNoSubscription) // another removed it just now
		}
		changed, err := t.Exec(sqlSetFilter, types, takes, who(a), id, types, takes, who(a))
		t.Moved = t.Moved || changed > 0
		return storekit.FilterSetText(r, f), err
	})
}

// filterTexts returns the stored form of a filter that a subscription can have.
func filterTexts(f store.Filter) (types, takes string, err error) {
	if err := storekit.CheckFilter(f); err != nil {
		return "", "", err
	}
	types, err = storekit.TypesText(f.Types)
	if err == nil {
		takes, err = storekit.WhereText(f.Where)
	}
	return types, takes, err
}

// Remove deletes a subscription and all that is its own; see [store.Steward]. The log of its
// box, and what is parked of it by others, stays.
func (s *Base) Remove(ctx context.Context, a store.Audit, r store.Ref, force bool) error {
	err := s.order(ctx, a, "remove", r, func(t *Tx, id int64) (string, error) {
		// Under this lock a subscription is declared, and rows are deleted.
		if _, err := t.Row(SQLHasBox+t.Lock, []any{r.Box}, new(int)); err != nil {
			return "", err
		}
		// Settlements hold a shard: those that began before are done, and no later one finds it.
		if _, err := Numbers(t.Query, sqlLockShards+t.Lock, []any{id}); err != nil {
			return "", err
		}
		if !force {
			if worked, err := t.Row(sqlWorked, []any{id, t.Now}, new(int)); err != nil || worked {
				return "", orWorked(err)
			}
		}
		t.Moved = true
		note := Order{Text: sqlNoteRemoved, Args: []any{r.Box, r.Subscription, t.Now, who(a)}}
		_, err := t.All(append([]Order{note}, deletion(id)...))
		return "remove " + r.String(), err
	})
	if err == nil {
		s.tryToSweep(ctx)
	}
	return err
}

// tryToSweep deletes what is left of what is gone, as far as it comes: housekeeping does the rest.
func (s *Base) tryToSweep(ctx context.Context) { _, _ = s.Sweep(ctx) }

// deletion is what deletes a subscription, but for what is swept later. The shards come first: who settles one
// of them has its lock until then.
func deletion(id int64) (out []Order) {
	for _, text := range []string{sqlDeleteShards, sqlForgetLedger, sqlForgetPauses, sqlDeleteSubscription, sqlLeave} {
		out = append(out, Order{Text: text, Args: []any{id}})
	}
	return out
}

func orWorked(err error) error {
	if err == nil {
		err = store.ErrWorked
	}
	return err
}

// Readmit lets a subscription of that name be declared again; see [store.Steward].
func (s *Base) Readmit(ctx context.Context, a store.Audit, r store.Ref) error {
	doing := "readmit " + r.String()
	if err := storekit.CheckAudit(a); err != nil {
		return s.dialect.Translate(doing, err)
	}
	return s.hooks.Change(ctx, doing, func(t *Tx) error {
		changed, err := t.Exec(sqlReadmit, r.Box, r.Subscription)
		switch {
		case err != nil:
			return err
		case changed == 0:
			return fmt.Errorf("none of that name was removed: %w", store.ErrNoSubscription)
		}
		t.Moved = true
		return t.audit(a, doing)
	})
}

// who is who gave a command, as it is kept beside what it changed.
func who(a store.Audit) string { return storekit.Reason(a.Who) }

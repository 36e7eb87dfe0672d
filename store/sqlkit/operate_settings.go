package sqlkit

import (
	"context"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Add declares a subscription that is not there, as an operator says it; see [store.Tuner].
func (s *Base) Add(ctx context.Context, a store.Audit, spec store.Spec) error {
	doing := "add " + spec.Ref.String()
	if err := storekit.CheckAudit(a); err != nil {
		return s.dialect.Translate(doing, err)
	}
	if err := storekit.CheckNewFilter(spec.Filter()); err != nil {
		return s.dialect.Translate(doing, err)
	}
	return s.hooks.Change(ctx, doing, func(t *Tx) error {
		// Under this lock a subscription is declared, and rows are deleted.
		if found, err := t.Row(SQLHasBox+t.Lock, []any{spec.Box}, new(int)); err != nil || !found {
			return orElse(err, store.ErrNoBox)
		}
		if there, err := t.isReplay(spec.Ref); err != nil || there != noSubscription {
			return orElse(err, store.ErrExists)
		}
		if _, err := t.Exec(sqlReadmit, spec.Box, spec.Subscription); err != nil {
			return err
		}
		if fault, err := s.ensure(t, spec); err != nil || fault != nil {
			return orElse(err, fault)
		}
		if _, err := t.Exec(sqlAddedBy, who(a), addedShardsBy(a, &spec), spec.Box, spec.Subscription); err != nil {
			return err
		}
		return t.audit(a, storekit.AddText(&spec))
	})
}

// addedShardsBy is who asked for the number of shards: nobody if the spec says none.
func addedShardsBy(a store.Audit, spec *store.Spec) string {
	if spec.Shards == 0 {
		return ""
	}
	return who(a)
}

// Tune sets some settings of a subscription's policy; see [store.Tuner].
func (s *Base) Tune(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
	if err := store.CheckSettings(set, reset); err != nil {
		return s.dialect.Translate("set "+r.String(), err)
	}
	return s.order(ctx, a, "set", r, func(t *Tx, id int64) (string, error) {
		var has string
		if found, err := t.Row(sqlSettings+t.Lock, []any{id}, &has); err != nil || !found {
			return "", orElse(err, store.ErrNoSubscription) // it was removed just now
		}
		text, err := storekit.MergeSettings(has, a, t.Now, set, reset)
		if err != nil {
			return "", err
		}
		t.Moved = true
		_, err = t.Exec(sqlSetSettings, text, id)
		return storekit.SettingsText(r, set, reset), err
	})
}

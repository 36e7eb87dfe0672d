package sqlkit

import (
	"context"
	"database/sql"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// StartReplay makes a replay; see [store.Replayer].
func (s *Base) StartReplay(ctx context.Context, a store.Audit, r store.Replay) error {
	doing := "start replay " + r.Ref.String()
	if err := storekit.CheckAudit(a); err != nil {
		return s.dialect.Translate(doing, err)
	}
	if err := r.Validate(); err != nil {
		return s.dialect.Translate(doing, err)
	}
	text, err := storekit.ReplayJSON(&r)
	if err != nil {
		return s.dialect.Translate(doing, err)
	}
	return s.hooks.Change(ctx, doing, func(t *Tx) error {
		if found, err := t.Row(SQLHasBox+t.Lock, []any{r.Ref.Box}, new(int)); err != nil || !found {
			return orElse(err, store.ErrNoBox)
		}
		of, err := t.isReplay(store.Ref{Box: r.Ref.Box, Subscription: r.Of})
		if err != nil || of != plainSubscription || r.Of == store.Maintenance {
			return orElse(err, store.ErrNoSubscription)
		}
		if there, err := t.isReplay(r.Ref); err != nil || there != noSubscription {
			return orElse(err, store.ErrReplayExists)
		}
		if gone, err := t.Row(sqlIsRemoved, []any{r.Ref.Box, r.Ref.Subscription}, new(int)); err != nil || gone {
			return orElse(err, store.ErrReplayExists) // relays that name it would take it for their own
		}
		if fault, err := s.ensure(t, r.Spec()); err != nil || fault != nil {
			return orElse(err, fault)
		}
		if _, err := t.Exec(sqlSetReplay, text, r.Ref.Box, r.Ref.Subscription); err != nil {
			return err
		}
		return t.audit(a, storekit.ReplayText(&r))
	})
}

// orElse returns the first error there is.
func orElse(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// EndReplay removes a replay; see [store.Replayer].
func (s *Base) EndReplay(ctx context.Context, a store.Audit, r store.Ref, summary string) error {
	doing := "end replay " + r.String()
	if err := storekit.CheckAudit(a); err != nil {
		return s.dialect.Translate(doing, err)
	}
	err := s.hooks.Change(ctx, doing, func(t *Tx) error {
		// Under this lock a subscription is declared, and rows are deleted.
		if found, err := t.Row(SQLHasBox+t.Lock, []any{r.Box}, new(int)); err != nil || !found {
			return orElse(err, store.ErrNoBox)
		}
		kind, err := t.isReplay(r)
		if err != nil || kind != replaySubscription {
			return orElse(err, store.ErrNoReplay)
		}
		id, err := t.Subscription(r)
		if err != nil {
			return err
		}
		if _, err := t.All(deletion(id)); err != nil {
			return err
		}
		t.Moved = true
		return t.audit(a, storekit.ReplayEndText(r, summary))
	})
	if err == nil {
		s.tryToSweep(ctx)
	}
	return err
}

// kindOfSubscription is what a name stands for.
type kindOfSubscription int

const (
	noSubscription kindOfSubscription = iota
	plainSubscription
	replaySubscription
)

// isReplay says what a subscription is.
func (t *Tx) isReplay(r store.Ref) (kindOfSubscription, error) {
	var text sql.NullString
	found, err := t.Row(sqlReplay, []any{r.Box, r.Subscription}, &text)
	switch {
	case err != nil || !found:
		return noSubscription, err
	case text.Valid:
		return replaySubscription, nil
	}
	return plainSubscription, nil
}

// SeqBefore finds a seq by time; see [store.Replayer].
func (s *Base) SeqBefore(ctx context.Context, box string, at time.Time) (int64, error) {
	found, err := s.row(ctx, SQLHasBox, []any{box}, new(int))
	if err == nil && !found {
		err = store.ErrNoBox
	}
	var seq int64
	if err == nil {
		seq, err = s.dialect.Before(s.hooks.Query(ctx), box, at)
	}
	return seq, s.dialect.Translate("look for a time in box "+box, err)
}

// Floor returns how far a position has passed everything; see [store.Replayer].
func (s *Base) Floor(p store.Position) (int64, error) {
	at, err := s.dialect.Position(p)
	if err != nil {
		return 0, err
	}
	return at.LowWatermark(), nil
}

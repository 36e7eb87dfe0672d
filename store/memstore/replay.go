package memstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Replayer = (*Store)(nil)

// StartReplay implements store.Replayer.
func (s *Store) StartReplay(ctx context.Context, a store.Audit, r store.Replay) error {
	_, err := edit(ctx, s, a, r.Ref.Box, func(b *box) (struct{}, error) {
		return struct{}{}, s.startReplay(b, a, r)
	})
	return err
}

func (s *Store) startReplay(b *box, a store.Audit, r store.Replay) error {
	doing := "memstore: start replay " + r.Ref.String()
	if err := r.Validate(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	of := b.subs[r.Of]
	switch {
	case of == nil || of.replay != nil:
		return fmt.Errorf("%s of %s: %w", doing, r.Of, store.ErrNoSubscription)
	case b.subs[r.Ref.Subscription] != nil, b.removed[r.Ref.Subscription].Name != "":
		return fmt.Errorf("%s: %w", doing, store.ErrReplayExists)
	}
	if err := s.declare(r.Spec()); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	r.Types, r.Keys, r.Where = slices.Clone(r.Types), slices.Clone(r.Keys), r.Where.Clone()
	b.subs[r.Ref.Subscription].replay = &r
	s.note(a, storekit.ReplayText(&r))
	return nil
}

// EndReplay implements store.Replayer.
func (s *Store) EndReplay(ctx context.Context, a store.Audit, r store.Ref, summary string) error {
	_, err := edit(ctx, s, a, r.Box, func(b *box) (struct{}, error) {
		if sub := b.subs[r.Subscription]; sub == nil || sub.replay == nil {
			return struct{}{}, fmt.Errorf("memstore: end replay %s: %w", r, store.ErrNoReplay)
		}
		delete(b.subs, r.Subscription)
		s.forgetPauses(r)
		s.epoch++
		s.note(a, storekit.ReplayEndText(r, summary))
		return struct{}{}, nil
	})
	return err
}

// SeqBefore implements store.Replayer.
func (s *Store) SeqBefore(ctx context.Context, name string, at time.Time) (int64, error) {
	return call(ctx, s, OpInspect, func() (int64, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		b, err := s.box(name)
		if err != nil {
			return 0, err
		}
		return b.log.before(at), nil
	})
}

// Floor implements store.Replayer.
func (s *Store) Floor(p store.Position) (int64, error) {
	at, err := decode(p)
	return at.floor(), err
}

// shownReplay returns a copy of what sub sends again, nil if it is no replay.
func (sub *subscription) shownReplay() *store.Replay {
	if sub.replay == nil {
		return nil
	}
	r := *sub.replay
	r.Shards = len(sub.shards)
	r.Types, r.Keys, r.Where = slices.Clone(r.Types), slices.Clone(r.Keys), r.Where.Clone()
	return &r
}

package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Replayer = (*Store)(nil)

// StartReplay implements store.Replayer.
func (s *Store) StartReplay(ctx context.Context, a store.Audit, r store.Replay) error {
	err := s.startReplay(ctx, a, r)
	s.catalog.Store(nil)
	return translateError("start replay "+r.Ref.String(), err)
}

func (s *Store) startReplay(ctx context.Context, a store.Audit, r store.Replay) error {
	a, err := audited(a)
	if err != nil {
		return err
	}
	if err := r.Validate(); err != nil {
		return err
	}
	text, err := storekit.ReplayJSON(&r)
	if err != nil {
		return err
	}
	return s.guarded(ctx, func(v *server) error {
		known, err := s.readCatalog(ctx)
		switch {
		case err != nil:
			return err
		case known.boxes[r.Ref.Box] == nil:
			return store.ErrNoBox
		case r.Of == store.Maintenance:
			return store.ErrNoSubscription
		}
		at := snapshots.Position{Floor: r.After, Base: known.boxes[r.Ref.Box].foreign}
		for {
			dropped, err := s.insertReplay(ctx, v, a, &r, at, text)
			if err != nil || dropped <= at.Floor {
				return err
			}
			at.Floor = dropped
		}
	})
}

// insertReplay makes a replay that begins at a floor. If retention has dropped what it
// would begin with, it is not made, and the seq to begin behind is returned.
func (s *Store) insertReplay(ctx context.Context, v *server, a store.Audit, r *store.Replay, at snapshots.Position, text string) (dropped int64, err error) {
	shards := r.Shards
	if shards == 0 {
		shards = defaultShards
	}
	raw := store.Position("")
	if at.Floor > 0 {
		raw = at.Encode()
	}
	takes, err := storekit.WhereText(r.Where)
	if err != nil {
		return 0, err
	}
	parts := store.Split(shards)
	p := new(parameters).text(r.Ref.Box).text(r.Ref.Subscription)
	p.texts(len(r.Types), func(i int) string { return r.Types[i] })
	p.int2s(len(parts), func(i int) int { return parts[i].Lo }).int2s(len(parts), func(i int) int { return parts[i].Hi })
	p.text(string(raw)).int8(at.Floor).text(r.Of).text(text).text(a.Who).text(a.Why).text(storekit.ReplayText(r)).text(takes)
	var plain, there, made bool
	err = s.run(ctx, s.guard(v, "", nil),
		call{st: s.statements.get("lock_box", ""), args: new(parameters).text(r.Ref.Box), each: func(r row) error {
			c := columns{rest: r}
			dropped = c.int8()
			return c.err
		}},
		call{
			st: s.statements.get("start_replay", ""), args: p,
			reset: func() { plain, there, made = false, false, false },
			each: func(r row) error {
				c := columns{rest: r}
				plain, there, made = c.bool(), c.bool(), c.bool()
				return c.err
			},
		})
	switch {
	case err != nil:
		return 0, err
	case !plain:
		return 0, store.ErrNoSubscription
	case there:
		return 0, store.ErrReplayExists
	case made:
		return 0, nil
	}
	return dropped, nil
}

// EndReplay implements store.Replayer.
func (s *Store) EndReplay(ctx context.Context, a store.Audit, r store.Ref, summary string) error {
	gone := false
	err := s.order(ctx, a, r, func(v *server, sub *catalogSubscription, a store.Audit) error {
		id := func() *parameters { return new(parameters).int4(sub.id) }
		return s.run(ctx, s.guard(v, "", nil),
			call{st: s.statements.get("lock_box", ""), args: new(parameters).text(r.Box)},
			s.lockSubscription(sub.id),
			call{st: s.statements.get("lock_replay", ""), args: id()},
			call{
				st: s.statements.get("end_replay", ""), args: id().text(a.Who).text(a.Why).text(storekit.ReplayEndText(r, summary)),
				reset: func() { gone = false },
				each: func(row) error {
					gone = true
					return nil
				},
			},
			call{st: s.statements.get("gone", ""), args: id()})
	})
	s.catalog.Store(nil)
	if err == nil && !gone || errors.Is(err, store.ErrNoSubscription) {
		err = store.ErrNoReplay
	}
	if err == nil {
		s.tryToSweep(ctx)
	}
	return translateError("end replay "+r.String(), err)
}

// SeqBefore implements store.Replayer.
func (s *Store) SeqBefore(ctx context.Context, box string, at time.Time) (seq int64, err error) {
	err = s.guarded(ctx, func(*server) error {
		known, err := s.readCatalog(ctx)
		if err == nil && known.boxes[box] == nil {
			err = store.ErrNoBox
		}
		if err == nil {
			seq, err = s.search(ctx, box, at)
		}
		return err
	})
	return seq, translateError("look for a time in box "+box, err)
}

// Floor implements store.Replayer.
func (s *Store) Floor(p store.Position) (int64, error) {
	at, err := snapshots.Decode(p)
	return at.LowWatermark(), err
}

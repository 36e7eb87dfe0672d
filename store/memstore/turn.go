package memstore

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// scope is a part of a subscription that a turn speaks of.
type scope struct {
	sub   *subscription
	slots []store.Slots
}

// Turn implements store.Store.
func (s *Store) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	return call(ctx, s, OpTurn, func() (store.TurnResult, error) {
		res, pages, err := s.turn(t)
		if err != nil {
			return store.TurnResult{}, fmt.Errorf("memstore: turn: %w", err)
		}
		for i, pg := range pages {
			if pg.page != nil && len(pg.rows) > 0 {
				res.Batches[i].Records = pg.records(&pg.filter)
			}
		}
		return res, nil
	})
}

// filtered is a page with the filter of its reader.
type filtered struct {
	*page
	filter storekit.Filter
}

// turn does what needs the lock.
func (s *Store) turn(t store.Turn) (store.TurnResult, []filtered, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkLife(t); err != nil {
		return store.TurnResult{}, nil, err
	}
	now := s.now()
	var res store.TurnResult
	var scopes []scope
	most := storekit.MostSuperseded(t.Settle)
	for _, st := range t.Settle {
		sub, _ := s.subscription(st.Ref)
		res.Verdicts = append(res.Verdicts, s.settle(sub, st, most, now))
		scopes = append(scopes, scope{sub, []store.Slots{st.Slots}})
	}
	pages := make([]filtered, len(t.Read))
	for i, q := range t.Read {
		sub, err := s.subscription(q.Ref)
		var b store.Batch
		if err == nil {
			pages[i].filter = sub.filter
			pages[i].page, b, err = s.read(sub, q)
			scopes = append(scopes, scope{sub, q.Slots})
		}
		if err != nil {
			b = store.Batch{Err: fmt.Errorf("memstore: read %s: %w", q.Ref, err)}
		}
		res.Batches = append(res.Batches, b)
	}
	commands, err := waiting(scopes, now)
	if err != nil {
		return store.TurnResult{}, nil, err
	}
	res.Commands = commands
	res.NextDue = nextDue(scopes, now)
	res.Epoch, res.Life = s.epoch, int64(s.life)
	return res, pages, nil
}

// checkLife refuses a turn with a position that a crash has made worthless,
// before it has done anything.
func (s *Store) checkLife(t store.Turn) error {
	if t.Life != 0 && t.Life != int64(s.life) {
		return fmt.Errorf("memstore: a turn of life %d, and this is life %d: %w", t.Life, s.life, store.ErrRestarted)
	}
	if s.life == 1 {
		return nil
	}
	check := func(r store.Ref, p store.Position) error {
		if sub, err := s.subscription(r); err == nil {
			if _, err := s.position(sub, p); isRestart(err) {
				return err
			}
		}
		return nil
	}
	for _, st := range t.Settle {
		if err := check(st.Ref, st.To); err != nil {
			return err
		}
	}
	for _, q := range t.Read {
		for _, p := range []store.Position{q.From, q.Until} {
			if err := check(q.Ref, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// nextDue returns how long until the next parked row of the scopes is due.
func nextDue(scopes []scope, now time.Time) time.Duration {
	next := time.Duration(-1)
	for _, sc := range scopes {
		if sc.sub == nil {
			continue
		}
		if d := sc.sub.lot.nextDue(sc.slots, now); d >= 0 && (next < 0 || d < next) {
			next = d
		}
	}
	return next
}

// Blocked implements store.Store.
func (s *Store) Blocked(ctx context.Context, l store.Lease) (store.Blocks, error) {
	return call(ctx, s, OpBlocked, func() (store.Blocks, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		sub, err := s.subscription(l.Ref)
		if err != nil {
			return store.Blocks{}, err
		}
		if sh := sub.shard(l.Slots); sh == nil || sh.token != l.Token {
			return store.Blocks{}, fmt.Errorf("memstore: blocked keys of %s: %w", l.Shard, store.ErrLeaseLost)
		}
		return store.Blocks{Keys: sub.lot.blocked(l.Slots), Held: sub.lot.heldTopics(l.Slots), Waiting: sub.lot.allWaiting(l.Slots)}, nil
	})
}

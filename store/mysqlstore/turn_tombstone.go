package mysqlstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// unresolved is what the positions that this process reads from leave open. There
// is one for the whole store: the reads of any subscription tell of the log, and
// one tombstone serves them all.
type unresolved struct {
	mu    sync.Mutex
	boxes map[string]*openSeqs
}

// openSeqs are the open seqs of one box.
type openSeqs struct {
	// latest are the open seqs of the position that each reader has reached.
	latest map[string]noted
	// since are the same together, with when they were first seen open.
	since []openSince
}

type noted struct {
	open ranges
	at   time.Time
}

type openSince struct {
	ranges

	at time.Time
}

// note remembers the open seqs of the position that a reader has reached.
func (u *unresolved) note(r store.Ref, slots []store.Slots, open ranges) {
	u.mu.Lock()
	defer u.mu.Unlock()
	box := u.boxes[r.Box]
	name := fmt.Sprint(r.Subscription, slots)
	if box == nil {
		if len(open) == 0 {
			return
		}
		box = &openSeqs{latest: make(map[string]noted)}
		if u.boxes == nil {
			u.boxes = make(map[string]*openSeqs)
		}
		u.boxes[r.Box] = box
	}
	if len(open) == 0 {
		delete(box.latest, name)
		return
	}
	box.latest[name] = noted{open: open, at: time.Now()}
}

// forgetReader is how long what a reader told is believed: it may have ended.
const forgetReader = 10 * time.Minute

// old returns, for each box, the seqs that have been open for longer than grace,
// and brings the times up to date.
func (u *unresolved) old(now time.Time, grace func(spans int) time.Duration) map[string]ranges {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := make(map[string]ranges)
	for name, box := range u.boxes {
		if old := box.old(now, grace); len(old) > 0 {
			out[name] = old
		}
		if len(box.latest) == 0 {
			delete(u.boxes, name)
		}
	}
	return out
}

func (b *openSeqs) old(now time.Time, grace func(spans int) time.Duration) (old ranges) {
	var all ranges
	for name, n := range b.latest {
		if now.Sub(n.at) > forgetReader {
			delete(b.latest, name)
			continue
		}
		all = all.plus(n.open)
	}
	fresh := all
	kept := b.since[:0]
	for _, s := range b.since {
		s.ranges = s.minus(s.minus(all)) // what is still open of them
		fresh = fresh.minus(s.ranges)
		if len(s.ranges) > 0 {
			kept = append(kept, s)
		}
	}
	if len(fresh) > 0 {
		kept = append(kept, openSince{ranges: fresh, at: now})
	}
	b.since = kept
	patience := grace(len(all))
	for _, s := range b.since {
		if now.Sub(s.at) >= patience {
			old = old.plus(s.ranges)
		}
	}
	return old
}

// crowded is how many spans of open seqs make the grace shorter: half of what a
// position holds where they are some hundred seqs apart.
const crowded = fullPosition / 6

// grace is how long a seq must have been open, when so many spans are: all of the
// option while there are few, and the shortest when there are twice those that crowd,
// since a full position lets nobody read on.
func (s *Store) grace(spans int) time.Duration {
	shortest := min(s.opts.Grace, shortestGrace)
	over := float64(min(max(spans-crowded, 0), crowded)) / crowded
	return s.opts.Grace - time.Duration(over*float64(s.opts.Grace-shortest))
}

// resolveEvery is how often the store looks for open seqs that are old enough.
const resolveEvery = 500 * time.Millisecond

// resolve writes tombstones until ctx ends.
func (s *Store) resolve(ctx context.Context) {
	tick := time.NewTicker(min(resolveEvery, max(s.opts.Grace/4, time.Millisecond)))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for box, old := range s.unknowns.old(time.Now(), s.grace) {
			if err := s.buryAll(ctx, box, old); err != nil && ctx.Err() == nil && s.opts.OnFault != nil {
				s.opts.OnFault(translateError("write tombstones in box "+box, err))
			}
		}
	}
}

// Bounds of one round of tombstones in a box: the seqs that it looks for, and how
// long it writes.
const (
	presentMost = 20_000
	buryTime    = 2 * time.Second
)

// buryAll writes a tombstone under each open seq that nobody has written. Short
// spans come first, since they fill a position.
//
// The look at what is not committed is only to leave alone who is at work: a seq
// that is written is either to be read soon or in flight, and a statement that has
// written some of its rows may be about to write the next. Proof is the tombstone
// alone.
func (s *Store) buryAll(ctx context.Context, box string, old ranges) error {
	present, err := s.present(ctx, box, old)
	if err != nil {
		return err
	}
	if len(present) > 0 && len(old) <= crowded {
		lowest, err := s.lowestInFlight(ctx, box, present)
		if err != nil {
			return err
		}
		if lowest > 0 {
			old = old.upTo(lowest - 1)
		}
	}
	old = slices.Clone(old.minus(rangesOf(present)))
	slices.SortStableFunc(old, func(a, b span) int { return int(min(a.hi-a.lo, 1000) - min(b.hi-b.lo, 1000)) })
	end := time.Now().Add(buryTime)
	for _, dead := range old {
		for seq := dead.lo; seq <= dead.hi; seq++ {
			if ctx.Err() != nil || time.Now().After(end) {
				return ctx.Err()
			}
			if err := s.buryOne(ctx, box, seq); err != nil {
				return err
			}
		}
	}
	return nil
}

// present returns the seqs that are written, committed or not.
func (s *Store) present(ctx context.Context, box string, of ranges) ([]int64, error) {
	text := fmt.Sprintf(sqlPresent, tableOf(box), seqCondition(of))
	return sqlkit.Numbers(sqlkit.Querying(ctx, commented(s.dirty, s.comment)), text, []any{presentMost})
}

// lowestInFlight returns the lowest seq of those that are written which nobody
// has committed; zero: none.
func (s *Store) lowestInFlight(ctx context.Context, box string, present []int64) (int64, error) {
	text := fmt.Sprintf(sqlPresent, tableOf(box), seqCondition(rangesOf(slices.Clone(present))))
	committed, err := sqlkit.Numbers(s.query(ctx), text, []any{presentMost})
	if err != nil {
		return 0, err
	}
	flying := rangesOf(present).minus(rangesOf(committed))
	if len(flying) == 0 {
		return 0, nil
	}
	return flying[0].lo, nil
}

// buryOne writes one tombstone. That somebody has the seq is no error.
func (s *Store) buryOne(ctx context.Context, box string, seq int64) error {
	_, err := s.bury.ExecContext(ctx, fmt.Sprintf(sqlTombstone, tableOf(box))+s.comment, seq)
	switch codeOf(err) {
	case codeDuplicate, codeLockWait, codeDeadlock:
		return nil
	}
	return err
}

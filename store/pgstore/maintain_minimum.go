package pgstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
)

// follower is a subscription that retention waits for.
type follower struct {
	id     int32
	name   string
	shards []shardPosition
	starts []ledgerStart
	// bad is why a position of it cannot be read.
	bad error
}

// shardPosition is where a shard stands.
type shardPosition struct {
	store.Slots

	at  snapshots.Position
	raw string
}

// ledgerStart is where the ledger of a subscription begins: what at has passed, of the
// spans from floor's on, is not in it. A later one replaces earlier ones from its
// span on.
type ledgerStart struct {
	at    snapshots.Position
	floor int64
}

// followersOf puts the columns of all shards together, which come by subscription.
func followersOf(subs []int32, names []string, los, his []int32, positions []string) []follower {
	var out []follower
	for i := range min(len(subs), len(names), len(los), len(his), len(positions)) {
		if n := len(out); n == 0 || out[n-1].id != subs[i] {
			out = append(out, follower{id: subs[i], name: names[i]})
		}
		f := &out[len(out)-1]
		f.addShard(int(los[i]), int(his[i]), positions[i])
	}
	return out
}

// addShard adds a shard.
func (f *follower) addShard(lo, hi int, raw string) {
	at, err := snapshots.Decode(store.Position(raw))
	if err != nil {
		f.bad = err
	}
	f.shards = append(f.shards, shardPosition{Slots: store.Slots{Lo: lo, Hi: hi}, at: at, raw: raw})
}

// passed says whether the shard that a row belongs to has passed it.
func (f *follower) passed(r *scannedRow) bool {
	for i := range f.shards {
		if sh := &f.shards[i]; sh.Contains(r.slot) {
			return sh.at.Passed(r.xid, r.seq)
		}
	}
	return false
}

// passedAll says whether every shard has passed what a row's transaction wrote
// there, its own row or not.
func (f *follower) passedAll(r *scannedRow) bool {
	for i := range f.shards {
		if !f.shards[i].at.Passed(r.xid, r.seq) {
			return false
		}
	}
	return true
}

// mustAccount returns what says whether the ledger has to account for a row of a span.
func (f *follower) mustAccount(span int64) func(xid uint64, seq int64) bool {
	for i := len(f.starts) - 1; i >= 0; i-- {
		c := &f.starts[i]
		if spanOf(c.floor+1) > span {
			continue
		}
		if reach := c.at.Reach(); reach <= span*store.TallySpan {
			break
		}
		return func(xid uint64, seq int64) bool { return !c.at.Passed(xid, seq) }
	}
	whole := len(f.starts) == 0 || spanOf(f.starts[0].floor+1) <= span
	return func(uint64, int64) bool { return whole }
}

// spanOf returns the span of the ledger that a seq lies in.
func spanOf(seq int64) int64 { return (seq - 1) / store.TallySpan }

// passedByAll returns the seq up to which every subscription has passed all rows
// that will ever be there: what runs and has not committed lies beyond it, by the
// bounds in the positions. Without a subscription it is zero.
func (u *round) passedByAll() (int64, error) {
	if len(u.followers) == 0 {
		return 0, nil
	}
	floor := int64(math.MaxInt64)
	for i := range u.followers {
		f := &u.followers[i]
		if f.bad != nil {
			return 0, fmt.Errorf("a position of %s: %w", f.name, f.bad)
		}
		for k := range f.shards {
			floor = min(floor, f.shards[k].at.Lowest())
		}
	}
	return floor, nil
}

// minimumPosition returns the floor, refined where that promises something. The bound that
// a position has may lie well below what its shard has passed, when nothing was
// settled since: an idle subscription would pin the last stretch of its log.
func (m *maintenance) minimumPosition(ctx context.Context) (int64, error) {
	floor, err := m.passedByAll()
	if err != nil || len(m.followers) == 0 || floor >= m.last {
		return floor, err
	}
	seen := m.fingerprint()
	idle := seen == m.seen || m.noted.seq > floor
	m.seen = seen
	if seen != m.refined {
		m.refinePause = 0
	}
	if idle && (seen != m.refined || m.refinePause > 0 && time.Since(m.refinedAt) >= m.refinePause) {
		if err := m.refineMinimumAgain(ctx); err != nil {
			return 0, err
		}
		m.refined = seen
	}
	if seen == m.refined {
		floor = max(floor, m.maintenanceState.minimum)
	}
	return floor, nil
}

// fingerprint is of all that a refinement depends on.
func (m *maintenance) fingerprint() [32]byte {
	var b []byte
	b = binary.BigEndian.AppendUint64(b, uint64(m.v.era))
	b = binary.BigEndian.AppendUint64(b, uint64(m.last))
	for i := range m.followers {
		f := &m.followers[i]
		b = binary.BigEndian.AppendUint32(b, uint32(f.id))
		for k := range f.shards {
			b = binary.AppendUvarint(b, uint64(len(f.shards[k].raw)))
			b = append(b, f.shards[k].raw...)
		}
	}
	return sha256.Sum256(b)
}

// Pauses between refinements that open transactions keep from getting further.
const (
	refineFirst = time.Second
	refineLast  = 30 * time.Second
)

// refineMinimumAgain refines, and plans the next time if there is to be one.
func (m *maintenance) refineMinimumAgain(ctx context.Context) error {
	floor, whole, err := m.refineMinimum(ctx)
	if err != nil {
		return err
	}
	m.maintenanceState.minimum, m.refinedAt = floor, time.Now()
	m.refinePause = min(max(2*m.refinePause, refineFirst), refineLast)
	if whole {
		m.refinePause = 0
	}
	return nil
}

// refineMost is how many rows a refinement looks at.
const refineMost = 100_000

// refineMinimum looks at the rows between the floor and what is known to be complete: up
// to the first that a shard has not passed, all is passed. Complete is the log as
// far as a new snapshot's bounds reach; whole says that no open transaction kept
// them from reaching further.
func (m *maintenance) refineMinimum(ctx context.Context) (floor int64, whole bool, err error) {
	known := m.v.of(m.Box)
	errs, err := m.s.pipeline(ctx, m.s.bound(m.v, m.Box), m.s.findQuiet(m.v, m.Box))
	if err := cmp.Or(err, errors.Join(errs...)); err != nil {
		return 0, false, err
	}
	now, _, err := m.s.instant(ctx, m.Box)
	if err != nil {
		return 0, false, err
	}
	from, to := m.last, m.last
	for i := range m.followers {
		for k := range m.followers[i].shards {
			p := &m.followers[i].shards[k].at
			seen := now
			seen.Running = append([]snapshots.Runner(nil), now.Running...)
			known.Raise(&seen, p)
			to = min(to, seen.Lowest())
			from = min(from, p.Lowest())
		}
	}
	whole = to == m.last
	looked := 0
	err = m.s.scanRows(ctx, "scan", m.Box, from, to, func(r *scannedRow) bool {
		for i := range m.followers {
			if !m.followers[i].passedAll(r) {
				to, whole = r.seq-1, true
				return false
			}
		}
		if looked++; looked == refineMost {
			to = r.seq
		}
		return looked < refineMost
	})
	return max(to, from), whole, err
}

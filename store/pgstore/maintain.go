package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// What one Maintain does at most: how long it goes on, and how many scheduled
// messages join the log in one transaction.
const (
	maintainTime = time.Second
	promoteLot   = 1000
)

// Maintain implements store.Store. A round that finds nothing to do is one
// statement, and now and then a search for rows that came late. What needs the ownership of the tables (adding and dropping
// partitions) and is refused is a fault of the report; all else goes on.
func (s *Store) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	m := &maintenance{s: s, Retention: r, end: time.Now().Add(maintainTime)}
	m.report.NextDue = -1
	err := s.guarded(ctx, func(v *server) error {
		m.v = v
		return m.run(ctx)
	})
	if m.report.Promoted > 0 {
		s.Wake(r.Box)
	}
	return m.report, translateError("maintain box "+r.Box, err)
}

// maintenance is one Maintain at work.
type maintenance struct {
	store.Retention

	s      *Store
	v      *server
	end    time.Time
	report store.Report
	*maintenanceState
	round
	// discarded and dead are what the box keeps, besides Keep.
	discarded, dead time.Duration
	// safe is the seq that all subscriptions have passed.
	safe int64
	// differ, if not nil, takes the place of a fault where the log and the ledger of
	// a subscription, by its place among the followers, differ.
	differ func(span int64, follower int, passed, told store.Tally)
}

// round is what the upkeep statement shows.
type round struct {
	box        int32
	spans      int
	dropped    int64
	held       bool
	now        int64 // microseconds since 1970
	nextDue    int64 // microseconds; math.MaxInt64: none
	last       int64
	noted      mark  // the latest
	old        mark  // the latest that is old enough
	older      int64 // the seq of the latest that is old enough for discarded messages; zero: not asked
	retention  storekit.RetentionRow
	partitions []partitionState
	strange    []string // partitions that Postbag does not make
	followers  []follower
	dropping   bool
	copies     bool
	leftover   bool // there are rows of subscriptions that are gone
	operated   bool // there are operations that nobody changed for a day
	unchecked  bool // there are notes whose errors nobody looked for since a day
}

// mark says that all subscriptions had passed seq by a time, in microseconds
// since 1970.
type mark struct{ seq, at int64 }

func (m *maintenance) run(ctx context.Context) error {
	if m.Subscription != store.Maintenance || m.Token == 0 {
		return store.ErrLeaseLost
	}
	if _, err := m.s.subscription(ctx, m.Ref); err != nil {
		return err
	}
	if err := m.look(ctx); err != nil {
		return err
	}
	if !m.held {
		return store.ErrLeaseLost
	}
	if m.last < m.dropped {
		m.s.doubt(m.Box, m.v.era, nil)
		return renumberedError(m.Box)
	}
	k, done := m.s.maintained.of(m.Box)
	defer done()
	m.maintenanceState = k
	// Room comes first: without any, what is due cannot join the log.
	for _, step := range []func(context.Context) error{m.addRoom, m.promote, m.searchLate, m.retire, m.addHeadroom, m.retain, m.tidy, m.expire, m.leftovers, m.operations, m.errorNotes} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// look reads all that a round needs to know.
func (m *maintenance) look(ctx context.Context) error {
	a := new(parameters).int8(m.v.started).int8(m.v.life).text(m.Box)
	a.int4(int32(m.Lo)).int4(int32(m.Hi)).int8(m.Token).int8(max(m.Keep, 0).Microseconds())
	err := m.s.run(ctx, call{st: m.s.statements.get("upkeep", m.Box), args: a, reset: func() { m.round = round{} }, each: m.round.take})
	m.keeps(m)
	return err
}

func (u *round) take(r row) error {
	c := columns{rest: r}
	c.int8() // the guard's
	u.box, u.spans, u.dropped, u.held = c.int4(), int(c.int4()), c.int8(), c.bool()
	u.now, u.nextDue, u.last = c.int8(), c.int8(), c.int8()
	u.noted = mark{c.int8(), c.int8()}
	u.old = mark{c.int8(), c.int8()}
	u.partitions, u.strange = partitionStatesOf(c.texts())
	u.followers = followersOf(c.int4s(), c.texts(), c.int4s(), c.int4s(), c.texts())
	u.dropping, u.copies, u.leftover, u.operated, u.unchecked = c.bool(), c.bool(), c.bool(), c.bool(), c.bool()
	u.older, u.retention = c.int8(), c.retention()
	return c.err
}

// late says whether the time is over, and notes that there is more to do.
func (m *maintenance) late() bool {
	if time.Now().Before(m.end) {
		return false
	}
	m.report.More = true
	return true
}

func (m *maintenance) faultf(format string, args ...any) {
	m.report.Faults = append(m.report.Faults, fmt.Sprintf(format, args...))
}

// lockedWait is how long until a message is tried again that was due and that
// somebody is about to cancel.
const lockedWait = 100 * time.Millisecond

// How many copies one round looks at to find those that nobody needs, and how
// often there is a round.
const (
	tidyLot   = 1000
	tidyPause = 10 * time.Second
)

// tidy deletes copies of messages that are not parked any more.
func (m *maintenance) tidy(ctx context.Context) error {
	if !m.copies || time.Since(m.tidied) < tidyPause || m.late() {
		return nil
	}
	subs := m.subs()
	looked := int64(0)
	err := m.s.run(ctx, m.s.guard(m.v, "", nil), call{
		st: m.s.statements.get("tidy", ""),
		args: new(parameters).int4(m.box).int8(m.maintenanceState.tidyAt).int4(tidyLot).
			int4s(len(subs), func(i int) int32 { return subs[i] }),
		each: func(r row) error {
			c := columns{rest: r}
			looked, m.maintenanceState.tidyAt = c.int8(), c.int8()
			return c.err
		},
	})
	if looked < tidyLot {
		m.maintenanceState.tidyAt, m.maintenanceState.tidied = 0, time.Now()
	}
	return err
}

// subs returns the ids of the subscriptions, in order.
func (u *round) subs() []int32 {
	out := make([]int32, len(u.followers))
	for i := range u.followers {
		out[i] = u.followers[i].id
	}
	return out
}

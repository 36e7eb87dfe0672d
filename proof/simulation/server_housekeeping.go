package simulation

import (
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// house is the box's housekeeping, of which one relay has the lease.
type house struct {
	owner string
	token int64
}

// maintenance is what the lease of the housekeeping is of.
var maintenance = store.Shard{Ref: store.Ref{Box: mainRef.Box, Subscription: store.Maintenance}, Slots: store.AllSlots}

// keep gives the lease of the housekeeping back, and takes it.
func (s *server) keep(b *store.Beat) {
	for i := range b.Give {
		if l := &b.Give[i]; l.Shard == maintenance && l.Token == s.house.token && s.house.owner == b.Relay {
			s.house.owner = ""
			s.epoch++
		}
	}
	for i := range b.Take {
		if b.Take[i] == maintenance && s.house.owner == "" {
			s.token++
			s.house = house{owner: b.Relay, token: s.token}
			s.epoch++
		}
	}
}

// state is the lease of the housekeeping as a view shows it.
func (h *house) state() store.ShardState {
	return store.ShardState{Lease: store.Lease{Shard: maintenance, Token: h.token}, Owner: h.owner}
}

// keeping is a round of housekeeping under way.
type keeping struct {
	asking

	upkeep *core.Upkeep
	lease  store.Lease
	report store.Report
}

// maintain does a round of housekeeping.
func (r *relay) maintain(u *core.Upkeep) {
	c := &keeping{upkeep: u, lease: u.Lease}
	r.ask(&c.asking, c, storeTimeout)
}

func (c *keeping) act() error {
	if err := c.r.adopt(); err != nil {
		return err
	}
	w := c.r.w
	if h := &w.server.house; h.owner == "" || h.token != c.lease.Token {
		return store.ErrLeaseLost
	}
	w.rounds++
	c.report = store.Report{NextDue: -1}
	if w.calm {
		return nil
	}
	c.report.More = w.below(8) == 0
	c.report.NextDue = time.Duration(w.of(-1, -1, 0, 50, 5000)) * time.Millisecond
	c.report.Promoted = int64(w.below(2))
	if w.fault(Housekeeping, 50) {
		return errLost
	}
	return nil
}

func (c *keeping) answered(err error) {
	c.r.core.Maintained(c.r.now(), c.upkeep, c.r.fault(err), &c.report)
	c.r.carryOut()
}

func (c *keeping) over() {}

// judgeHouse demands that somebody kept house while the world was at rest, and not too often.
func (w *world) judgeHouse(rounds int) {
	if w.plan.faults.has(Housekeeping) && (rounds < 1 || rounds > int(restTime/time.Second)) {
		w.failf("P8", "house was kept %d times in %v, the lease is of %q", rounds, restTime, w.server.house.owner)
	}
}

package relay

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// upkeep is the housekeeping of one box, done by the relay that holds its lease.
type upkeep struct {
	ref  store.Ref
	held bool
	now  store.Lease
	busy bool
	// cancel ends the round under way.
	cancel context.CancelFunc
	next   time.Duration
	// failed is how many rounds in a row failed.
	failed int
}

// upkeepPause is the time between two rounds that found nothing to do. Rounds that fail come more and more seldom, but not at once:
// scheduled messages wait for the next one.
const upkeepPause = 2 * time.Second

func (l *loop) addUpkeep() {
	if l.options.NoMaintenance {
		return
	}
	seen := make(map[string]bool)
	for _, f := range l.flows {
		if !seen[f.ref.Box] {
			seen[f.ref.Box] = true
			l.keep = append(l.keep, &upkeep{ref: store.Ref{Box: f.ref.Box, Subscription: store.Maintenance}})
		}
	}
}

// viewUpkeep learns whether the box is ours to keep, and plans.
func (l *loop) viewUpkeep(u *upkeep, s *store.SubscriptionState, relays []store.RelayState) {
	u.held = false
	for i := range s.Shards {
		if s.Shards[i].Owner == l.id {
			u.held, u.now = true, s.Shards[i].Lease
		}
	}
	if l.stopping {
		return
	}
	take, give := engine.Plan(l.id, able(relays, u.ref), u.ref.String(), holdings(s), false)
	if len(take) > 0 && len(s.Shards) > 0 {
		l.take = append(l.take, s.Shards[0].Shard)
		l.nextBeat = min(l.nextBeat, l.now()+takePause)
	}
	if len(give) > 0 && u.held && !u.busy {
		l.give = append(l.give, u.now)
		u.held = false
		l.nextBeat = 0
	}
}

// maintain does a round of housekeeping when it is time.
// canMaintain says that housekeeping may be done once its time has come.
func (l *loop) canMaintain(u *upkeep) bool {
	return u.held && !u.busy && !l.stopping && !l.dying && l.storeFault == 0
}

func (l *loop) maintain(u *upkeep, now time.Duration) {
	if !l.canMaintain(u) || now < u.next {
		return
	}
	u.busy = true
	ctx, cancel := context.WithCancel(l.ctx)
	u.cancel = cancel
	r := store.Retention{Lease: u.now, Keep: l.options.Keep}
	l.start(func() func() {
		defer cancel()
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		report, err := l.store.Maintain(ctx, r)
		return func() {
			u.busy = false
			l.maintained(u, &report, err)
		}
	})
}

func (l *loop) maintained(u *upkeep, r *store.Report, err error) {
	now := l.now()
	u.next = now + upkeepPause
	switch {
	case errors.Is(err, store.ErrLeaseLost):
		u.held = false
		l.nextBeat = 0
		return
	case err != nil && l.stopping: // it was ended
		return
	case errors.Is(err, store.ErrMoved): // the check sees to it
		u.held = false
		l.log.moved(err)
		l.restart()
		l.storeMoved(askBeat)
		return
	case err != nil:
		u.next = now + upkeepPause*time.Duration(min(u.failed, 4)+1)
		u.failed++
		l.log.upkeepFailed(u.ref.Box, err)
		return
	}
	u.failed = 0
	l.log.upkeepWorks(u.ref.Box)
	l.log.upkeepFaults(u.ref.Box, r.Faults)
	if r.More {
		u.next = now
	}
	if r.NextDue >= 0 {
		u.next = min(u.next, now+max(r.NextDue, time.Millisecond))
	}
	if r.Promoted > 0 {
		for _, f := range l.flows {
			f.core.Woken()
		}
	}
}

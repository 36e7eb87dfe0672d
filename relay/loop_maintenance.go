package relay

import (
	"context"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// maintain does a round of housekeeping.
func (l *loop) maintain(u *core.Upkeep) {
	ctx, cancel := context.WithCancel(l.ctx)
	l.keeping[u] = cancel
	r := store.Retention{Lease: u.Lease, Keep: l.keepOf(u.Ref.Box)}
	l.start(func() func() {
		defer cancel()
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		began := time.Now()
		report, err := l.store.Maintain(ctx, r)
		took := time.Since(began)
		return func() {
			now := l.now()
			delete(l.keeping, u)
			l.maintained(now, u, &report, err)
			if err == nil {
				l.tellMaintained(u.Ref.Box, &report, took)
			}
			l.carryOut(now)
		}
	})
}

func (l *loop) maintained(now time.Duration, u *core.Upkeep, r *store.Report, err error) {
	fault := core.FaultOf(err)
	if !l.core.Maintained(now, u, fault, r) {
		l.heard(err)
		return
	}
	switch fault {
	case core.Fine:
		l.log.upkeepWorks(u.Ref.Box)
		l.log.upkeepFaults(u.Ref.Box, r.Faults)
		l.log.upkeepExpired(u.Ref.Box, r.Expired)
	case core.Moved:
		l.log.moved(err)
	case core.Failed, core.TimedOut:
		l.log.upkeepFailed(u.Ref.Box, err)
	case core.LeaseLost, core.Incurable: // another relay's by now
		l.heard(err)
	}
}

package relay

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/failpoint"
	"github.com/postbag/postbag/store"
)

// beat sends a heartbeat.
func (l *loop) beat(now time.Duration, b *core.Heartbeat) {
	b.Conditions = l.conditions(now)
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, min(storeTimeout, l.options.TTL))
		defer cancel()
		sent := time.Now()
		v, err := l.renew(ctx, b)
		came := time.Now()
		return func() {
			if err == nil {
				l.clock.heard(sent, came, v.Now)
			}
			l.beaten(b, &v, err)
		}
	})
}

// renew is the heartbeat's round trip, with points at which tests of faults end it, and
// that of identities which are given up before it.
func (l *loop) renew(ctx context.Context, b *core.Heartbeat) (v store.View, err error) {
	if err := failpoint.Hit("relay/renew/before"); err != nil {
		return v, err
	}
	for _, former := range b.Farewells() {
		if _, err := l.store.Beat(ctx, former); err != nil {
			return v, err
		}
	}
	if v, err = l.store.Beat(ctx, b.Beat); err != nil {
		return v, err
	}
	return v, failpoint.Hit("relay/renew/after")
}

// beaten takes what came of a heartbeat.
func (l *loop) beaten(b *core.Heartbeat, v *store.View, err error) {
	now := l.now()
	waited := l.core.Beaten(now, b, core.FaultOf(err), v)
	switch {
	case !waited: // it began again since
		l.heard(err)
	case isMoved(err):
		l.log.moved(err)
	case err != nil:
		l.storeFailed(fmt.Errorf("relay: the heartbeat failed: %w", err))
	case !b.Leave && v.Alive:
		l.noteView(v)
	}
	l.carryOut(now)
}

// noteView notes what people want to know of a view.
func (l *loop) noteView(v *store.View) {
	l.notePeers(v.Relays)
	l.lookAdded(v.Epoch)
	for i := range v.Subscriptions {
		s := &v.Subscriptions[i]
		if f := l.byRef[s.Ref]; f != nil {
			l.noteAssigned(f, s)
			l.notePauses(f)
			l.noteFilter(f, s)
			l.noteSettings(f)
			l.noteHolders(f, s, v.Relays)
			l.noteBeginning(f, f.Gained)
		}
	}
}

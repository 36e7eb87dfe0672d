package relay

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// due fetches parked messages that can be tried.
func (l *loop) due(c *core.DueCall) {
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
		defer cancel()
		parked, err := l.store.Due(ctx, c.Due)
		return func() { l.dueCame(c, parked, err) }
	})
}

func (l *loop) dueCame(c *core.DueCall, parked []store.Parked, err error) {
	now := l.now()
	f := l.flowOf(c.Flow)
	for i := range parked {
		l.noteUnreadable(f, &parked[i].Record, max(parked[i].Attempts, 1)+1)
	}
	switch waited := l.core.DueCame(now, c, core.FaultOf(err), parked); {
	case err == nil:
	case waited:
		l.storeFailed(fmt.Errorf("relay: reading parked messages failed: %w", err))
	default:
		l.heard(err)
	}
	l.carryOut(now)
}

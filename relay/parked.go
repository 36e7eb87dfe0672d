package relay

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// due fetches parked messages that can be tried.
func (l *loop) due(c *core.DueCall) {
	d := store.Due{
		Ref: c.Flow.Ref, Slots: slots(c.Slots), Limit: c.Limit, Bytes: c.Bytes, Followers: c.Followers, Skip: c.Skip, Topics: c.Topics,
	}
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
		defer cancel()
		parked, err := l.store.Due(ctx, d)
		return func() { l.dueCame(c, parked, err) }
	})
}

func (l *loop) dueCame(c *core.DueCall, parked []store.Parked, err error) {
	now := l.now()
	due, f := dueMessages(parked), l.flowOf(c.Flow)
	for i := range due {
		l.noteUnreadable(f, &due[i].Message, max(due[i].Attempts, 1)+1)
	}
	if l.core.DueCame(now, c, faultOf(err), due) && err != nil {
		l.storeFailed(fmt.Errorf("relay: reading parked messages failed: %w", err))
	}
	l.carryOut(now)
}

func dueMessages(parked []store.Parked) []engine.DueMessage {
	out := make([]engine.DueMessage, len(parked))
	for i := range parked {
		p := &parked[i]
		m := message(&p.Record)
		m.Seq, m.Slot, m.Key = p.Park.Seq, p.Park.Slot, p.Park.Hash
		m.Filtered = false
		out[i] = engine.DueMessage{Message: m, Attempts: p.Attempts, Blocking: p.Blocking, Held: p.State == store.ParkHeld}
	}
	return out
}

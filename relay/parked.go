package relay

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// canAskLot says that parked messages may be asked for: the store is well.
func (l *loop) canAskLot() bool { return !l.checking && l.storeFault == 0 }

// due fetches parked messages that can be tried.
func (l *loop) due(f *flow, now time.Duration) {
	if !l.canAskLot() {
		return
	}
	r, ok := f.core.Due(now)
	if !ok {
		return
	}
	d := store.Due{
		Ref: f.ref, Slots: slots(r.Slots), Limit: r.Limit, Bytes: r.Bytes, Followers: r.Followers, Skip: r.Skip, Topics: r.Topics,
	}
	generation := l.generation
	l.asking++
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
		defer cancel()
		parked, err := l.store.Due(ctx, d)
		return func() {
			l.asking--
			switch {
			case err != nil:
				f.core.DueFailed(l.now())
				if generation == l.generation {
					l.storeFailed(askMore, fmt.Errorf("relay: reading parked messages failed: %w", err))
				}
			case generation != l.generation:
				f.core.DueFailed(l.now())
			default:
				l.storeWorks(askMore)
				f.core.DueLanded(l.now(), dueMessages(parked))
			}
		}
	})
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

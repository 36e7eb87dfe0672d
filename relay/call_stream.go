package relay

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// harvestEvery is how often the answers of a call that goes on are collected.
const harvestEvery = 50 * time.Millisecond

// streaming is a call to a destination, whose answers come one by one. Most
// calls are over before anyone looks; of one that is slow, what has come so far
// is handed to the engine now and then, so that one late answer holds up nothing.
type streaming struct {
	ctx  context.Context //nolint:containedctx // the call's own: whether the relay gave it up
	flow *flow
	id   int64
	next time.Duration
	room *callRoom
	told bool // OnError knows that something failed in it

	mu    sync.Mutex
	ended bool // the room may be another call's
}

// report takes the fate of one message.
func (s *streaming) report(i int, r broker.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || i < 0 || i >= len(s.room.results) {
		return
	}
	s.room.results[i] = r
	s.room.fresh = append(s.room.fresh, i)
}

// end closes the call to reports and returns the results.
func (s *streaming) end() []broker.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.room.results
}

// harvest returns what was reported since it was last asked.
func (s *streaming) harvest() (items []int, results []broker.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, nil
	}
	items = slices.Clone(s.room.fresh)
	s.room.fresh = s.room.fresh[:0]
	for _, i := range items {
		results = append(results, s.room.results[i])
	}
	return items, results
}

// stream begins a call, which may be harvested.
func (l *loop) stream(ctx context.Context, f *flow, c *engine.Call) *streaming {
	s := &streaming{ctx: ctx, flow: f, id: c.ID, next: l.now() + harvestEvery, room: newCallRoom(f, c.Items, l.core.Life())}
	l.streams = append(l.streams, s)
	return s
}

// streamed forgets a call that is over.
func (l *loop) streamed(s *streaming) {
	l.streams = slices.DeleteFunc(l.streams, func(o *streaming) bool { return o == s })
}

// harvest hands the engine the answers of calls that go on.
func (l *loop) harvest(now time.Duration) {
	for _, s := range l.streams {
		if now < s.next {
			continue
		}
		s.next = now + harvestEvery
		items, results := s.harvest()
		answers, failed := s.flow.judge(results, gaveUp(s.ctx))
		for k, i := range items {
			s.flow.Engine.Reported(now, s.id, i, answers[k])
		}
		if failed != nil && s.told {
			s.flow.noteFailure(failed)
		} else if failed != nil {
			s.told = true
			l.destinationFailed(s.flow, failed)
		}
	}
}

package relay

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// streaming is a call to a destination, whose answers come one by one.
type streaming struct {
	ctx    context.Context //nolint:containedctx // the call's own: whether the relay gave it up
	cancel context.CancelFunc
	room   *callRoom
	items  []engine.Item
	spent  spent
	told   bool // OnError knows that something failed in it

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
	s.spent.note(i)
}

// end closes the call to reports and returns the results.
func (s *streaming) end() []broker.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.spent.end()
	return s.room.results
}

// fresh returns what was reported since it was last asked.
func (s *streaming) fresh() (places []int, results []broker.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, nil
	}
	places = slices.Clone(s.room.fresh)
	s.room.fresh = s.room.fresh[:0]
	for _, i := range places {
		results = append(results, s.room.results[i])
	}
	return places, results
}

// stream begins a call, whose answers may be collected.
func (l *loop) stream(f *flow, c *engine.Call) *streaming {
	s := &streaming{room: newCallRoom(f, c.Items, l.core.Life()), items: c.Items, spent: l.timed(len(c.Items))}
	s.ctx, s.cancel = context.WithTimeout(l.ctx, f.timeout)
	f.calls[c.ID] = s
	l.core.Ongoing(l.now(), f.Flow, c.ID)
	return s
}

// collect hands in the answers of calls that go on.
func (l *loop) collect(now time.Duration) {
	calls := l.core.Collect(now)
	for i := range calls {
		o := &calls[i]
		f := l.flowOf(o.Flow)
		s := f.calls[o.Call]
		places, results := s.fresh()
		answers, failed := f.judge(results, func(i int) string { return s.items[places[i]].Type }, gaveUp(s.ctx))
		o.Reported(now, places, answers)
		if failed != nil && s.told {
			f.noteFailure(failed)
		} else if failed != nil {
			s.told = true
			l.destinationFailed(f, failed)
		}
	}
}

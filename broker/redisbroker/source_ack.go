package redisbroker

import (
	"context"
	"slices"
	"time"

	"github.com/postbag/postbag/source"
)

// call runs what asks the server, and returns when it is over, or ctx. The client does not
// stop reading when a context ends.
func (s *Source) call(ctx context.Context, run func(ctx context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	select {
	case err := <-done:
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Ack implements source.Source. It returns when the server has answered, and an error if
// it is not known of an ack whether it arrived.
func (s *Source) Ack(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	found, lost := s.work.Find(receipts)
	if err := s.call(ctx, func(ctx context.Context) error { return s.ackAll(ctx, spotsOf(found)) }); err != nil {
		return 0, s.ended(ctx, "ack", err)
	}
	s.work.Acked(found)
	return lost, nil
}

// ended is the error of a call: that of its context, or one with its class.
func (s *Source) ended(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.translate(doing, err)
}

func spotsOf(all []working) []spot {
	entries := make([]spot, len(all))
	for i, d := range all {
		entries[i] = d.Key
	}
	return entries
}

// perStream sends commands about entries: for each stream one, with many ids. What comes
// before the ids, and behind them, is the same.
func (s *Source) perStream(ctx context.Context, all []spot, before, behind []any, command string) error {
	ids := map[int][]any{}
	for _, e := range all {
		ids[e.stream] = append(ids[e.stream], e.id)
	}
	var asks []ask
	for i := range s.streams {
		for some := range slices.Chunk(ids[i], asksAtOnce) {
			args := slices.Concat([]any{command, s.streams[i].name, s.options.Group}, before, some, behind)
			asks = append(asks, newAsk(ctx, args...))
		}
	}
	whole := s.do(ctx, asks...)
	for _, a := range asks {
		if _, err := a.answer(whole); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) ackAll(ctx context.Context, all []spot) error {
	return s.perStream(ctx, all, nil, nil, "xack")
}

// park gives entries to the consumer under which they wait. They can be claimed when they
// were idle for the ack wait, which counts as begun idle ago.
func (s *Source) park(ctx context.Context, all []spot, idle time.Duration) error {
	return s.perStream(ctx, all, []any{releasedName, 0}, []any{"idle", idle.Milliseconds(), "justid"}, "xclaim")
}

// extend begins the ack wait of entries of this source again.
func (s *Source) extend(ctx context.Context, all []spot) error {
	return s.perStream(ctx, all, []any{s.consumer, 0}, []any{"justid"}, "xclaim")
}

// ownedBy divides entries into those that a consumer has, and those that were taken away
// from it.
func (s *Source) ownedBy(ctx context.Context, consumer string, all []spot) (owned, others []spot, err error) {
	asks := make([]ask, len(all))
	for k, e := range all {
		asks[k] = newAsk(ctx, "xpending", s.streams[e.stream].name, s.options.Group, e.id, e.id, 1, consumer)
	}
	whole := s.do(ctx, asks...)
	for k, e := range all {
		answer, err := asks[k].answer(whole)
		if err != nil && !isGone(err) {
			return nil, nil, err
		}
		if pending, err := list(answer, 1); err == nil && len(pending) > 0 {
			owned = append(owned, e)
		} else {
			others = append(others, e)
		}
	}
	return owned, others, nil
}

// among returns the deliveries of entries.
func among(all []working, entries []spot) []working {
	of := make(map[spot]bool, len(entries))
	for _, e := range entries {
		of[e] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(d working) bool { return !of[d.Key] })
}

// Extend implements source.Extender.
func (s *Source) Extend(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	found, lost := s.work.Find(receipts)
	now := time.Now()
	owned, others := []spot(nil), []spot(nil)
	err = s.call(ctx, func(ctx context.Context) (err error) {
		if owned, others, err = s.ownedBy(ctx, s.consumer, spotsOf(found)); err != nil {
			return err
		}
		return s.extend(ctx, owned)
	})
	if err != nil {
		return 0, s.ended(ctx, "extend", err)
	}
	s.work.Taken(among(found, others))
	s.work.Extended(among(found, owned), now)
	return lost + len(others), nil
}

// Release implements source.Source.
func (s *Source) Release(ctx context.Context, receipts []source.Receipt, after time.Duration) error {
	done, err := s.life.Call(ctx)
	if err != nil {
		return err
	}
	defer done()
	found, _ := s.work.Find(receipts)
	due := time.Now().Add(after)
	owned := []spot(nil)
	err = s.call(ctx, func(ctx context.Context) (err error) {
		if owned, _, err = s.ownedBy(ctx, s.consumer, spotsOf(found)); err != nil {
			return err
		}
		return s.park(ctx, owned, s.idleFor(after))
	})
	if err != nil {
		return s.ended(ctx, "release", err)
	}
	s.work.Taken(found)
	if after > s.options.AckWait {
		s.hold(owned, due)
	}
	return nil
}

// atOnce is for how long an entry counts as idle that anybody may have at once.
const atOnce = 2 * maxClaimWait

// idleFor is for how long an entry counts as idle that is to come again after a time.
func (s *Source) idleFor(after time.Duration) time.Duration {
	if after <= 0 {
		return atOnce
	}
	return max(s.options.AckWait-after, 0)
}

// held are messages that were released for longer than the ack wait: the server cannot
// count so far, so the source begins their ack wait again until their time is near.
type held struct {
	spot

	due time.Time
}

// hold keeps entries back.
func (s *Source) hold(all []spot, due time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range all {
		s.held = append(s.held, held{e, due})
	}
	if !s.holding && s.ctx.Err() == nil {
		s.holding = true
		s.running.Go(s.holdOn)
	}
}

// holdOn keeps what is held back until nothing is.
func (s *Source) holdOn() {
	tick := time.NewTicker(s.options.AckWait / 4)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		s.mu.Lock()
		all := s.held
		s.held = nil
		s.mu.Unlock()
		kept := s.holdSome(all)
		s.mu.Lock()
		s.held = append(kept, s.held...)
		over := len(s.held) == 0
		s.holding = !over
		s.mu.Unlock()
		if over {
			return
		}
	}
}

// holdSome begins the ack wait of what is held again, and returns what is to be held on.
// If the server does not answer, the next tick is soon enough.
func (s *Source) holdSome(all []held) (kept []held) {
	entries := make([]spot, len(all))
	for i, h := range all {
		entries[i] = h.spot
	}
	owned, _, err := s.ownedBy(s.ctx, releasedName, entries)
	if err != nil {
		return all
	}
	still := map[spot]bool{}
	for _, e := range owned {
		still[e] = true
	}
	for idle, some := range s.byIdle(all, still) {
		if s.park(s.ctx, some, idle) != nil {
			return all
		}
	}
	for _, h := range all {
		if still[h.spot] && time.Until(h.due) > s.options.AckWait {
			kept = append(kept, h)
		}
	}
	return kept
}

// byIdle groups what is held by how long it is to count as idle.
func (s *Source) byIdle(all []held, still map[spot]bool) map[time.Duration][]spot {
	groups := map[time.Duration][]spot{}
	for _, h := range all {
		if still[h.spot] {
			idle := s.idleFor(time.Until(h.due)).Truncate(time.Millisecond)
			groups[idle] = append(groups[idle], h.spot)
		}
	}
	return groups
}

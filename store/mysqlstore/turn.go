package mysqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// Turn settles and reads; see [store.Store]. Settlements that park nothing travel
// in one round trip, while another session reads: neither needs what the other
// does. Other settlements are a transaction of some statements, and the read
// comes after it.
func (s *Store) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	if err := begun(ctx, "turn"); err != nil {
		return store.TurnResult{NextDue: -1}, err
	}
	for n := 0; ; n++ {
		w := turning{s: s, ctx: ctx, turn: t, result: store.TurnResult{NextDue: -1}}
		err := w.work()
		if errors.Is(err, errNewLife) && n < 3 {
			if err = s.enterLife(ctx); err == nil {
				continue
			}
		}
		if err != nil {
			w.result = store.TurnResult{NextDue: -1}
		}
		return w.result, translateError("turn", err)
	}
}

// errNewLife: the server was started, or another took over, since the store
// looked at it last. It never leaves the store.
var errNewLife = errors.New("the server's life is another one")

// enterLife looks at the life that the server has now.
func (s *Store) enterLife(ctx context.Context) error {
	var v serverState
	for range 3 {
		if _, err := s.row(ctx, s.serverStateText(), nil, v.dest()...); err != nil {
			return err
		}
		if err := s.accept(&v); err != nil {
			return err
		}
		if v.life != 0 {
			if err := s.seen.enter(&v); err != nil {
				return err
			}
			s.life.Store(&v)
			return nil
		}
		if err := s.beginLife(ctx); err != nil {
			return err
		}
	}
	return errors.New("the server forgets what is written to a table of ENGINE = MEMORY; allow that engine for postbag__life")
}

// turning is one Turn at work.
type turning struct {
	s      *Store
	ctx    context.Context //nolint:containedctx // it lives within one call
	turn   store.Turn
	life   *serverState
	reads  []*reading
	result store.TurnResult
	subs   []*reading // one of each subscription, for commands
}

func (w *turning) work() error {
	if w.life = w.s.life.Load(); w.life == nil {
		return errNewLife
	}
	if err := w.compose(); err != nil {
		return err
	}
	if err := w.checkLives(); err != nil {
		return err
	}
	settled, err := w.settleBeside(w.read)
	if err != nil {
		return err
	}
	w.result.Verdicts = settled
	return w.finish()
}

// settleBeside settles, and reads at the same time if neither can see the other.
func (w *turning) settleBeside(read func() error) (verdicts []store.Verdict, err error) {
	if len(w.turn.Settle) == 0 {
		return nil, read()
	}
	if !plainly(w.turn.Settle) {
		if verdicts, err = w.s.settle(w.ctx, w.life, w.turn.Settle); err != nil {
			return nil, err
		}
		return verdicts, read()
	}
	var settling sync.WaitGroup
	var settleErr error
	settling.Go(func() { verdicts, settleErr = w.s.settlePlainly(w.ctx, w.life, w.turn.Settle) })
	err = read()
	settling.Wait()
	return verdicts, errors.Join(settleErr, err)
}

// compose prepares the reads.
func (w *turning) compose() error {
	read := make(map[store.Ref]bool)
	for i := range w.turn.Read {
		r := &w.turn.Read[i]
		sub, err := w.s.subscription(w.ctx, r.Ref)
		if err != nil {
			return err
		}
		one := newReading(w.s, sub, r)
		if !read[r.Ref] {
			read[r.Ref] = true
			w.subs = append(w.subs, one)
		}
		one.slotsToo = nil
		w.reads = append(w.reads, one)
	}
	for i := range w.turn.Settle {
		h := &w.turn.Settle[i]
		if read[h.Ref] {
			continue
		}
		sub, err := w.s.subscription(w.ctx, h.Ref)
		if err != nil {
			return err
		}
		read[h.Ref] = true
		w.subs = append(w.subs, newReading(w.s, sub, &store.Request{Ref: h.Ref}))
	}
	for _, one := range w.subs {
		one.status = true
		one.slotsToo = w.slotsOf(one.about.Ref)
		one.check = w.highest(one.about.Ref)
	}
	return nil
}

// highest returns the highest position of a subscription that the Turn reads from.
func (w *turning) highest(r store.Ref) (at position) {
	for _, one := range w.reads {
		for _, p := range []*position{&one.from, &one.until} { // what is to end in a log that is not there any more has no end
			if one.about.Ref == r && one.batch.Err == nil && p.high > at.high {
				at = *p
			}
		}
	}
	return at
}

// slotsOf returns the slots of a subscription that the Turn is about.
func (w *turning) slotsOf(r store.Ref) []store.Slots {
	var out []store.Slots
	for i := range w.turn.Settle {
		if w.turn.Settle[i].Ref == r {
			out = append(out, w.turn.Settle[i].Slots)
		}
	}
	for i := range w.turn.Read {
		if w.turn.Read[i].Ref == r {
			out = append(out, w.turn.Read[i].Slots...)
		}
	}
	return out
}

// checkLives refuses positions that were read in an earlier life of the server
// and not settled in it: a crash may have undone rows that were seen, and their
// seqs are given out again.
func (w *turning) checkLives() error {
	now := w.life.tag()
	for i := range w.turn.Settle {
		p, err := decodePosition(w.turn.Settle[i].To)
		if err != nil {
			return err
		}
		if err := w.checkLife(w.turn.Settle[i].Ref, w.turn.Settle[i].To, p.life, now); err != nil {
			return err
		}
	}
	for _, r := range w.reads {
		if r.batch.Err != nil {
			continue
		}
		if err := w.checkLife(r.about.Ref, r.request.From, r.from.life, now); err != nil {
			return err
		}
	}
	return nil
}

func (w *turning) checkLife(r store.Ref, text store.Position, life, now uint32) error {
	if life == 0 || life == now {
		return nil
	}
	sub, err := w.s.subscription(w.ctx, r)
	if err != nil {
		return err
	}
	stored, err := w.s.row(w.ctx, sqlStored, []any{sub.id, []byte(text)}, new(int))
	if err == nil && !stored {
		err = fmt.Errorf("a position of %s: %w", r, store.ErrRestarted)
	}
	return err
}

// read makes all reads, each a round trip.
func (w *turning) read() error {
	todo := w.reads
	for _, one := range w.subs {
		if !slices.Contains(w.reads, one) {
			todo = append(todo, one)
		}
	}
	if len(todo) == 0 {
		return w.lookOnly()
	}
	for i, r := range todo {
		asks := r.status
		if err := r.run(w.ctx, w.life); err != nil {
			return fmt.Errorf("read %s: %w", r.about.Ref, err)
		}
		if !asks || r.seen.epoch == r.about.epoch {
			continue
		}
		if err := w.learn(r, todo[i:]); err != nil {
			return fmt.Errorf("read %s: %w", r.about.Ref, err)
		}
	}
	return nil
}

// learn looks up again what is known of the subscription of a reading that has seen another epoch.
// If that has changed, as a filter does, the reading is made again, and those that are still to come
// go by what is known now.
func (w *turning) learn(r *reading, rest []*reading) error {
	about, err := w.s.subscription(w.ctx, r.about.Ref)
	if err != nil || about.same(&r.about) {
		return err
	}
	for _, other := range rest {
		if other.about.Ref == about.Ref {
			other.begin(about, slices.Contains(w.subs, other))
		}
	}
	return r.run(w.ctx, w.life)
}

// lookOnly answers a Turn that is about nothing.
func (w *turning) lookOnly() error {
	var v serverState
	if _, err := w.s.row(w.ctx, w.s.serverStateText(), nil, v.dest()...); err != nil {
		return err
	}
	w.result.Epoch = v.epoch
	return w.s.accept(&v)
}

// finish puts the answer together, and asks for commands where there are any.
func (w *turning) finish() error {
	for _, one := range w.subs {
		w.result.Epoch = one.seen.epoch
		slots := storekit.SlotsOf(one.slotsToo)
		next := one.ready
		var err error
		if next.Valid && !slots.All {
			if next, err = dialect.FirstReady(w.s.query(w.ctx), one.about.id, slots); err != nil {
				return err
			}
		}
		if next.Valid {
			if d := sqlkit.Until(next.Int64, one.seen.now); w.result.NextDue < 0 || d < w.result.NextDue {
				w.result.NextDue = d
			}
		}
		if one.commands {
			w.result.Commands, err = w.s.base.AppendCommands(w.ctx, w.result.Commands, one.about.Ref, one.about.id, slots, one.seen.now)
			if err != nil {
				return err
			}
		}
	}
	slices.SortFunc(w.result.Commands, func(a, b store.Command) int { return cmp.Compare(a.ID, b.ID) })
	w.result.Batches = make([]store.Batch, len(w.reads))
	for i, r := range w.reads {
		w.result.Batches[i] = r.batch
	}
	return nil
}

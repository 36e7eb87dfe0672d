package memstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sort"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Declare implements store.Store.
func (s *Store) Declare(ctx context.Context, specs []store.Spec) error {
	_, err := call(ctx, s, OpDeclare, func() (struct{}, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		var errs []error
		for _, spec := range specs {
			if err := s.declare(spec); err != nil {
				errs = append(errs, fmt.Errorf("memstore: declare %s: %w", spec.Ref, err))
			}
		}
		return struct{}{}, errors.Join(errs...)
	})
	return err
}

// declare makes one subscription, if it is missing. The caller holds s.mu.
func (s *Store) declare(spec store.Spec) error {
	b, err := s.box(spec.Box)
	if err != nil {
		return err
	}
	if spec.Subscription == "" || strings.HasPrefix(spec.Subscription, "@") {
		return errors.New("the name is empty or begins with @, which is kept for the store; choose another")
	}
	if err := storekit.CheckFilter(spec.Filter()); err != nil {
		return err
	}
	if spec.DeadTo != "" {
		to, err := s.box(spec.DeadTo)
		if err != nil {
			return fmt.Errorf("the box of its dead letters: %w", err)
		}
		if err := storekit.LettersFit(b.slots, to.slots, spec.DeadTo); err != nil {
			return err
		}
	}
	if sub := b.subs[spec.Subscription]; sub != nil {
		if sub.replay != nil {
			return store.ErrIsReplay
		}
		if has := (store.Filter{Types: sub.types, Where: sub.where}); sub.typesBy == "" && !storekit.SameFilter(has, spec.Filter()) {
			return storekit.FilterDiffers(spec.Filter(), has)
		}
		return nil
	}
	if _, gone := b.removed[spec.Subscription]; gone {
		return nil
	}
	if err := storekit.CheckNewFilter(spec.Filter()); err != nil {
		return err
	}
	shards := spec.Shards
	switch {
	case shards < 0 || shards > store.SlotCount:
		return fmt.Errorf("%d shards; ask for 1 to %d, or for 0 to have the default", shards, store.SlotCount)
	case shards == 0 && s.opts.SingleWriter:
		shards = 1
	case shards == 0:
		shards = 4
	}
	sub := newSubscription(b, spec.Subscription, shards)
	sub.filtered(spec.Filter())
	sub.made = s.now().UTC()
	s.start(sub, spec.From)
	b.subs[spec.Subscription] = sub
	s.flush()
	s.epoch++
	return nil
}

// start puts sub where it is to begin, and takes down what lies before that.
func (s *Store) start(sub *subscription, from store.Start) {
	b := sub.box
	now := s.snapshot(b)
	var p position
	switch {
	case from.Now:
		p = position{life: s.life, done: now}
	case !from.At.IsZero():
		p = position{life: s.life, to: &now, top: b.log.last, after: b.log.before(from.At)}
	case from.After > 0:
		p = position{life: s.life, to: &now, top: b.log.last, after: min(from.After, b.log.last)}
	}
	if from.Now || p.to != nil {
		at := p.encode()
		for _, sh := range sub.shards {
			sh.position = at
		}
		sub.begun = p.floor()
	}
	maps.Copy(sub.before, b.dropped)
	for seq := b.log.skip(b.log.base); seq <= b.log.last; seq = b.log.skip(seq + 1) {
		if r := b.log.at(seq); r != nil && p.passed(r) {
			sub.before[spanOf(seq)] = sub.before[spanOf(seq)].add(sumOf(r))
		}
	}
}

// before returns the highest seq whose row, and all below it, were stored before
// t. Rows are stored in the order of seq.
func (l *log) before(t time.Time) int64 {
	n := l.last - l.base + 1
	i := sort.Search(int(n), func(i int) bool {
		for seq := l.skip(l.base + int64(i)); seq <= l.last; seq = l.skip(seq + 1) {
			if r := l.at(seq); r != nil {
				return !r.At.Before(t)
			}
		}
		return true
	})
	return l.base + int64(i) - 1
}

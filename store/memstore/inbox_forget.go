package memstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// How many marks Forget looks at while others wait, and in one call.
const (
	forgetBatch = 500
	forgetMost  = 5000
)

// DeclareConsumer implements store.Forgetter.
func (s *Store) DeclareConsumer(ctx context.Context, consumer string, keep time.Duration) error {
	_, err := call(ctx, s, OpConsumer, func() (struct{}, error) {
		var err error
		switch {
		case consumer == "" || len(consumer) > store.MaxConsumer:
			err = fmt.Errorf("the name has %d bytes; give it 1 to %d", len(consumer), store.MaxConsumer)
		case keep < time.Minute:
			err = errors.New("keep is less than a minute; marks must outlast what is delivered again")
		}
		if err != nil {
			return struct{}{}, fmt.Errorf("memstore: declare consumer %q: %w", consumer, err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.consumers[consumer] = keep
		return struct{}{}, nil
	})
	return err
}

// Consumers implements store.Forgetter.
func (s *Store) Consumers(ctx context.Context) ([]store.Consumer, error) {
	return call(ctx, s, OpConsumers, func() ([]store.Consumer, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		all := make([]store.Consumer, 0, len(s.consumers))
		for name, keep := range s.consumers {
			all = append(all, store.Consumer{Name: name, Keep: keep})
		}
		slices.SortFunc(all, func(a, b store.Consumer) int { return cmp.Compare(a.Name, b.Name) })
		return all, nil
	})
}

// Forget implements store.Forgetter. It looks at 5,000 marks at most.
func (s *Store) Forget(ctx context.Context) (store.Forgotten, error) {
	return call(ctx, s, OpForget, func() (out store.Forgotten, err error) {
		if !s.forgetting.CompareAndSwap(false, true) {
			return store.Forgotten{Busy: true}, nil
		}
		defer s.forgetting.Store(false)
		s.beginWalk()
		for looked := 0; looked < forgetMost && !out.Done; looked += forgetBatch {
			if err := ctx.Err(); err != nil {
				return out, fmt.Errorf("memstore: forget: %w", err)
			}
			s.forgetSome(&out)
			runtime.Gosched() // consumers come first
		}
		return out, nil
	})
}

// beginWalk lists what is to be looked at, if the last walk came to its end.
func (s *Store) beginWalk() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.unlooked) > 0 {
		return
	}
	for name := range s.marks {
		s.unlooked = append(s.unlooked, name)
	}
}

// forgetSome looks at one batch. Marks of open transactions are not seen.
func (s *Store) forgetSome(out *store.Forgotten) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	n := min(forgetBatch, len(s.unlooked))
	for _, name := range s.unlooked[:n] {
		row := s.marks[name]
		if row == nil || row.writer != nil {
			continue
		}
		out.Looked++
		if now.Sub(row.at) > s.keepOf(name.consumer) {
			delete(s.marks, name)
			out.Removed++
		}
	}
	s.unlooked = s.unlooked[n:]
	if out.Done = len(s.unlooked) == 0; out.Done {
		s.unlooked = nil
	}
}

// keepOf is for how long a consumer's marks are kept. The caller holds s.mu.
func (s *Store) keepOf(consumer string) time.Duration {
	if keep, declared := s.consumers[consumer]; declared {
		return keep
	}
	return store.DefaultKeep
}

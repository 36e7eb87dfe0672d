package relay

import (
	"context"
	"fmt"
	"sync"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// load fetches the blocked keys of shards that were just taken, then gives them to
// the flow: take the lease, load what is blocked, read, in this order. Shards that
// were taken together begin together, so that those at one position are read as one.
func (l *loop) load(f *flow, gained []store.ShardState) {
	for i := range gained {
		f.owner.Load(leaseOf(&gained[i]))
	}
	generation := l.generation
	l.asking++
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
		defer cancel()
		blocked, errs := blockedKeys(ctx, l.store, gained)
		return func() {
			l.asking--
			if generation != l.generation {
				return
			}
			for i := range gained {
				l.loaded(f, &gained[i], blocked[i], errs[i])
			}
		}
	})
}

// loadsAtATime bounds the reads of blocked keys under way.
const loadsAtATime = 4

// blockedKeys reads the blocked keys of shards.
func blockedKeys(ctx context.Context, s store.Store, shards []store.ShardState) ([]store.Blocks, []error) {
	blocks, errs := make([]store.Blocks, len(shards)), make([]error, len(shards))
	var wg sync.WaitGroup
	for first := range min(loadsAtATime, len(shards)) {
		wg.Go(func() {
			for i := first; i < len(shards); i += loadsAtATime {
				blocks[i], errs[i] = s.Blocked(ctx, shards[i].Lease)
			}
		})
	}
	wg.Wait()
	return blocks, errs
}

// loaded gives a shard to its flow, unless it became another one's, or was replaced,
// while it was loaded.
func (l *loop) loaded(f *flow, sh *store.ShardState, blocked store.Blocks, err error) {
	if !f.owner.Loaded(leaseOf(sh)) {
		return
	}
	switch {
	case err != nil:
		l.storeFailed(askMore, fmt.Errorf("relay: reading blocked keys failed: %w", err))
		l.nextBeat = 0
		return
	case l.dying:
		return
	}
	l.storeWorks(askMore)
	f.core.Add(leaseOf(sh), string(sh.Position), blocked.Keys, heldTopics(blocked.Held)...)
	if leave := f.owner.Got(sh.Lo); leave || l.stopping {
		f.core.Leave(sh.Lo)
	}
}

// leaseOf is a shard's lease as the engine takes it.
func leaseOf(sh *store.ShardState) engine.Lease {
	return engine.Lease{Lo: sh.Lo, Hi: sh.Hi, Token: sh.Token, Version: sh.Version}
}

// heldTopics are the topics that messages of a shard are held for, as the engine takes
// them.
func heldTopics(held []store.HeldTopic) []engine.HeldTopic {
	out := make([]engine.HeldTopic, len(held))
	for i, h := range held {
		out[i] = engine.HeldTopic{Topic: h.Topic, Messages: int(h.Messages)}
	}
	return out
}

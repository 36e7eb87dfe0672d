package relay

import (
	"context"
	"fmt"
	"sync"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// load fetches the blocked keys of shards that were just taken.
func (l *loop) load(o *core.Loading) {
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
		defer cancel()
		blocks, errs := blockedKeys(ctx, l.store, o.Shards)
		return func() { l.loaded(o, blocks, errs) }
	})
}

// loaded hands on what was fetched.
func (l *loop) loaded(o *core.Loading, blocks []store.Blocks, errs []error) {
	now := l.now()
	for i, awaited := range l.core.LoadEnded(now, o, blocks, errs) {
		if err := errs[i]; awaited && err != nil {
			l.storeFailed(fmt.Errorf("relay: reading blocked keys failed: %w", err))
		} else {
			l.heard(err)
		}
	}
	l.carryOut(now)
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

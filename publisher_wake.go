package postbag

import (
	"context"
	"slices"
	"sync"
)

// committer is a publisher of any transaction, as far as waking goes.
type committer interface{ Committed() }

// wakeCalls gathers, while an InTx runs, the publishers whose relays are to be
// woken after its commit. It travels in the context, so that a second publisher
// with another box that writes in the same transaction is remembered too.
type wakeCalls struct {
	outer *wakeCalls // of the InTx around this one, if any

	mu   sync.Mutex
	list []committer // distinct
}

type wakeCallsKey struct{}

func withWakeCalls(ctx context.Context) (context.Context, *wakeCalls) {
	outer, _ := ctx.Value(wakeCallsKey{}).(*wakeCalls)
	calls := &wakeCalls{outer: outer}
	return context.WithValue(ctx, wakeCallsKey{}, calls), calls
}

// wakeAfterCommit has p's relays woken after the commit of the InTx that ctx
// comes from, if any. Of nested ones it cannot tell which transaction was
// written to, and asks all of them: one hint too many does no harm.
func wakeAfterCommit(ctx context.Context, p committer) {
	calls, _ := ctx.Value(wakeCallsKey{}).(*wakeCalls)
	for ; calls != nil; calls = calls.outer {
		calls.add(p)
	}
}

func (c *wakeCalls) add(p committer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.list, p) {
		c.list = append(c.list, p)
	}
}

func (c *wakeCalls) wake() {
	c.mu.Lock()
	list := c.list
	c.mu.Unlock()
	for _, p := range list {
		p.Committed()
	}
}

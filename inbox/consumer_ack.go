package inbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/postbag/postbag/source"
)

// acks are messages that are committed, and whose acknowledgement is owed. It is safe for
// concurrent use.
type acks struct {
	more chan struct{} // has room for one

	mu    sync.Mutex
	tasks []*task
}

func newAcks() *acks { return &acks{more: make(chan struct{}, 1)} }

func (a *acks) add(t *task) {
	a.mu.Lock()
	a.tasks = append(a.tasks, t)
	a.mu.Unlock()
	select {
	case a.more <- struct{}{}:
	default:
	}
}

func (a *acks) take() []*task {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.tasks
	a.tasks = nil
	return all
}

// acknowledge acknowledges what is committed, until over is closed and nothing is left, or
// ctx ends. What fails is acknowledged again: a broker that keeps a position would else wait
// for it for ever.
func (c *Consumer[Tx]) acknowledge(ctx context.Context, over <-chan struct{}) {
	t := ackTrouble(c.log, c.o.OnError)
	for last := false; !last; {
		select {
		case <-c.acks.more:
		case <-over:
			last = true // what is there now is all
		case <-ctx.Done():
			return
		}
		if !c.send(ctx, t, c.acks.take()) {
			return
		}
	}
}

// send acknowledges messages, however often it takes. It returns false if the source is
// closed, or ctx ends.
func (c *Consumer[Tx]) send(ctx context.Context, t *trouble, tasks []*task) bool {
	if len(tasks) == 0 {
		return true
	}
	receipts := make([]source.Receipt, len(tasks))
	for i := range tasks {
		receipts[i] = tasks[i].from.Receipt
	}
	for {
		lost, err := c.o.Source.Ack(ctx, receipts)
		switch {
		case err == nil:
			t.over()
			c.lost.Add(int64(lost))
			c.hand.free(tasks)
			return true
		case errors.Is(err, source.ErrClosed):
			c.end(fmt.Errorf("inbox: consume: acknowledge: %w", err))
			return false
		case ctx.Err() != nil:
			return false
		}
		c.failedAcks.Add(1)
		t.met(ctx, fmt.Errorf("inbox: consume: acknowledge: %w", err))
	}
}

// extend tells the broker again and again that what is in hand is at work, until over is
// closed or ctx ends.
func (c *Consumer[Tx]) extend(ctx context.Context, over <-chan struct{}) {
	e, can := c.o.Source.(source.Extender)
	wait := c.o.Source.Features().AckWait
	if !can || wait <= 0 {
		return
	}
	t := extendTrouble(c.log, c.o.OnError)
	tick := time.NewTicker(max(wait/3, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-over:
			return
		case <-ctx.Done():
			return
		}
		receipts := c.hand.receipts()
		if len(receipts) == 0 {
			continue
		}
		c.extendOnce(ctx, t, e, receipts, wait)
	}
}

func (c *Consumer[Tx]) extendOnce(ctx context.Context, t *trouble, e source.Extender, receipts []source.Receipt, wait time.Duration) {
	call, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	_, err := e.Extend(call, receipts)
	switch {
	case err == nil:
		t.over()
	case ctx.Err() == nil:
		c.failedExtends.Add(1)
		t.note(fmt.Errorf("inbox: consume: extend the ack wait: %w", err))
	}
}

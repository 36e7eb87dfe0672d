package redisbroker

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
)

const (
	// smallestLimit is the least that proto-max-bulk-len can be: what is no larger
	// need not be compared with it.
	smallestLimit = 1 << 20
	// usualLimit is its default.
	usualLimit = 512 << 20
	// limitTrust is how long the server's limit is remembered. One who raised it
	// need not wait: a message that was refused for it asks again.
	limitTrust = time.Minute
	// limitWait is how long the server may take to tell it.
	limitWait = 5 * time.Second
)

// largest is the server's limit for one part of a command, above which it closes
// the connection and with it takes the answers of all others.
type largest struct {
	mu      sync.Mutex
	limit   int
	checked time.Time
}

// fits says why an entry is too large to be sent.
func (d *Destination) fits(ctx context.Context, e *addition) *broker.Error {
	if limit := d.options.MaxBytes; limit > 0 && len(e.body.bytes) > limit {
		return adapter.Failure(broker.Rejected, fmt.Sprintf("the payload has %d bytes, Options.MaxBytes allows %d", len(e.body.bytes), limit), "send less")
	}
	if e.large <= smallestLimit {
		return nil
	}
	if limit := d.limit(ctx, e.again); e.large > limit {
		return adapter.Failure(broker.Rejected, fmt.Sprintf("a part of the message has %d bytes, the server allows %d", e.large, limit),
			"send less, or raise proto-max-bulk-len")
	}
	return nil
}

// limit returns the server's limit, from memory or by asking. The asking is done by
// a goroutine of its own, because a client does not stop reading when ctx ends.
func (d *Destination) limit(ctx context.Context, anew bool) int {
	limit, fresh := d.largest.known(anew)
	if fresh || !d.guard.Enter() {
		return limit
	}
	answer := make(chan int, 1)
	go func() {
		defer d.guard.Leave()
		answer <- d.askLimit(ctx)
	}()
	select {
	case told := <-answer:
		return d.largest.learn(told)
	case <-ctx.Done():
		return limit
	}
}

// askLimit returns zero where the server does not tell.
func (d *Destination) askLimit(ctx context.Context) int {
	const name = "proto-max-bulk-len"
	ctx, cancel := context.WithTimeout(ctx, limitWait)
	defer cancel()
	settings, err := d.client.ConfigGet(ctx, name).Result()
	if err != nil {
		return 0
	}
	limit, err := strconv.Atoi(settings[name])
	if err != nil {
		return 0
	}
	return limit
}

// known returns what was learnt, or the usual limit, and whether it may be trusted.
func (l *largest) known(anew bool) (limit int, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limit == 0 {
		return usualLimit, false
	}
	return l.limit, !anew && time.Since(l.checked) < limitTrust
}

// learn keeps what the server told, zero for nothing, and returns what is known now.
func (l *largest) learn(told int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checked = time.Now()
	switch {
	case told >= smallestLimit:
		l.limit = told
	case l.limit == 0:
		l.limit = usualLimit
	}
	return l.limit
}

package natsbroker

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// inbox is the one subscription through which all answers come. It is made by the
// first call, so that a destination that is never used costs nothing.
type inbox struct {
	nc       *nats.Conn
	answered func(call uint64, i int, m *nats.Msg)
	lost     func() // the connection is gone, and with it the answers under way

	mu       sync.Mutex
	prefix   string // of reply subjects; empty: not made
	sub      *nats.Subscription
	status   chan nats.Status
	watching sync.WaitGroup

	seen     sync.Mutex
	accepted bool // by the server, since the last loss of the connection
}

// open makes the inbox if there is none, and has the server confirm it, which it
// does not do by itself: it speaks up only when the user may not subscribe.
func (b *inbox) open(ctx context.Context) *broker.Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.prefix == "" {
		if err := b.make(); err != nil {
			return brokerkit.NotSent(translateError(err))
		}
	}
	if b.isAccepted() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	if err := b.nc.FlushWithContext(ctx); err != nil {
		return brokerkit.NotSent(translateError(err))
	}
	if err := b.nc.LastError(); errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), b.prefix) {
		return adapter.Failure(broker.Misconfigured, "the server forbids this user to subscribe to its inbox",
			"grant it, or set nats.CustomInboxPrefix to one that is granted")
	}
	b.setAccepted(true)
	return nil
}

func (b *inbox) make() error {
	prefix := b.nc.NewInbox() + "."
	sub, err := b.nc.Subscribe(prefix+"*", func(m *nats.Msg) {
		if call, i, ok := readToken(m.Subject[len(prefix):]); ok {
			b.answered(call, i, m)
		}
	})
	if err != nil {
		return err
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil { // MaxPending bounds them, and one dropped is a message in doubt
		return errors.Join(err, sub.Unsubscribe())
	}
	b.prefix, b.sub = prefix, sub
	b.status = b.nc.StatusChanged(nats.DISCONNECTED, nats.RECONNECTING, nats.CLOSED)
	b.watching.Go(func() {
		for range b.status {
			b.setAccepted(false)
			b.lost()
		}
	})
	return nil
}

// close removes the inbox and waits for its goroutine.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.prefix == "" {
		return
	}
	_ = b.sub.Unsubscribe() // fails on a connection that is closed, which has no subscriptions
	b.nc.RemoveStatusListener(b.status)
	b.watching.Wait()
	b.prefix = ""
}

// subjects is what the reply subjects begin with.
func (b *inbox) subjects() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.prefix
}

func (b *inbox) isAccepted() bool {
	b.seen.Lock()
	defer b.seen.Unlock()
	return b.accepted
}

func (b *inbox) setAccepted(accepted bool) {
	b.seen.Lock()
	defer b.seen.Unlock()
	b.accepted = accepted
}

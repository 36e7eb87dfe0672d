package sourcekit

import (
	"context"
	"sync"

	"github.com/postbag/postbag/source"
)

// Life is that of a source, from open to closed. The zero Life is open. It is safe for
// concurrent use.
type Life struct {
	mu       sync.Mutex
	fetching context.CancelCauseFunc // ends the Fetch that is inside, nil for none
	shut     bool
	inside   int
	empty    chan struct{} // closed when shut and nobody is inside
	over     chan struct{} // closed when the source is closed
	err      error         // what Close returns then
}

// Fetch lets one Fetch in. work is a context that ends with ctx, and with Close: then its
// cause is ErrClosed. Call done when the Fetch is over. The error is ErrBusy, ErrClosed, or
// that of ctx if it has ended.
func (l *Life) Fetch(ctx context.Context) (work context.Context, done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.closed(ctx); err != nil {
		return nil, nil, err
	}
	if l.fetching != nil {
		return nil, nil, source.ErrBusy
	}
	work, cancel := context.WithCancelCause(ctx)
	l.fetching = cancel
	l.inside++
	return work, sync.OnceFunc(func() {
		cancel(nil)
		l.leave(true)
	}), nil
}

// Await is what a Fetch does behind Life.Fetch whose messages come in the background: it takes
// until there is a message, something lost, or an error, and waits for a note in wake between.
// When work has ended, it returns its cause.
func Await(work context.Context, wake <-chan struct{}, take func() (source.Batch, error)) (source.Batch, error) {
	for {
		if work.Err() != nil {
			return source.Batch{}, context.Cause(work)
		}
		batch, err := take()
		if err != nil || len(batch.Messages) > 0 || len(batch.Lost) > 0 {
			return batch, err
		}
		select {
		case <-wake:
		case <-work.Done():
		}
	}
}

// Call lets in an Ack, or another call that does not wait long. Call done when it is over:
// Close waits for that. The error is ErrClosed, or that of ctx if it has ended.
func (l *Life) Call(ctx context.Context) (done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.closed(ctx); err != nil {
		return nil, err
	}
	l.inside++
	return sync.OnceFunc(func() { l.leave(false) }), nil
}

// closed says why nothing is let in. The caller holds the lock.
func (l *Life) closed(ctx context.Context) error {
	if l.shut {
		return source.ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (l *Life) leave(fetch bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inside--
	if fetch {
		l.fetching = nil
	}
	if l.shut && l.inside == 0 {
		close(l.empty)
	}
}

// Close lets nothing in any more, ends the Fetch that waits, and waits for those inside,
// but no longer than ctx. Then end runs, once, with the ctx of the call that was first. It
// closes the source, within that ctx. Each call of Close returns what end returned, or the
// error of its own ctx if that ends before.
func (l *Life) Close(ctx context.Context, end func(ctx context.Context) error) error {
	if l.refuse() {
		select {
		case <-l.empty:
		case <-ctx.Done():
		}
		l.err = end(ctx)
		close(l.over)
	}
	select {
	case <-l.over:
		return l.err
	default:
	}
	select {
	case <-l.over:
		return l.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// refuse lets nothing in any more, and says whether it was the first to do so.
func (l *Life) refuse() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut {
		return false
	}
	l.shut, l.empty, l.over = true, make(chan struct{}), make(chan struct{})
	if l.fetching != nil {
		l.fetching(source.ErrClosed)
	}
	if l.inside == 0 {
		close(l.empty)
	}
	return true
}

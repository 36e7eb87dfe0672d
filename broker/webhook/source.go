package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Source takes webhooks in. It is an http.Handler: a request waits in it until a Fetch
// returns its message, and until its Ack, and is then answered with 204. So a consumer that
// acks after its commit answers 2xx after its commit. A request that is not acked within
// SourceOptions.AnswerWithin, or is released, is answered with 503, and comes again when
// its sender tries again.
//
// A Fetch returns all requests that wait, so an inbox.Receiver stores many in one
// transaction.
//
// Make it with NewSource. It is safe for concurrent use; one goroutine fetches.
type Source struct {
	settings sourceSettings
	life     sourcekit.Life

	mu      sync.Mutex
	shut    bool
	inHand  int   // requests that count for SourceOptions.Requests
	memory  int64 // bytes that count for SourceOptions.Memory
	number  uint64
	queue   []*request // wait for a Fetch, the oldest first
	atWork  map[uint64]*request
	lost    lostNumbers
	stalled bool // a request waited for too long, and nothing has moved since
	idle    bool // a Fetch waits
	waiting int  // requests that were queued, and whose answer is not written
	written chan struct{}

	arrived chan struct{} // holds one entry if something was queued

	accepted, refused, unavailable, gone atomic.Int64
}

var (
	_ source.Source = (*Source)(nil)
	_ http.Handler  = (*Source)(nil)
)

// request is one that was read and verified, and waits for its answer.
type request struct {
	number uint64
	m      source.Message
	answer chan answer // has room for one
}

// NewSource returns a source. It does no I/O. The error names all bad options at once.
// Serve requests with it, and close it after the server was shut down.
func NewSource(o SourceOptions) (*Source, error) {
	s, err := o.resolve()
	if err != nil {
		return nil, err
	}
	return &Source{
		settings: s, atWork: map[uint64]*request{}, lost: lostNumbers{most: 4 * s.Requests},
		arrived: make(chan struct{}, 1), written: make(chan struct{}),
	}, nil
}

// String names the source without its secrets.
func (s *Source) String() string { return "webhooks" }

// GoString is String, so that no format prints secrets.
func (s *Source) GoString() string { return s.String() }

// Features implements source.Source. There is no order: a sender that wants one waits for
// each answer before it sends the next message.
func (s *Source) Features() source.Features {
	return source.Features{Order: source.OrderNone, AckWait: s.settings.AnswerWithin, MaxUnacked: s.settings.Requests, Binding: broker.BindingHTTP}
}

// SourceStats are what a Source counted since it was made.
type SourceStats struct {
	// Accepted is how many requests were answered with 204. Refused were answered with 4xx,
	// Unavailable with 503.
	Accepted, Refused, Unavailable int64
	// Gone is how many of the latter there were because the sender hung up.
	Gone int64
}

// Stats returns what s counted so far. It is safe for concurrent use.
func (s *Source) Stats() SourceStats {
	return SourceStats{Accepted: s.accepted.Load(), Refused: s.refused.Load(), Unavailable: s.unavailable.Load(), Gone: s.gone.Load()}
}

// Close implements source.Source. Requests that are not acked, and those that come later,
// are answered with 503. It waits until the answers are written.
func (s *Source) Close(ctx context.Context) error {
	return s.life.Close(ctx, func(ctx context.Context) error {
		s.mu.Lock()
		s.shut = true
		for _, r := range s.queue {
			r.answer <- s.busy(errClosing)
		}
		for _, r := range s.atWork {
			r.answer <- s.busy(errClosing)
		}
		s.queue, s.atWork = nil, nil
		if s.waiting == 0 {
			close(s.written)
		}
		s.mu.Unlock()
		select {
		case <-s.written:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("webhook: close: answers were not written in time: %w; give Close more time", context.Cause(ctx))
		}
	})
}

var errClosing = errors.New("webhook: the source is closed; send it again")

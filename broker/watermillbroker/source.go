package watermillbroker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Source takes messages from a Watermill subscriber. Ack is the message's Ack, and Release
// its Nack.
//
// Most subscribers give the next message of a topic, or of a partition, only when the one
// before is acked. Then a batch has no more than one message of each. Others give many.
// The source works with both.
//
// It subscribes again by itself when a subscription has ended. Fetch says once that it did.
//
// Make it with OpenSource. It is safe for concurrent use; one goroutine fetches.
type Source struct {
	from    message.Subscriber
	options SourceOptions
	life    sourcekit.Life

	ctx      context.Context //nolint:containedctx // of the subscriptions; ends in Close
	cancel   context.CancelFunc
	closing  chan struct{} // closed when nothing more is taken
	draining chan struct{} // closed when the subscriptions are about to end
	links    sync.WaitGroup

	work    *sourcekit.AtWork[uint64, *arrival]
	arrived chan struct{} // holds one entry if a Fetch should look again

	mu       sync.Mutex
	shut     bool
	number   uint64
	inHand   map[uint64]*arrival // all that the subscriber gave and that is not acked or nacked
	bytes    int64               // of them
	atWork   int                 // those that are at work or held
	queue    []*arrival          // those that wait for a Fetch, the oldest first
	freed    chan struct{}       // closed when there is more room
	unheard  map[uint64]*arrival // acked, and the subscriber may not have heard it yet
	silent   bool                // it does not end the contexts of what is acked
	heard    chan struct{}       // closed when unheard has become smaller
	troubles []error             // ends of subscriptions that Fetch has not told
}

var _ source.Source = (*Source)(nil)

// OpenSource subscribes to the topics, and returns the source. ctx bounds that alone. The
// error names every fault of the options, or the topic that cannot be subscribed to:
// source.ErrMisconfigured if the subscriber's error is of that class, or else
// source.ErrUnavailable.
func OpenSource(ctx context.Context, from message.Subscriber, o SourceOptions) (*Source, error) {
	err := o.Validate()
	if from == nil {
		err = errors.Join(err, errors.New("watermillbroker: the subscriber is nil; give OpenSource one"))
	}
	if err != nil {
		return nil, err
	}
	s := &Source{
		from: from, options: o.withDefaults(), closing: make(chan struct{}), draining: make(chan struct{}),
		work: sourcekit.NewAtWork[uint64, *arrival](), arrived: make(chan struct{}, 1),
		inHand: map[uint64]*arrival{}, unheard: map[uint64]*arrival{},
		freed: make(chan struct{}), heard: make(chan struct{}),
	}
	s.work.AckWait = forever
	// They last until Close, and not until the ctx of the opening ends.
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	opened := make(chan error, len(s.options.Topics))
	for _, topic := range s.options.Topics {
		s.links.Go(func() { s.link(topic, opened) })
	}
	for range s.options.Topics {
		select {
		case err = <-opened:
		case <-ctx.Done():
			err = fmt.Errorf("watermillbroker: the subscriber has not subscribed in time: %w; look at what it connects to", context.Cause(ctx))
		}
		if err != nil {
			over, cancel := context.WithTimeout(context.WithoutCancel(ctx), nackWait)
			defer cancel()
			_ = s.Close(over) // the first error says more
			return nil, err
		}
	}
	return s, nil
}

// forever is longer than any message is at work: how long a subscriber waits for an ack is
// not known, and the contexts of messages say when it has given up.
const forever = 100 * 365 * 24 * time.Hour

// Features implements source.Source. There is no order: Watermill has no word for the loss
// of a message.
func (s *Source) Features() source.Features {
	return source.Features{Order: source.OrderNone, AckWait: s.options.AckWait, MaxUnacked: s.options.Messages, Binding: s.options.Binding}
}

// nackWait is how long Close waits until the subscriber has heard of what comes again. Some
// do not tell.
const nackWait = 250 * time.Millisecond

// Close implements source.Source. It waits until the subscriber has heard the acks, nacks
// what was not acked, and ends the subscriptions, and so the contexts of messages. The
// subscriber stays open, unless SourceOptions.CloseSubscriber is set.
func (s *Source) Close(ctx context.Context) error {
	return s.life.Close(ctx, func(ctx context.Context) error {
		s.mu.Lock()
		s.shut = true
		s.mu.Unlock()
		close(s.closing)
		var faults []error
		if !s.await(ctx, s.options.AcksWithin, s.acksOutstanding) {
			faults = append(faults, errors.New("watermillbroker: close: the subscriber has not ended the context of every message that was acked; those may come again"))
		}
		left := s.giveUp()
		s.await(ctx, nackWait, func() int { return alive(left) })
		unwatch(left)
		close(s.draining)
		ended := make(chan error, 1)
		go func() {
			err := s.closeSubscriber() // first: the end of a context can undo an ack that is on its way
			s.cancel()
			s.links.Wait()
			ended <- err
		}()
		select {
		case err := <-ended:
			faults = append(faults, err)
		case <-ctx.Done():
			s.cancel()
			faults = append(faults, fmt.Errorf("watermillbroker: close: the subscriber has not ended its subscriptions in time: %w; close it, or give Close more time", context.Cause(ctx)))
		}
		return errors.Join(faults...)
	})
}

func (s *Source) closeSubscriber() (err error) {
	if !s.options.CloseSubscriber {
		return nil
	}
	defer func() {
		if v := recover(); v != nil { // its value may hold anything
			err = fmt.Errorf("watermillbroker: close: the subscriber panicked (%T); look at it", v)
		}
	}()
	if err := s.from.Close(); err != nil {
		return fmt.Errorf("watermillbroker: close: the subscriber: %w; look at what it connects to", err)
	}
	return nil
}

// await waits until nothing is outstanding, and says whether that came to be within d and
// ctx.
func (s *Source) await(ctx context.Context, d time.Duration, outstanding func() int) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		s.mu.Lock()
		heard := s.heard
		s.mu.Unlock()
		if outstanding() == 0 {
			return true
		}
		select {
		case <-heard:
		case <-timer.C:
			return outstanding() == 0
		case <-ctx.Done():
			return outstanding() == 0
		}
	}
}

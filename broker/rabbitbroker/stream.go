package rabbitbroker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// StreamSource takes messages from a stream of RabbitMQ, in sequence. Make it with
// OpenStream. It is safe for concurrent use; one goroutine fetches.
type StreamSource struct {
	subject

	options StreamOptions
	access  access // of run
	lane    string // the name of the position
	lock    string // the queue whose consumer has the stream
	life    sourcekit.Life
	tracker sourcekit.Tracker

	stop    context.CancelFunc // ends run
	running sync.WaitGroup     // run
	wake    chan struct{}      // there may be something for Fetch
	moved   chan struct{}      // the position may have grown

	mu     sync.Mutex
	tenure *tenure         // nil while the stream is not this source's
	reader *reader         // nil before the first
	queue  []arrival       // what came and was not returned, of reader
	epoch  uint64          // of the assignment
	lost   bool            // what the next Fetch says
	fault  error           // why nothing comes, once that is known
	leave  context.Context //nolint:containedctx // that of Close
	left   error           // what Close says
}

var _ source.Source = (*StreamSource)(nil)

// OpenStream makes a source of a stream, which connects in the background, and renews a lost
// connection for ever. Close it.
//
// A server that is not there is no error: Fetch is unavailable until it is. So are a stream
// that does not exist, a right that is missing and a login that is refused, as
// misconfigured. An error means that the options cannot be used, or that ctx is over. ctx
// does not matter afterwards.
func OpenStream(ctx context.Context, o StreamOptions) (*StreamSource, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	servers, err := sourceAccess(ctx, o.URL, o.Login, o.Topology)
	if err != nil {
		return nil, err
	}
	s := &StreamSource{
		subject: subject{noun: "stream", name: o.Stream, where: places(servers.hosts), options: "StreamOptions"},
		options: o, access: servers, wake: make(chan struct{}, 1), moved: make(chan struct{}, 1),
	}
	s.lane, s.lock = o.names(cmp.Or(o.Login.VHost, servers.hosts[0].vhost))
	work, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.running.Go(func() { s.run(work) })
	return s, nil
}

// names are those of the position and of the lock. Two groups never share one.
func (o StreamOptions) names(vhost string) (lane, lock string) {
	lane = fmt.Sprintf("rabbitmq stream %q %q %q %q", vhost, o.Stream, o.Consumer, o.Life)
	sum := sha256.Sum256([]byte(lane))
	hash := hex.EncodeToString(sum[:16])
	if len(lane) > maxLane {
		lane = fmt.Sprintf("rabbitmq stream %s %q", hex.EncodeToString(sum[:]), o.Consumer[:min(len(o.Consumer), 20)])
	}
	return lane, "postbag.lock." + hash
}

// maxLane is the largest length of the name of a position.
const maxLane = 500

// Features implements source.Source.
func (*StreamSource) Features() source.Features {
	return source.Features{Order: source.OrderStream, Places: true, Cumulative: true, Binding: broker.BindingAMQP}
}

// Close implements source.Source. Another member of the group takes over at once.
func (s *StreamSource) Close(ctx context.Context) error {
	return s.life.Close(ctx, func(ctx context.Context) error {
		s.mu.Lock()
		s.leave = ctx
		s.mu.Unlock()
		s.stop()
		s.running.Wait()
		return s.left // nobody else is there any more
	})
}

// partition is the only one: the stream.
func (s *StreamSource) partition() source.Partition { return source.Partition(s.options.Stream) }

// place is where the stream keeps a message.
func (s *StreamSource) place(offset uint64) source.Place {
	name := s.options.Stream
	if s.options.Life != "" {
		name += " " + s.options.Life
	}
	return source.Place{Source: name, Offset: offset}
}

// say notes why nothing comes; nil: there is no reason any more.
func (s *StreamSource) say(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
	signal(s.wake)
}

package rabbitbroker

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
)

// link keeps a connection for the pipelines: it makes one after the other, for ever.
type link struct {
	access

	pipelines []*pipeline

	tried    chan struct{} // closed after the first attempt
	retryNow chan struct{} // somebody waits for the next attempt
	missing  chan struct{} // a message found no way

	frameMax atomic.Int64 // of the present connection
	known    known

	mu    sync.Mutex
	line  *line         // nil while there is none
	fault *broker.Error // why nothing is taken
}

const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 10 * time.Second
	farewellTimeout  = 2 * time.Second
	// Attempts to connect are so far apart at least, and at most.
	shortestPause = 250 * time.Millisecond
	longestPause  = 750 * time.Millisecond
	// declareInterval is the least time between two declarations of the topology.
	declareInterval = time.Second
	// defaultFrameMax is what servers allow before a connection says what this one does.
	defaultFrameMax = 131_072
)

func newLink(hosts []host, o Options, pipelines []*pipeline) *link {
	k := &link{
		access: access{hosts: hosts, login: o.Login, topology: o.Topology}, pipelines: pipelines,
		tried: make(chan struct{}), retryNow: make(chan struct{}, 1), missing: make(chan struct{}, 1),
		fault: adapter.Failure(broker.Unavailable, "the first connection is not yet made", "wait, or look whether the server runs"),
	}
	k.frameMax.Store(defaultFrameMax)
	return k
}

// run makes connections until ctx ends.
func (k *link) run(ctx context.Context) {
	var once sync.Once
	tried := func() { once.Do(func() { close(k.tried) }) }
	defer tried()
	pause := shortestPause
	for ctx.Err() == nil {
		line, f := k.connect(ctx)
		if f != nil {
			k.refuse(nil, f)
			tried()
			k.rest(ctx, pause)
			pause = min(2*pause, longestPause)
			continue
		}
		pause = shortestPause
		k.hand(line)
		tried()
		k.serve(ctx, line)
	}
}

// rest waits for the next attempt. Who waits for it makes it come sooner.
func (k *link) rest(ctx context.Context, pause time.Duration) {
	least, most := time.NewTimer(shortestPause), time.NewTimer(pause)
	defer least.Stop()
	defer most.Stop()
	select {
	case <-ctx.Done():
	case <-least.C:
	}
	select {
	case <-ctx.Done():
	case <-most.C:
	case <-k.retryNow:
	}
}

// askForRetry asks for the next attempt.
func (k *link) askForRetry() {
	select {
	case k.retryNow <- struct{}{}:
	default:
	}
}

// redeclare asks for the topology to be declared again.
func (k *link) redeclare() {
	if k.topology.empty() {
		return
	}
	select {
	case k.missing <- struct{}{}:
	default:
	}
}

// hand gives the pipelines a new connection.
func (k *link) hand(line *line) {
	k.frameMax.Store(int64(line.conn.Config.FrameSize))
	k.known.forget(0)
	for _, l := range k.pipelines {
		select {
		case <-l.next: // of a connection that was lost before the pipeline came to it
		default:
		}
		l.next <- line
	}
	k.accept(line)
}

// serve looks after a connection until it or ctx ends.
func (k *link) serve(ctx context.Context, line *line) {
	defer close(line.gone)
	declared := time.Now()
	for {
		select {
		case <-ctx.Done():
			line.close()
			return
		case why := <-line.ended:
			line.cut() // or a sender that blocks would hold the client up
			k.refuse(nil, lost(why))
			return
		case b, open := <-line.blocked:
			switch {
			case !open:
				line.blocked = nil
			case b.Active:
				k.refuse(line, adapter.Failure(broker.Unavailable, "the server blocks publishers ("+b.Reason+")",
					"wait, or give the server memory or disk space"))
			default:
				k.accept(line)
			}
		case <-k.missing:
			if time.Since(declared) >= declareInterval {
				declared = time.Now()
				_ = k.topology.declare(line.conn) // the messages themselves tell whether that helped
			}
		}
	}
}

func lost(why *amqp.Error) *broker.Error {
	text := "the connection was lost"
	if why != nil && why.Server {
		text = "the server closed the connection (" + codeName(why) + ")"
	}
	return adapter.Failure(broker.Unavailable, text, "wait, or look whether the server runs")
}

// refuse has the pipelines take nothing. line is nil when there is no connection.
func (k *link) refuse(line *line, f *broker.Error) {
	k.mu.Lock()
	k.line, k.fault = line, f
	k.mu.Unlock()
	for _, l := range k.pipelines {
		l.refuse(f)
	}
}

func (k *link) accept(line *line) {
	k.mu.Lock()
	k.line, k.fault = line, nil
	k.mu.Unlock()
	for _, l := range k.pipelines {
		l.accept()
	}
}

// present returns the connection, or why there is none to use.
func (k *link) present() (*line, *broker.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.line, k.fault
}

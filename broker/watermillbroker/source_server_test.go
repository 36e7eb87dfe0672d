package watermillbroker_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/broker/watermillbroker"
	"github.com/postbag/postbag/source"
)

// group is a broker in memory: all its members share the messages of a topic. A message that is nacked, or not acked when its subscription
// ends, comes again.
type group struct {
	oneByOne bool // the next message of a subscription comes when the one before is acked

	mu      sync.Mutex
	waiting map[string][]*message.Message
	changed chan struct{} // closed when messages came, or an outage began or ended
	away    chan struct{} // closed in an outage
}

func newGroup() *group {
	return &group{waiting: map[string][]*message.Message{}, changed: make(chan struct{}), away: make(chan struct{})}
}

// change runs under the lock, and wakes who waits.
func (g *group) change(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do()
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *group) send(topic string, msgs ...*message.Message) {
	g.change(func() { g.waiting[topic] = append(g.waiting[topic], msgs...) })
}

func (g *group) back(topic string, m *message.Message) {
	g.change(func() { g.waiting[topic] = slices.Insert(g.waiting[topic], 0, m) })
}

func (g *group) stop()  { g.change(func() { close(g.away) }) }
func (g *group) start() { g.change(func() { g.away = make(chan struct{}) }) }

func (g *group) holds(topic string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting[topic])
}

// next waits for a message; nil if ctx ends.
func (g *group) next(ctx context.Context, topic string) *message.Message {
	for {
		g.mu.Lock()
		changed, all := g.changed, g.waiting[topic]
		if ctx.Err() == nil && len(all) > 0 {
			g.waiting[topic] = slices.Clone(all[1:])
			g.mu.Unlock()
			return all[0]
		}
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// member is a subscriber of a group.
type member struct {
	g    *group
	ctx  context.Context // ends when it is killed or closed
	kill context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	closed int
}

func (g *group) member() *member {
	m := &member{g: g}
	m.ctx, m.kill = context.WithCancel(context.Background())
	return m
}

// Subscribe implements message.Subscriber.
func (m *member) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	m.g.mu.Lock()
	away := m.g.away
	m.g.mu.Unlock()
	select {
	case <-away:
		return nil, errors.New("connection refused")
	case <-m.ctx.Done():
		return nil, errors.New("it is closed")
	default:
	}
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan *message.Message)
	m.work.Go(func() {
		defer cancel()
		select {
		case <-away:
		case <-m.ctx.Done():
		case <-ctx.Done():
		}
	})
	m.work.Go(func() {
		defer close(out)
		for {
			next := m.g.next(ctx, topic)
			if next == nil {
				return
			}
			each := m.give(ctx, topic, next, out)
			if m.g.oneByOne {
				<-each
			}
		}
	})
	return out, nil
}

// give hands a copy of a message out, and returns a channel that is closed when it is acked or back.
func (m *member) give(ctx context.Context, topic string, of *message.Message, out chan<- *message.Message) <-chan struct{} {
	over := make(chan struct{})
	c := of.Copy()
	own, cancel := context.WithCancel(ctx)
	c.SetContext(own)
	select {
	case out <- c:
	case <-ctx.Done():
		cancel()
		m.g.back(topic, of)
		close(over)
		return over
	}
	m.work.Go(func() {
		defer close(over)
		defer cancel()
		select {
		case <-c.Acked():
		case <-c.Nacked():
			m.g.back(topic, of)
		case <-ctx.Done():
			m.g.back(topic, of)
		}
	})
	return over
}

// Close implements message.Subscriber.
func (m *member) Close() error {
	m.mu.Lock()
	m.closed++
	m.mu.Unlock()
	m.kill()
	m.work.Wait()
	return nil
}

func (m *member) closes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// openSource makes a source that the test closes.
func openSource(t *testing.T, from message.Subscriber, o watermillbroker.SourceOptions) *watermillbroker.Source {
	t.Helper()
	if len(o.Topics) == 0 {
		o.Topics = []string{"orders"}
	}
	src, err := watermillbroker.OpenSource(t.Context(), from, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close(context.Background()) })
	return src
}

func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// fetch returns the next n messages.
func fetch(t *testing.T, src source.Source, n int) (msgs []source.Message) {
	t.Helper()
	for len(msgs) < n {
		batch, err := src.Fetch(patient(t), source.Limits{Messages: n - len(msgs)})
		if err != nil {
			t.Fatalf("after %d of %d messages Fetch says %v", len(msgs), n, err)
		}
		msgs = append(msgs, batch.Messages...)
	}
	return msgs
}

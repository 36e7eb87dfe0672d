package rabbitbroker_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcetest"
	"github.com/postbag/postbag/store/memstore"
)

func TestASourceOfAStreamConforms(t *testing.T) {
	t.Parallel()
	node := shared(t)
	sourcetest.Run(t, sourcetest.Harness{
		On: "RabbitMQ, stream",
		Open: func(t *testing.T) sourcetest.Fixture {
			f, _ := streamFixture(t, node)
			return f
		},
		Outage: func(t *testing.T) (sourcetest.Fixture, sourcetest.Switch) {
			f, members := streamFixture(t, node)
			return f, sourcetest.Switch{
				Off: func() { members.each(down(t)) },
				On: func() {
					members.each(func(line *testserver.Proxy) {
						if err := line.Resume(); err != nil {
							t.Error(err)
						}
					})
				},
			}
		},
		Features:  source.Features{Order: source.OrderStream, Places: true, Cumulative: true, Binding: broker.BindingAMQP},
		NoKeys:    true,
		NoRepeats: true,
		Secrets:   []string{password},
		Quiet:     500 * time.Millisecond,
		Patience:  time.Minute,
	})
}

// mortal are positions of a process that can die.
type mortal struct {
	source.Positions

	dead atomic.Bool
}

var errDead = errors.New("the process is dead")

func (m *mortal) OpenPosition(ctx context.Context, name string) (int64, []byte, error) {
	if m.dead.Load() {
		return 0, nil, errDead
	}
	return m.Positions.OpenPosition(ctx, name)
}

func (m *mortal) KeepPosition(ctx context.Context, name string, epoch int64, record []byte) (bool, error) {
	if m.dead.Load() {
		return false, errDead
	}
	return m.Positions.KeepPosition(ctx, name, epoch, record)
}

// positions are kept in memory, for one test.
func positions(t testing.TB) source.Positions {
	t.Helper()
	p, err := inbox.NewPositions(memstore.New(memstore.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reading are the options of a source of a stream.
func (p *place) reading(kept source.Positions) rabbitbroker.StreamOptions {
	return rabbitbroker.StreamOptions{URL: p.url, Stream: p.queue, Consumer: "billing", Positions: kept}
}

func openedStream(t testing.TB, o rabbitbroker.StreamOptions) *rabbitbroker.StreamSource {
	t.Helper()
	s, err := rabbitbroker.OpenStream(t.Context(), o)
	if err != nil {
		t.Fatalf("OpenStream: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.Close(ctx)
	})
	return s
}

func streamFixture(t *testing.T, node *testserver.RabbitMQ) (sourcetest.Fixture, *proxies) {
	t.Helper()
	p := newPlace(t, node, "stream", false).create(t, nil)
	kept := positions(t)
	lines := &proxies{of: map[source.Source]*testserver.Proxy{}}
	members := map[source.Source]*mortal{}
	ch := confirming(t, p.url)
	return sourcetest.Fixture{
		Join: func(t *testing.T) source.Source {
			line := servertest.Proxy(t, address(t, p.url))
			mine := &mortal{Positions: kept}
			o := p.reading(mine)
			o.URL = via(t, p.url, line.Addr())
			s := openedStream(t, o)
			lines.mu.Lock()
			defer lines.mu.Unlock()
			lines.of[s], members[s] = line, mine
			return s
		},
		Send: func(t *testing.T, msgs ...source.Message) { sendTo(t, ch, p.queue, msgs...) },
		Kill: func(t *testing.T, s source.Source) {
			lines.mu.Lock()
			defer lines.mu.Unlock()
			members[s].dead.Store(true)
			down(t)(lines.of[s])
		},
		Rebalance: func(*testing.T) { lines.each((*testserver.Proxy).Cut) },
		SendUndecodable: func(t *testing.T) {
			published(t, ch, p.queue, amqp.Publishing{Headers: crowd(), Timestamp: time.Now()})
		},
	}, lines
}

// crowd is more headers than the client library reads. A stream leaves out headers that are tables or lists.
func crowd() amqp.Table {
	many := amqp.Table{}
	for i := range 9000 {
		many[strconv.Itoa(i)] = "x"
	}
	return many
}

package survival

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/source"
)

// How often one message comes, and how many others come between.
const (
	copies = 10_000
	others = 100
)

func TestTenThousandDuplicatesOfOneMessageHaveOneEffectAndAreCounted(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	for _, to := range []struct {
		name string
		open func(t *testing.T) *base
	}{{"PostgreSQL", postgresBase}, {"MariaDB", mariadbBase}} {
		t.Run(to.name, func(t *testing.T) {
			if !full() && to.name != "PostgreSQL" {
				t.Skip("POSTBAG_FULL is not set: PostgreSQL is tried alone")
			}
			b := to.open(t)
			b.createEffects(others + 1)
			t.Run("a consumer with a handler", func(t *testing.T) {
				takeRepeats(t, b, place.consumer)
				b.judge(others+1, true)
			})
			t.Run("a receiver", func(t *testing.T) {
				takeRepeats(t, b, place.receiver)
				judgeEffects(t, others+1, others+1, history.OnceInOrder, b.effectsIn(boxed[b.kind]))
			})
		})
	}
}

// boxed reads the box of a kind of base.
var boxed = map[string]string{
	postgres: "select key, convert_from(payload, 'UTF8')::integer from postbag.inbox order by seq",
	mariadb:  "select `key`, cast(convert(payload using utf8mb4) as integer) from postbag_inbox order by seq",
}

// intake is a consumer or a receiver that can be run, and what it has counted.
type intake struct {
	run     func(ctx context.Context) error
	counted func() counts
}

// counts are of messages: how many came, were new, were known, or were wrong in any way.
type counts struct{ fetched, fresh, repeated, wrong int64 }

// takeRepeats has one message come again and again between others, and looks at what was counted.
func takeRepeats(t *testing.T, b *base, form func(p place, src source.Source) (intake, error)) {
	t.Helper()
	w := &world{t: t, nats: servertest.NATS(t, testserver.NATSOptions{})}
	w.addStream(jetstream.StreamConfig{})
	w.sendCopies()
	p, err := openPlace(t.Context(), b.kind, b.dsn, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	src, err := openOrigin(t.Context(), "nats", w.nats.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := form(p, src)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- in.run(ctx) }()
	began := time.Now()
	w.awaitIdle(5*time.Minute, func() bool { return in.counted().fetched >= copies+others })
	took := time.Since(began)
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if got, want := in.counted(), (counts{fetched: copies + others, fresh: others + 1, repeated: copies - 1}); got != want {
		t.Errorf("it counted %+v, want %+v", got, want)
	}
	t.Logf("%d copies of a message were taken in within %v", copies, took.Round(time.Millisecond))
}

// sendCopies puts the copies of message 0 into the stream, and the others between them.
func (w *world) sendCopies() {
	w.t.Helper()
	numbers := make([]int, copies+others)
	for i := range others {
		numbers[i*(copies/others+1)+50] = i + 1
	}
	w.send(others+1, numbers)
}

func (p *placeOn[Tx]) consumer(src source.Source) (intake, error) {
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[Tx]{
		Store: p.store, Source: src, Consumer: "billing", Concurrency: 4, Keys: originKeys(src.Features().Binding), Handle: p.apply,
	})
	if err != nil {
		return intake{}, err
	}
	return intake{run: c.Run, counted: func() counts {
		s := c.Stats()
		return counts{s.Fetched, s.Applied, s.Repeated, s.Parked + s.Dropped + s.Failed + s.Lost}
	}}, nil
}

func (p *placeOn[Tx]) receiver(src source.Source) (intake, error) {
	r, err := inbox.NewReceiver(inbox.ReceiverOptions[Tx]{
		Store: p.store, Source: src, Edit: func(out *postbag.Message, from *source.Message) error {
			out.Key = from.Topic
			return nil
		},
	})
	if err != nil {
		return intake{}, err
	}
	return intake{run: r.Run, counted: func() counts {
		s := r.Stats()
		return counts{s.Fetched, s.Stored, s.Repeated, s.Faulty + s.Lost}
	}}, nil
}

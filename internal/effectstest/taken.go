package effectstest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
)

// RunTakenBefore has a receiver and a consumer take in messages that another setting would stop at, and loses their
// acknowledgements. With that setting they are then to acknowledge those messages, and to go on up to one that is new.
func RunTakenBefore[Tx any](t *testing.T, open func(t *testing.T) Redriven[Tx]) {
	t.Helper()
	s := open(t)
	t.Run("a receiver that keeps heads, and then stops at what is too large", func(t *testing.T) {
		w := newTaken(t, s)
		stops := w.receiver(func(o *inbox.ReceiverOptions[Tx]) { o.TooLarge = inbox.StopIfTooLarge })
		w.run(w.receiver(nil), stops, source.Message{MessageID: "large", Payload: make([]byte, 101)},
			source.Message{MessageID: "1", Payload: []byte("one")}, source.Message{MessageID: "1", Payload: make([]byte, 102)})
	})
	t.Run("a receiver that parks faults, and then stops at them", func(t *testing.T) {
		w := newTaken(t, s)
		stops := w.receiver(func(o *inbox.ReceiverOptions[Tx]) { o.Faults = inbox.StopOnFaults })
		w.run(w.receiver(nil), stops, source.Message{Payload: []byte("no id")},
			source.Message{MessageID: "1", Payload: []byte("one")}, source.Message{MessageID: "1", Payload: []byte("another one")})
	})
	t.Run("a consumer that parks, and then has no box", func(t *testing.T) {
		w := newTaken(t, s)
		stops := w.consumer(func(o *inbox.ConsumerOptions[Tx]) { o.Box = "" })
		w.run(w.consumer(nil), stops, source.Message{Payload: []byte("no id")}, source.Message{MessageID: "1", Payload: []byte("refused")},
			source.Message{MessageID: "1", Payload: []byte("another one")})
	})
	t.Run("a consumer whose source leaves payloads out", func(t *testing.T) {
		w := newTaken(t, s)
		stops := w.consumer(func(o *inbox.ConsumerOptions[Tx]) { o.Source = cutting{o.Source} })
		keeps := w.consumer(func(o *inbox.ConsumerOptions[Tx]) { o.Source, o.TooLarge = cutting{o.Source}, inbox.KeepHead })
		w.run(keeps, stops, source.Message{MessageID: "large", Payload: make([]byte, 101)}, source.Message{MessageID: "1", Payload: []byte("refused")})
	})
}

// cutting is a source that takes payloads of up to 100 bytes.
type cutting struct{ source.Source }

func (c cutting) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	limits.Payload = 100
	return c.Source.Fetch(ctx, limits)
}

// taken is one test of RunTakenBefore at work.
type taken[Tx any] struct {
	testing.TB
	store     Redriven[Tx]
	name, box string
	from      *memsource.Broker
}

// taking takes messages in until its context ends.
type taking func(ctx context.Context) error

func newTaken[Tx any](tb testing.TB, s Redriven[Tx]) *taken[Tx] {
	tb.Helper()
	n := shelves.Add(1)
	w := &taken[Tx]{
		TB: tb, store: s, name: fmt.Sprint("taker", n), box: fmt.Sprint("taken", n),
		from: memsource.New(memsource.Options{Order: source.OrderStream, NoPlaces: true}),
	}
	w.must(s.CreateBox(tb.Context(), w.box))
	w.must(s.Declare(tb.Context(), []store.Spec{{Ref: store.Ref{Box: w.box, Subscription: "default"}, Shards: 1}}))
	return w
}

func (w *taken[Tx]) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// receiver makes one that takes payloads of up to 100 bytes, and keeps the heads of larger ones.
func (w *taken[Tx]) receiver(change func(*inbox.ReceiverOptions[Tx])) taking {
	return func(ctx context.Context) error {
		o := inbox.ReceiverOptions[Tx]{
			Store: w.store, Source: w.from.Join("billing"), Box: w.box, Consumer: w.name, MaxSize: 100, TooLarge: inbox.KeepHead, Logger: slog.New(slog.DiscardHandler),
		}
		if change != nil {
			change(&o)
		}
		r, err := inbox.NewReceiver(o)
		if err != nil {
			return err
		}
		return errors.Join(r.Run(ctx), o.Source.Close(context.WithoutCancel(ctx)))
	}
}

// consumer makes one that rejects every message.
func (w *taken[Tx]) consumer(change func(*inbox.ConsumerOptions[Tx])) taking {
	return func(ctx context.Context) error {
		o := inbox.ConsumerOptions[Tx]{
			Store: w.store, Source: w.from.Join("billing"), Box: w.box, Consumer: w.name, Logger: slog.New(slog.DiscardHandler), Concurrency: 1,
			Handle: func(context.Context, Tx, *inbox.Message) error { return inbox.ErrRejected },
		}
		if change != nil {
			change(&o)
		}
		c, err := inbox.NewConsumer(o)
		if err != nil {
			return err
		}
		return c.Run(ctx)
	}
}

// stored are the payloads in the box, oldest first.
func (w *taken[Tx]) stored() (all []string) {
	w.Helper()
	items, _, err := w.store.List(context.Background(), store.Query{Ref: store.Ref{Box: w.box}, Oldest: true, Limit: 100})
	w.must(err)
	for _, it := range items {
		all = append(all, string(it.Payload))
	}
	return all
}

// run has takes take messages in, whose acknowledgements get lost, and then stops, which would stop at them.
func (w *taken[Tx]) run(takes, stops taking, msgs ...source.Message) {
	w.Helper()
	w.must(w.from.Publish(msgs...))
	w.from.LoseAcks(true)
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = takes(ctx) // a source whose acks got lost says so
	}()
	for len(w.stored()) < len(msgs) && ctx.Err() == nil {
		pause(ctx)
	}
	stop()
	<-ended
	w.from.LoseAcks(false)
	before := w.stored()
	if len(before) != len(msgs) || w.from.Unacked("billing") != len(msgs) {
		w.Fatalf("%d of %d messages are stored, and %d not acknowledged", len(before), len(msgs), w.from.Unacked("billing"))
	}
	w.goesOn(stops, before, msgs[0])
}

// goesOn has stops acknowledge what was taken in, and end at a message like one of those that is new, of which nothing is left.
func (w *taken[Tx]) goesOn(stops taking, before []string, like source.Message) {
	w.Helper()
	like.Payload = append(slices.Clone(like.Payload), '!')
	if like.MessageID != "" {
		like.MessageID = "new"
	}
	w.must(w.from.Publish(like))
	for range 2 {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		err := stops(ctx)
		if err == nil || ctx.Err() != nil {
			w.Errorf("at a message that is new it ended with %v", err)
		}
		stop()
	}
	if n := w.from.Unacked("billing"); n != 1 {
		w.Errorf("%d messages are not acknowledged, want the one that is new", n)
	}
	if after := w.stored(); !slices.Equal(after, before) {
		w.Errorf("the box holds %d messages, and held %d", len(after), len(before))
	}
}

func pause(ctx context.Context) {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-ctx.Done():
	}
}

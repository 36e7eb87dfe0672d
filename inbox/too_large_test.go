package inbox_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/effectstest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// What no box holds would be lost with its acknowledgement, so it is the broker's until somebody says otherwise.
func TestAReceiverStopsAtAPayloadThatIsTooLarge(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*receiverOptions){
		"by its own rules":  func(o *receiverOptions) { o.MaxSize = 10_000 },
		"as the store says": func(o *receiverOptions) { o.Store = small{o.Store} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := receive(t, memsource.Options{NoPlaces: true, Order: source.OrderStream}, memstore.Options{}, limit, func(o *receiverOptions) { o.Source = held(o.Source, 4) })
			w.publish(source.Message{MessageID: "before"}, source.Message{Payload: []byte("no id")},
				source.Message{MessageID: "large", Payload: make([]byte, 10_001)}, source.Message{MessageID: "after"})
			err := <-w.ended
			if err == nil || !strings.Contains(err.Error(), "10001 bytes") || !strings.Contains(err.Error(), "ReceiverOptions.TooLarge") {
				t.Errorf("Run ended with %v", err)
			}
			items := w.box()
			if len(items) != 2 || items[0].Err != nil || items[1].Err == nil || w.broker.Unacked("billing") != 2 {
				t.Errorf("%d messages are stored, and %d are not acknowledged", len(items), w.broker.Unacked("billing"))
			}
			w.start(limit, func(o *receiverOptions) { o.TooLarge = inbox.KeepHead })
			w.acked()
			if items := w.box(); len(items) != 4 || len(items[2].Payload) != 4096 || items[3].Err != nil {
				t.Errorf("the box then holds %d messages", len(items))
			}
			w.end()
		})
	}
}

func TestAMessageThatWasTakenInBeforeIsAcknowledgedAndEndsNothing(t *testing.T) {
	t.Parallel()
	effectstest.RunTakenBefore(t, func(*testing.T) effectstest.Redriven[*memstore.Tx] { return memstore.New(memstore.Options{}) })
}

// cutting is a source that takes payloads up to a size, whatever its caller takes.
type cutting struct {
	source.Source
	most int
}

func (c cutting) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	limits.Payload = c.most
	return c.Source.Fetch(ctx, limits)
}

func TestAPayloadThatTheSourceLeftOutEndsRunLikeOneThatTheBoxRefuses(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(t *testing.T, keep inbox.SizePolicy) (broker *memsource.Broker, ended chan error, in func() []store.Item, end func()){
		"a receiver": func(t *testing.T, keep inbox.SizePolicy) (*memsource.Broker, chan error, func() []store.Item, func()) {
			t.Helper()
			w := receive(t, partitions, memstore.Options{}, func(o *receiverOptions) { o.Source, o.TooLarge = cutting{o.Source, 100}, keep })
			return w.broker, w.ended, w.box, w.end
		},
		"a consumer": func(t *testing.T, keep inbox.SizePolicy) (*memsource.Broker, chan error, func() []store.Item, func()) {
			t.Helper()
			w := consume(t, partitions, memstore.Options{}, options(func(o *consumerOptions) { o.Source, o.TooLarge = cutting{o.Source, 100}, keep }))
			return w.broker, w.ended, func() []store.Item { return w.in("aside") }, w.end
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			large := source.Message{MessageID: "large", Payload: make([]byte, 101)}
			broker, ended, in, _ := run(t, inbox.StopIfTooLarge)
			if err := broker.Publish(large); err != nil {
				t.Fatal(err)
			}
			var err error
			select {
			case err = <-ended:
			case <-time.After(10 * time.Second):
				t.Fatal("Run goes on")
			}
			if !errors.Is(err, source.ErrTooLarge) || !strings.Contains(fmt.Sprint(err), "101 bytes") || !strings.Contains(fmt.Sprint(err), "Options.TooLarge") {
				t.Errorf("Run ended with %v", err)
			}
			if len(in()) != 0 || broker.Unacked("billing") != 1 {
				t.Errorf("%d messages are stored, and %d are not acknowledged", len(in()), broker.Unacked("billing"))
			}
			broker, _, in, end := run(t, inbox.KeepHead)
			if err := broker.Publish(large); err != nil {
				t.Fatal(err)
			}
			if err := broker.WaitUntilAcked(t.Context(), "billing"); err != nil {
				t.Fatal(err)
			}
			end()
			if items := in(); len(items) != 1 || len(items[0].Payload) != 0 || !strings.Contains(fmt.Sprint(items[0].Err), "101 bytes") {
				t.Errorf("the box holds %+v", items)
			}
		})
	}
}

func TestAConsumerStopsAtAMessageThatIsTooLargeToBeParked(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep the head: %v", keep), func(t *testing.T) {
			t.Parallel()
			w := consume(t, partitions, memstore.Options{}, options(func(o *consumerOptions) {
				o.Store = small{o.Store}
				if keep {
					o.TooLarge = inbox.KeepHead
				}
			}), handle(func(_ context.Context, m *inbox.Message, _ int) error {
				if len(m.Payload) > 2 {
					return inbox.ErrRejected
				}
				return nil
			}))
			payload := make([]byte, 20_000)
			w.publish(source.Message{MessageID: "large", Payload: payload})
			if keep {
				w.acked()
				w.end()
				items := w.in("aside")
				if len(items) != 1 || len(items[0].Payload) != 4096 || !strings.Contains(fmt.Sprint(items[0].Err), fmt.Sprintf("20000 bytes, and the SHA-256 %x", sha256.Sum256(payload))) {
					t.Errorf("parked are %d messages", len(items))
				}
				return
			}
			err := <-w.ended
			if !errors.Is(err, inbox.ErrRejected) || !strings.Contains(fmt.Sprint(err), "ConsumerOptions.TooLarge") {
				t.Errorf("Run ended with %v", err)
			}
			if items := w.in("aside"); len(items) != 0 || w.broker.Unacked("billing") != 1 {
				t.Errorf("parked are %d messages, and %d are not acknowledged", len(items), w.broker.Unacked("billing"))
			}
		})
	}
}

// A handler that publishes too much has a fault of its own: the message that it was given is parked whole.
func TestAMessageIsParkedWholeWhoseHandlerPublishesTooMuch(t *testing.T) {
	t.Parallel()
	w := consume(t, partitions, memstore.Options{}, handle(func(context.Context, *inbox.Message, int) error {
		return fmt.Errorf("%w: %w", inbox.ErrRejected, &postbag.MessageError{Field: "Payload", Reason: "is too large", Got: 2, Allowed: 1})
	}))
	w.publish(source.Message{MessageID: "1", Payload: make([]byte, 9000)})
	w.acked()
	w.end()
	if items := w.in("aside"); len(items) != 1 || len(items[0].Payload) != 9000 || items[0].Err != nil || !strings.Contains(failed(items[0]), "too large") {
		t.Errorf("parked are %+v", items)
	}
}

package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/effectstest"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// failed is why a message was parked that its handler did not apply.
func failed(it store.Item) string { return it.Headers[inbox.FailedHeader] }

func TestWhatAConsumerParkedIsAppliedWhenItIsRetried(t *testing.T) {
	t.Parallel()
	effectstest.RunRedrive(t, func(*testing.T) effectstest.Redriven[*memstore.Tx] { return memstore.New(memstore.Options{}) })
}

// The box holds the message as it came, beside the reason. So a handler gets it once more as it was.
func TestAMessageWhoseHandlerFailedIsParkedAsItCame(t *testing.T) {
	t.Parallel()
	var given atomic.Pointer[postbag.Message]
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, handle(func(_ context.Context, m *inbox.Message, _ int) error {
		given.Store(&m.Message)
		return fmt.Errorf("%w: no such account", inbox.ErrRejected)
	}))
	m := of("a", "bad")
	m.Topic, m.ContentType, m.Headers = "orders", "text/plain", headers("tenant", "7", "postbag-failed", "a sender says so")
	w.publish(m)
	w.acked()
	w.end()
	parked := w.in("aside")
	if len(parked) != 1 || parked[0].Err != nil || failed(parked[0]) != "it was rejected in attempt 1: "+inbox.ErrRejected.Error()+": no such account" {
		t.Fatalf("parked are %+v", parked)
	}
	got, want := parked[0].Message, *given.Load()
	delete(got.Headers, inbox.FailedHeader)
	if got.ID != want.ID || got.Topic != want.Topic || got.Key != want.Key || string(got.Payload) != string(want.Payload) || !maps.Equal(got.Headers, want.Headers) {
		t.Errorf("the box holds %+v, and the handler got %+v", got, want)
	}
	if len(want.Headers) != 2 || want.Headers["content-type"] != "text/plain" {
		t.Errorf("the handler got the headers %v", want.Headers)
	}
}

// It is changed by that, so no relay may deliver it.
func TestAMessageThatNoBoxHoldsAsItIsGetsAFaultWhenItsHandlerFailed(t *testing.T) {
	t.Parallel()
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, handle(func(context.Context, *inbox.Message, int) error {
		return fmt.Errorf("%w: no such account", inbox.ErrRejected)
	}))
	w.publish(of("a\x00b", "bad"))
	w.acked()
	w.end()
	parked := w.in("aside")
	if len(parked) != 1 || failed(parked[0]) != "" || string(parked[0].Payload) != "bad" {
		t.Fatalf("parked are %+v", parked)
	}
	for _, part := range []string{"no such account", "cannot be parked as it is", "NUL"} {
		if !strings.Contains(fmt.Sprint(parked[0].Err), part) {
			t.Errorf("its fault is %v, without %q", parked[0].Err, part)
		}
	}
}

// A handler that passes on the headers that it got would else fail at that one, each time.
func TestAHandlerFindsWhyAMessageWasParkedInTheMessageAsItCameAlone(t *testing.T) {
	t.Parallel()
	w := newShelf(t)
	m := delivery("ann", "3 apples")
	m.Headers = map[string]string{inbox.FailedHeader: "it failed", "a": "b"}
	w.gets(m, broker.Accepted, "")
	got := w.kept()[0]
	why, _ := got.From.Headers.Get(inbox.FailedHeader)
	if why != "it failed" || len(got.Headers) != 1 || got.Headers["a"] != "b" {
		t.Errorf("the handler got the headers %v, and %q as why it was parked", got.Headers, why)
	}
	if len(m.Headers) != 2 {
		t.Error("the relay's own headers were changed")
	}
}

// Several of one key were parked, and later ones of it were applied. A relay keeps the sequence of what is parked.
func TestWhatWasParkedOfOneKeyIsAppliedInItsSequence(t *testing.T) {
	t.Parallel()
	var works atomic.Bool
	fails := func(_ context.Context, m *inbox.Message, _ int) error {
		if strings.HasPrefix(string(m.Payload), "bad") && !works.Load() {
			return errors.New("no such account")
		}
		return nil
	}
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) { o.Retry.MaxAttempts = 1 }), handle(fails))
	w.publish(of("a", "bad 1"), of("a", "bad 2"), of("a", "good"), of("a", "bad 3"))
	w.acked()
	w.end()
	w.applied("good")
	works.Store(true)
	to, err := inbox.NewDestination(destinationOptions{Store: w.store, Consumer: "billing", Handle: w.apply})
	if err != nil {
		t.Fatal(err)
	}
	r, err := relay.New(w.store, relay.Options{
		Subscriptions: []relay.Subscription{{Box: "aside", Name: "worker", To: to}}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	for deadline := time.Now().Add(time.Minute); len(w.in("inbox")) < 4 && time.Now().Before(deadline); {
		pauseFor(t)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the relay ended with %v", err)
	}
	w.applied("good", "bad 1", "bad 2", "bad 3")
}

func TestAMessageWithoutRoomForTheReasonIsParked(t *testing.T) {
	t.Parallel()
	effectstest.RunFullHeaders(t, func(*testing.T) effectstest.Redriven[*memstore.Tx] { return memstore.New(memstore.Options{}) })
}

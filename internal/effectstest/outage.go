package effectstest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// Outage is a store whose database can be made to answer, and to fail what writes: its disk is full, or it is read-only.
type Outage[Tx any] struct {
	Store Store[Tx]
	// Write is what a handler does: it writes a number to a table of the test's own, and returns the error of the driver.
	Write func(ctx context.Context, tx Tx, n int) error
	// Written returns the numbers that are committed.
	Written func() []int
	// Fail has the database fail, until Work is called.
	Fail, Work func()
	// Says is part of the driver's error.
	Says string
}

// RunOutage takes messages in while the database of open fails, in each form that has a handler: none may be counted as an
// attempt, parked or acknowledged, and each is to be applied once when the database works again.
func RunOutage[Tx any](t *testing.T, open func(t *testing.T) Outage[Tx]) {
	t.Helper()
	for name, run := range map[string]func(*testing.T, *outage[Tx]){
		"a consumer": consumes[Tx], "a handler behind a relay": handlesOne[Tx], "a handler of pages behind a relay": handlesPages[Tx],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &outage[Tx]{Outage: open(t), tb: t, log: &heard{}, box: fmt.Sprint("failing", shelves.Add(1))}
			w.line = &line[Tx]{Store: w.Store}
			w.must(w.Store.CreateBox(t.Context(), w.box))
			run(t, w)
			w.allWritten()
		})
	}
}

// ofOutage is how many messages are taken in, of half as many keys, and howOften how often the database is to fail a transaction.
const (
	ofOutage = 8
	howOften = 8
)

// outage is one test of RunOutage at work.
type outage[Tx any] struct {
	Outage[Tx]

	tb   testing.TB
	log  *heard
	box  string
	line *line[Tx]
}

func (w *outage[Tx]) must(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatal(err)
	}
}

func (w *outage[Tx]) handle(ctx context.Context, tx Tx, m *inbox.Message) error {
	n, err := strconv.Atoi(string(m.Payload))
	if err != nil {
		return err
	}
	if err := w.Write(ctx, tx, n); err != nil {
		return fmt.Errorf("charge: %w", err)
	}
	return nil
}

// await returns when a condition holds.
func (w *outage[Tx]) await(what string, holds func() bool) {
	w.tb.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			w.tb.Fatalf("not in a minute: %s; the database has failed %d times; the log:\n%s", what, w.line.failed.Load(), w.log.text())
		}
	}
}

func (w *outage[Tx]) allWritten() {
	w.tb.Helper()
	got := w.Written()
	slices.Sort(got)
	want := make([]int, ofOutage)
	for i := range want {
		want[i] = i
	}
	if !slices.Equal(got, want) {
		w.tb.Errorf("%v are applied, want each of %v once", got, want)
	}
}

// said waits until the log tells of the end of the outage, and fails the test unless it told of its beginning, with the
// driver's error. Each has one of these lines.
func (w *outage[Tx]) said(begins, ends []string) {
	w.tb.Helper()
	times := func(lines []string) (n int) {
		for _, l := range lines {
			n += strings.Count(w.log.text(), l)
		}
		return n
	}
	w.await("the log tells of the end", func() bool { return times(ends) > 0 })
	if n := times(begins); n == 0 || n > len(begins) || times([]string{w.Says}) == 0 {
		w.tb.Errorf("the log tells %d times that the database fails, with %q:\n%s", n, w.Says, w.log.text())
	}
}

func consumes[Tx any](t *testing.T, w *outage[Tx]) {
	t.Helper()
	from := memsource.New(memsource.Options{})
	src := from.Join("billing")
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[Tx]{
		Store: w.line, Source: src, Consumer: w.box, Box: w.box, Handle: w.handle,
		Retry:  inbox.Retry{Min: time.Millisecond, Max: time.Millisecond, MaxAttempts: 2},
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	})
	w.must(err)
	w.Fail()
	for n := range ofOutage {
		w.must(from.Publish(source.Message{Key: strconv.Itoa(n / 2), MessageID: strconv.Itoa(n), Payload: []byte(strconv.Itoa(n))}))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	w.await("the database fails", func() bool { return w.line.failed.Load() >= howOften })
	if n := from.Unacked("billing"); n != ofOutage {
		t.Errorf("while the database fails, %d messages are not acknowledged, want all %d", n, ofOutage)
	}
	w.Work()
	w.must(from.WaitUntilAcked(t.Context(), "billing"))
	stop()
	w.must(<-ended)
	if s := c.Stats(); s.Applied != ofOutage || s.Failed != 0 || s.Parked != 0 {
		t.Errorf("it counted %+v", s)
	}
	w.said([]string{"the store of an inbox fails"}, []string{"the store of an inbox works again"})
}

func handlesOne[Tx any](t *testing.T, w *outage[Tx]) {
	t.Helper()
	to, err := inbox.NewDestination(inbox.DestinationOptions[Tx]{Store: w.line, Consumer: w.box, Handle: w.handle})
	w.must(err)
	w.relay(t, relay.Subscription{Box: "inbox", To: to})
}

func handlesPages[Tx any](t *testing.T, w *outage[Tx]) {
	t.Helper()
	to, err := inbox.NewBatchDestination(inbox.BatchDestinationOptions[Tx]{Store: w.line, Consumer: w.box, Handle: w.handle})
	w.must(err)
	w.relay(t, relay.Subscription{Box: "inbox", To: to, ExactlyOnce: true})
}

// relay has a relay deliver messages of a box that is somewhere else to a handler.
func (w *outage[Tx]) relay(t *testing.T, sub relay.Subscription) {
	t.Helper()
	box := memstore.New(memstore.Options{})
	w.must(box.CreateBox(t.Context(), "inbox"))
	pub, err := postbag.NewPublisher(box, postbag.PublisherOptions{Box: "inbox"})
	w.must(err)
	sub.Retry = relay.Retry{Min: time.Millisecond, Max: 5 * time.Millisecond, MaxAttempts: 2}
	r, err := relay.New(box, relay.Options{Subscriptions: []relay.Subscription{sub}, Logger: slog.New(slog.NewTextHandler(w.log, nil))})
	w.must(err)
	publish := func(from, upto int) {
		w.must(pub.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
			for n := from; n < upto; n++ {
				if err := pub.Publish(ctx, tx, postbag.Message{Topic: "orders", Key: strconv.Itoa(n / 2), Payload: []byte(strconv.Itoa(n))}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	defer func() {
		stop()
		w.must(<-ended)
	}()
	publish(0, 1)
	w.await("one is applied", func() bool { return len(w.Written()) == 1 })
	w.Fail()
	publish(1, ofOutage)
	w.await("the database fails", func() bool { return w.line.failed.Load() >= howOften })
	w.Work()
	w.await("all is applied", func() bool { return len(w.Written()) >= ofOutage })
	dead, _, err := box.List(t.Context(), store.Query{Ref: store.Ref{Box: "inbox"}, State: store.StateDead, Limit: 100})
	w.must(err)
	if len(dead) > 0 {
		t.Errorf("%d messages are dead, the first for %q", len(dead), dead[0].Reason)
	}
	w.said(
		[]string{"the destination does not take messages", "the exactly-once lane cannot be opened"},
		[]string{"the destination takes messages again", "the exactly-once lane is open again"},
	)
}

// heard keeps what a logger writes.
type heard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

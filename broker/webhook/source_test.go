package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// taking is an endpoint, a source behind it, and a receiver that stores what comes in a box.
type taking struct {
	testing.TB
	source *Source
	server *httptest.Server
	store  *memstore.Store
	client *http.Client
	log    *logLines

	mu     sync.Mutex
	faults []error

	ended chan error
	stop  context.CancelFunc
}

// logLines keeps what a logger writes.
type logLines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// openEndpoint starts an endpoint. Nobody fetches from its source yet.
func openEndpoint(tb testing.TB, fault func(context.Context, memstore.Op) memstore.Fault, change ...func(*SourceOptions)) *taking {
	tb.Helper()
	w := &taking{
		TB: tb, store: memstore.New(memstore.Options{Fault: fault}), log: &logLines{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}},
	}
	if err := w.store.CreateBox(tb.Context(), "inbox"); err != nil {
		tb.Fatal(err)
	}
	if err := w.store.Declare(tb.Context(), []store.Spec{{Ref: store.Ref{Box: "inbox", Subscription: "worker"}, Shards: 1}}); err != nil {
		tb.Fatal(err)
	}
	o := SourceOptions{
		Secrets: []string{secretA}, AnswerWithin: time.Minute,
		OnFault: func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.faults = append(w.faults, err)
		},
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	if w.source, err = NewSource(o); err != nil {
		tb.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/hooks/{tenant}", w.source)
	w.server = httptest.NewServer(mux)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := w.source.Close(ctx); err != nil {
			tb.Errorf("Close: %v", err)
		}
		w.client.CloseIdleConnections()
		w.server.Close()
	})
	return w
}

// take starts an endpoint and a receiver.
func take(tb testing.TB, fault func(context.Context, memstore.Op) memstore.Fault, change ...func(*SourceOptions)) *taking {
	tb.Helper()
	w := openEndpoint(tb, fault, change...)
	w.receive()
	return w
}

// receive starts a receiver. The test ends it.
func (w *taking) receive() {
	w.Helper()
	r, err := inbox.NewReceiver(inbox.ReceiverOptions[*memstore.Tx]{
		Store: w.store, Source: w.source, Logger: slog.New(slog.NewTextHandler(w.log, nil)),
		OnError: func(err error) { _, _ = fmt.Fprintln(w.log, err) },
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.stop, w.ended = cancel, make(chan error, 1)
	go func() { w.ended <- r.Run(ctx) }()
	w.Cleanup(w.end)
}

// end ends the receiver.
func (w *taking) end() {
	w.Helper()
	w.stop()
	if w.ended == nil {
		return
	}
	if err := <-w.ended; err != nil {
		w.Errorf("the receiver ended with %v", err)
	}
	w.ended = nil
}

// hook makes a signed request.
func (w *taking) hook(id, body string, change ...func(*http.Request)) *http.Request {
	w.Helper()
	r, err := http.NewRequest(http.MethodPost, w.server.URL+"/hooks/acme", strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	sign(r.Header, []string{secretA}, id, time.Now(), []byte(body))
	for _, c := range change {
		c(r)
	}
	return r
}

// reply is an answer that was read.
type reply struct {
	status     int
	retryAfter string
	body       string
}

// send sends a request and returns its answer. It is safe beside others.
func (w *taking) send(r *http.Request) reply {
	w.Helper()
	answer, err := w.client.Do(r)
	if err != nil {
		w.Errorf("no answer: %v", err)
		return reply{}
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		w.Errorf("read the answer: %v", err)
	}
	return reply{answer.StatusCode, answer.Header.Get("Retry-After"), string(body)}
}

// answers fails the test unless a request has this answer.
func (w *taking) answers(status int, r *http.Request) reply {
	w.Helper()
	got := w.send(r)
	if got.status != status {
		w.Errorf("the answer is %d %q, want %d", got.status, got.body, status)
	}
	return got
}

// box returns what the box holds, oldest first.
func (w *taking) box() []store.Item {
	w.Helper()
	items, _, err := w.store.List(context.Background(), store.Query{Ref: store.Ref{Box: "inbox"}, Oldest: true, Limit: 1000})
	if err != nil {
		w.Fatal(err)
	}
	return items
}

// holds fails the test unless the box holds these payloads.
func (w *taking) holds(payloads ...string) []store.Item {
	w.Helper()
	items := w.box()
	got := make([]string, len(items))
	for i := range items {
		got[i] = string(items[i].Payload)
	}
	if fmt.Sprint(got) != fmt.Sprint(payloads) {
		w.Fatalf("the box holds %q, want %q", got, payloads)
	}
	return items
}

// until waits for a condition.
func until(tb testing.TB, what string, is func() bool) {
	tb.Helper()
	end := time.After(patience)
	for !is() {
		select {
		case <-time.After(time.Millisecond):
		case <-end:
			tb.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// gate holds commits back while it is shut.
type gate struct {
	shut chan struct{} // closed: open
	at   atomic.Int64  // commits that came to it
}

func newGate() *gate { return &gate{shut: make(chan struct{})} }

func (g *gate) fault(ctx context.Context, op memstore.Op) memstore.Fault {
	if op == memstore.OpCommit {
		g.at.Add(1)
		select {
		case <-g.shut:
		case <-ctx.Done():
		}
	}
	return memstore.Fault{}
}

// broken is a database that can be away.
type broken struct{ away atomic.Bool }

func (b *broken) fault(context.Context, memstore.Op) memstore.Fault {
	if b.away.Load() {
		return memstore.Fault{Err: errors.New("the database is away")}
	}
	return memstore.Fault{}
}

func TestAWebhookIsAnsweredAfterItsCommitAndNotBefore(t *testing.T) {
	t.Parallel()
	g := newGate()
	w := take(t, g.fault)
	got := make(chan reply, 1)
	go func() { got <- w.send(w.hook("msg_1", "one")) }()
	until(t, "the commit begins", func() bool { return g.at.Load() == 1 })
	select {
	case a := <-got:
		t.Fatalf("it was answered with %d before the commit", a.status)
	case <-time.After(100 * time.Millisecond):
	}
	close(g.shut)
	if a := <-got; a.status != http.StatusNoContent {
		t.Errorf("the answer is %d %q", a.status, a.body)
	}
	w.holds("one")
}

func TestAWebhookThatComesAgainIsAccepted204AndStoredOnce(t *testing.T) {
	t.Parallel()
	w := take(t, nil)
	for range 3 {
		w.answers(http.StatusNoContent, w.hook("msg_1", "one"))
	}
	w.holds("one")
	w.answers(http.StatusNoContent, w.hook("msg_2", "one"))
	w.holds("one", "one")
}

func TestAThousandRepeatsAtOnceAreStoredOnce(t *testing.T) {
	t.Parallel()
	w := take(t, nil, func(o *SourceOptions) { o.Requests = 2000 })
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() { w.answers(http.StatusNoContent, w.hook("msg_1", "one")) })
	}
	all.Wait()
	w.holds("one")
	if s := w.source.Stats(); s.Accepted != 1000 || s != (SourceStats{Accepted: 1000}) {
		t.Errorf("it counted %+v", s)
	}
}

func TestRequestsThatWaitAreStoredInOneTransaction(t *testing.T) {
	t.Parallel()
	g := newGate()
	w := take(t, g.fault)
	var all sync.WaitGroup
	post := func(n int) {
		all.Go(func() { w.answers(http.StatusNoContent, w.hook(fmt.Sprint("msg_", n), fmt.Sprint(n))) })
	}
	post(0)
	until(t, "the first commit begins", func() bool { return g.at.Load() == 1 })
	for n := range 50 {
		post(n + 1)
	}
	until(t, "all others wait", func() bool {
		w.source.mu.Lock()
		defer w.source.mu.Unlock()
		return len(w.source.queue) == 50
	})
	close(g.shut)
	all.Wait()
	if n := g.at.Load(); n != 2 {
		t.Errorf("51 requests took %d transactions, want 2", n)
	}
}

func TestAnIdThatComesWithAnotherBodyIsStoredWithItsFault(t *testing.T) {
	t.Parallel()
	w := take(t, nil)
	for _, body := range []string{"one", "other", "one", "other"} {
		w.answers(http.StatusNoContent, w.hook("msg_1", body))
	}
	items := w.holds("one", "other")
	if fault := items[1].Headers[store.FaultHeader]; !strings.Contains(fault, "another payload") {
		t.Errorf("the fault of the second is %q", fault)
	}
}

func TestAMessageThatNoBoxCanHoldIsAcceptedAndStoredWithItsFault(t *testing.T) {
	t.Parallel()
	w := take(t, nil)
	w.answers(http.StatusNoContent, w.hook("msg_1", "one", func(r *http.Request) { r.Header.Set("Postbag-Key", "%FF") }))
	w.answers(http.StatusNoContent, w.hook("msg_2", "two", func(r *http.Request) { r.Header.Set("X-Long", strings.Repeat("x", 100<<10)) }))
	items := w.holds("one", "two")
	for i, field := range []string{"Key", "Headers"} {
		if fault := items[i].Headers[store.FaultHeader]; !strings.Contains(fault, field) {
			t.Errorf("the fault of message %d is %q, and names no %s", i+1, fault, field)
		}
	}
}

func TestEitherSecretIsTakenWhileOneIsChanged(t *testing.T) {
	t.Parallel()
	w := take(t, nil, func(o *SourceOptions) { o.Secrets = []string{secretB, secretA} })
	third := NewSecret()
	by := func(secrets ...string) *http.Request {
		id := fmt.Sprint("msg_", strings.Join(secrets, "_"))
		return w.hook(id, "one", func(r *http.Request) { sign(r.Header, secrets, id, time.Now(), []byte("one")) })
	}
	w.answers(http.StatusNoContent, by(secretA))
	w.answers(http.StatusNoContent, by(secretB))
	w.answers(http.StatusNoContent, by(third, secretA))
	w.answers(http.StatusUnauthorized, by(third))
	w.holds("one", "one", "one")
}

func TestTopicAndKeyComeFromWhereTheOptionsSay(t *testing.T) {
	t.Parallel()
	w := take(t, nil, func(o *SourceOptions) {
		o.Topic, o.Key = FromPath("tenant"), FromHeader("X-Order")
	})
	w.answers(http.StatusNoContent, w.hook("msg_1", "one", func(r *http.Request) {
		r.Header.Set("X-Order", "7")
		r.Header.Set("Postbag-Topic", "other")
	}))
	plain := take(t, nil)
	plain.answers(http.StatusNoContent, plain.hook("msg_1", "one", func(r *http.Request) {
		r.Header.Set("Postbag-Topic", "gr%C3%BCn")
		r.Header.Set("Postbag-Key", "a%20b")
	}))
	plain.answers(http.StatusNoContent, plain.hook("msg_2", "two"))
	for i, it := range append(w.holds("one"), plain.holds("one", "two")...) {
		want := [][2]string{{"acme", "7"}, {"grün", "a b"}, {"webhook", ""}}[i]
		if it.Topic != want[0] || it.Key != want[1] {
			t.Errorf("message %d has topic %q and key %q, want %q", i+1, it.Topic, it.Key, want)
		}
	}
}

func TestTheBoxKeepsTheSendersHeadersAndNoCredentials(t *testing.T) {
	t.Parallel()
	w := take(t, nil)
	w.answers(http.StatusNoContent, w.hook("msg_1", "one", func(r *http.Request) {
		r.Header.Set("X-Tenant", "a%20b")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer x")
		r.Header.Set("Cookie", "session=x")
		r.Header.Set("X-Forwarded-For", "10.0.0.1")
	}))
	want := map[string]string{"webhook-id": "msg_1", "X-Tenant": "a%20b", "content-type": "application/json"}
	if got := w.holds("one")[0].Headers; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the headers are %q, want %q", got, want)
	}
}

package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/source"
)

func TestWhileTheDatabaseIsAwayTheAnswerIs503WithRetryAfter(t *testing.T) {
	t.Parallel()
	db := &broken{}
	w := take(t, db.fault, func(o *SourceOptions) { o.AnswerWithin, o.RetryAfter = 200*time.Millisecond, 1500*time.Millisecond })
	db.away.Store(true)
	if a := w.answers(http.StatusServiceUnavailable, w.hook("msg_1", "one")); a.retryAfter != "2" {
		t.Errorf("Retry-After is %q, want 2", a.retryAfter)
	}
	db.away.Store(false)
	until(t, "the message is taken again", func() bool { return w.send(w.hook("msg_1", "one")).status == http.StatusNoContent })
	w.holds("one")
}

func TestOnceARequestHasWaitedInVainOthersAreRefusedAtOnceUntilItMoves(t *testing.T) {
	t.Parallel()
	w := openEndpoint(t, nil, func(o *SourceOptions) { o.AnswerWithin = 500 * time.Millisecond })
	w.answers(http.StatusServiceUnavailable, w.hook("msg_1", "one"))
	began := time.Now()
	for range 20 {
		w.answers(http.StatusServiceUnavailable, w.hook("msg_1", "one"))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("20 more requests waited too: %s", took)
	}
	w.receive()
	until(t, "the message is taken again", func() bool { return w.send(w.hook("msg_1", "one")).status == http.StatusNoContent })
	w.holds("one")
}

func TestMoreRequestsThanMayBeInHandAreAnswered503AndComeLater(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*SourceOptions){
		"by number": func(o *SourceOptions) { o.Requests = 3 },
		"by bytes":  func(o *SourceOptions) { o.MaxBytes, o.Memory = 100, 3*50+49 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openEndpoint(t, nil, change)
			body := strings.Repeat("x", 50)
			var all sync.WaitGroup
			for n := range 3 {
				all.Go(func() { w.answers(http.StatusNoContent, w.hook(fmt.Sprint("msg_", n), body)) })
			}
			until(t, "three requests wait", func() bool {
				w.source.mu.Lock()
				defer w.source.mu.Unlock()
				return len(w.source.queue) == 3
			})
			if a := w.answers(http.StatusServiceUnavailable, w.hook("msg_3", body)); a.retryAfter != "5" || !strings.Contains(a.body, "too many") {
				t.Errorf("the answer is %+v", a)
			}
			w.receive()
			all.Wait()
			w.answers(http.StatusNoContent, w.hook("msg_3", body))
			w.holds(body, body, body, body)
			until(t, "nothing is counted as in hand", func() bool {
				w.source.mu.Lock()
				defer w.source.mu.Unlock()
				return w.source.inHand == 0 && w.source.memory == 0
			})
		})
	}
}

func TestABodyOfUnknownLengthCountsAsTheLargest(t *testing.T) {
	t.Parallel()
	w := openEndpoint(t, nil, func(o *SourceOptions) { o.MaxBytes, o.Memory = 100, 100 })
	slow := w.raw(w.head("msg_1", "one") + "Transfer-Encoding: chunked\r\n\r\n")
	until(t, "it is read", func() bool {
		w.source.mu.Lock()
		defer w.source.mu.Unlock()
		return w.source.memory == 100
	})
	w.answers(http.StatusServiceUnavailable, w.hook("msg_2", "t"))
	if _, err := io.WriteString(slow, "3\r\none\r\n0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	until(t, "it is read, and counts as what it is", func() bool {
		w.source.mu.Lock()
		defer w.source.mu.Unlock()
		return w.source.memory == 3
	})
	w.receive()
	if got := status(t, slow); got != http.StatusNoContent {
		t.Errorf("the answer is %d", got)
	}
}

func TestARequestIsReleasedWithTheTimeToWait(t *testing.T) {
	t.Parallel()
	w := openEndpoint(t, nil)
	got := make(chan reply, 1)
	go func() { got <- w.send(w.hook("msg_1", "one")) }()
	b, err := w.source.Fetch(t.Context(), source.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.source.Release(t.Context(), []source.Receipt{b.Messages[0].Receipt}, 61*time.Second); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.status != http.StatusServiceUnavailable || a.retryAfter != "61" {
		t.Errorf("the answer is %+v", a)
	}
}

func TestAServerThatIsShutDownFirstAnswersAllThatItHas(t *testing.T) {
	t.Parallel()
	g := newGate()
	w := take(t, g.fault)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() { w.answers(http.StatusNoContent, w.hook(fmt.Sprint("msg_", n), "x")) })
	}
	until(t, "all are in hand, and a commit begins", func() bool {
		w.source.mu.Lock()
		defer w.source.mu.Unlock()
		return w.source.waiting == 20 && g.at.Load() > 0
	})
	down := make(chan error, 1)
	go func() { down <- w.server.Config.Shutdown(context.Background()) }()
	close(g.shut)
	if err := <-down; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	all.Wait()
	w.end()
	if err := w.source.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if n := len(w.box()); n != 20 {
		t.Errorf("%d of 20 are stored", n)
	}
}

func TestCloseAnswersWhatIsNotStoredWith503AndWaitsUntilThatIsWritten(t *testing.T) {
	t.Parallel()
	w := openEndpoint(t, nil)
	var all sync.WaitGroup
	for n := range 10 {
		all.Go(func() { w.answers(http.StatusServiceUnavailable, w.hook(fmt.Sprint("msg_", n), "x")) })
	}
	until(t, "all wait", func() bool {
		w.source.mu.Lock()
		defer w.source.mu.Unlock()
		return len(w.source.queue) == 10
	})
	b, err := w.source.Fetch(t.Context(), source.Limits{Messages: 4})
	if err != nil || len(b.Messages) != 4 {
		t.Fatalf("%d messages came, %v", len(b.Messages), err)
	}
	if err := w.source.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if n := w.source.Stats().Unavailable; n != 10 {
		t.Errorf("when it was closed, %d of 10 had an answer", n)
	}
	all.Wait()
	if a := w.answers(http.StatusServiceUnavailable, w.hook("msg_11", "x")); a.retryAfter == "" {
		t.Error("after Close there is no Retry-After")
	}
	if _, err := w.source.Ack(t.Context(), []source.Receipt{b.Messages[0].Receipt}); !errors.Is(err, source.ErrClosed) {
		t.Errorf("after Close, Ack says %v", err)
	}
}

func TestNoAnswerErrorOrLogLineShowsASecretOrAPayload(t *testing.T) {
	t.Parallel()
	const secret = "whsec_Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5"
	db := &broken{}
	w := take(t, db.fault, func(o *SourceOptions) { o.Secrets, o.AnswerWithin = []string{secret}, 100*time.Millisecond })
	plain := func(*http.Request) {}
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	requests := func() (answers []string) {
		for _, change := range []func(*http.Request){
			plain, set("webhook-signature", "v1,canary"), set("webhook-timestamp", "canary"), set("Content-Encoding", "canary"), set("Content-Type", "canary"),
			set("Postbag-Headers", "canary"), set("Postbag-Key", "canary%FF"), set("Postbag-Type", "canary%FF"), set("X-Long", strings.Repeat("canary", 20_000)),
			func(r *http.Request) { r.Method = "CANARY" }, func(r *http.Request) { r.Header["Postbag-Key"] = []string{"canary", "canary"} },
		} {
			r := w.hook("msg_1", "canary", func(r *http.Request) {
				sign(r.Header, []string{secret}, "msg_1", time.Now(), []byte("canary"))
				r.Header.Set("Authorization", "canary")
				r.URL.RawQuery = "token=canary"
			}, change)
			answers = append(answers, w.send(r).body)
		}
		return answers
	}
	said := requests()
	db.away.Store(true)
	said = append(said, requests()...)
	db.away.Store(false)
	said = append(said, w.log.String(), fmt.Sprintf("%v %+v %#v", w.source, w.source, w.source))
	for _, err := range w.faults {
		said = append(said, fmt.Sprintf("%v %+v %#v", err, err, err))
	}
	for _, text := range said {
		if strings.Contains(strings.ToLower(text), "canary") || strings.Contains(text, "Y2FuYXJ5") {
			t.Errorf("this shows a secret: %s", text)
		}
	}
	if len(w.faults) < 8 {
		t.Errorf("only %d faults were reported", len(w.faults))
	}
}

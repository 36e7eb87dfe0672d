package webhook

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

func TestARequestThatCanNeverBeRightIsRefusedAndNotStored(t *testing.T) {
	t.Parallel()
	w := take(t, nil, func(o *SourceOptions) { o.ContentTypes = []string{"application/json"} })
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	add := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Add(name, value) }
	}
	signed := func(id string, age time.Duration) func(*http.Request) {
		return func(r *http.Request) { sign(r.Header, []string{secretA}, id, time.Now().Add(-age), []byte("one")) }
	}
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"another method":                  {func(r *http.Request) { r.Method = http.MethodPut }, 405},
		"an encoded body":                 {set("Content-Encoding", "gzip"), 415},
		"another content type":            {set("Content-Type", "text/plain"), 415},
		"a content type that is none":     {set("Content-Type", ";"), 415},
		"no id":                           {func(r *http.Request) { r.Header.Del("Webhook-Id") }, 400},
		"two ids":                         {add("webhook-id", "msg_2"), 400},
		"an id with a full stop":          {signed("msg.1", 0), 400},
		"an id with a space at its end":   {signed("msg_\u00e9", 0), 400},
		"an id that is too long":          {signed(strings.Repeat("x", 256), 0), 400},
		"no timestamp":                    {func(r *http.Request) { r.Header.Del("Webhook-Timestamp") }, 400},
		"a timestamp that is no number":   {set("webhook-timestamp", "now"), 400},
		"a timestamp of six minutes ago":  {signed("msg_1", 6*time.Minute), 401},
		"a timestamp of six minutes on":   {signed("msg_1", -6*time.Minute), 401},
		"no signature":                    {func(r *http.Request) { r.Header.Del("Webhook-Signature") }, 400},
		"a signature of nothing":          {set("webhook-signature", "v1,"), 401},
		"the signature of another id":     {set("webhook-id", "msg_2"), 401},
		"the signature of another time":   {set("webhook-timestamp", fmt.Sprint(time.Now().Unix()-1)), 401},
		"a signature with another secret": {func(r *http.Request) { sign(r.Header, []string{secretB}, "msg_1", time.Now(), []byte("one")) }, 401},
		"the signature of another body":   {func(r *http.Request) { sign(r.Header, []string{secretA}, "msg_1", time.Now(), []byte("two")) }, 401},
		"two topics":                      {func(r *http.Request) { r.Header["Postbag-Topic"] = []string{"a", "b"} }, 400},
		"broken headers of a message":     {set("Postbag-Headers", "name"), 400},
	} {
		a := w.send(w.hook("msg_1", "one", set("Content-Type", "application/json; charset=utf-8"), c.change))
		if a.status != c.status {
			t.Errorf("%s: the answer is %d %q, want %d", name, a.status, a.body, c.status)
		}
		if a.retryAfter != "" || !strings.HasPrefix(a.body, "webhook: ") || strings.Contains(a.body, "SourceOptions") {
			t.Errorf("%s: it says %+v", name, a)
		}
	}
	w.holds()
	if s := w.source.Stats(); s.Refused != 21 || s.Accepted+s.Unavailable != 0 || len(w.faults) != 21 {
		t.Errorf("it counted %+v and reported %d faults", s, len(w.faults))
	}
	w.answers(http.StatusNoContent, w.hook("msg_1", "one", set("Content-Type", "Application/JSON; charset=utf-8"), signed("msg_1", 4*time.Minute)))
	w.holds("one")
}

func TestAReplayThatIsOutsideOfTheToleranceIsRefused(t *testing.T) {
	t.Parallel()
	w := take(t, nil, func(o *SourceOptions) { o.Tolerance = time.Minute })
	old := func(age time.Duration) func(*http.Request) {
		return func(r *http.Request) { sign(r.Header, []string{secretA}, "msg_1", time.Now().Add(-age), []byte("one")) }
	}
	w.answers(http.StatusNoContent, w.hook("msg_1", "one", old(50*time.Second)))
	w.answers(http.StatusUnauthorized, w.hook("msg_1", "one", old(70*time.Second)))
	if !errors.Is(w.faults[0], ErrTimestamp) {
		t.Errorf("it reported %v", w.faults[0])
	}
}

// raw sends text over a connection of its own, and returns it.
func (w *taking) raw(text string) net.Conn {
	w.Helper()
	c, err := net.Dial("tcp", w.server.Listener.Addr().String())
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		w.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		w.Fatal(err)
	}
	return c
}

// head is that of a signed request, without its end.
func (w *taking) head(id, body string) string {
	r := w.hook(id, body)
	var b strings.Builder
	b.WriteString("POST /hooks/acme HTTP/1.1\r\nHost: x\r\n")
	_ = r.Header.Write(&b)
	return b.String()
}

// status reads an answer.
func status(tb testing.TB, c net.Conn) int {
	tb.Helper()
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		tb.Fatalf("no answer: %v", err)
	}
	_ = a.Body.Close()
	return a.StatusCode
}

func TestABodyThatIsTooLargeIsRefusedBeforeMoreOfItIsRead(t *testing.T) {
	t.Parallel()
	w := take(t, nil, func(o *SourceOptions) { o.MaxBytes = 1000 })
	// Nothing of the body is ever sent.
	if got := status(t, w.raw(w.head("msg_1", "one")+"Content-Length: 1001\r\n\r\n")); got != http.StatusRequestEntityTooLarge {
		t.Errorf("for a length over the limit the answer is %d", got)
	}
	// A chunk over the limit, and no end.
	chunk := "3e9\r\n" + strings.Repeat("x", 1001) + "\r\n"
	if got := status(t, w.raw(w.head("msg_2", "one")+"Transfer-Encoding: chunked\r\n\r\n"+chunk)); got != http.StatusRequestEntityTooLarge {
		t.Errorf("for chunks over the limit the answer is %d", got)
	}
	w.answers(http.StatusNoContent, w.hook("msg_3", strings.Repeat("x", 1000)))
	if len(w.box()) != 1 || !errors.Is(w.faults[0], ErrTooLarge) {
		t.Errorf("%d messages are stored, and it reported %v", len(w.box()), w.faults)
	}
}

func TestASenderWhoseBodyIsSlowIsCutOffAndHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := take(t, nil, func(o *SourceOptions) { o.ReadTimeout = 300 * time.Millisecond })
	began := time.Now()
	c := w.raw(w.head("msg_1", "one") + "Content-Length: 3\r\n\r\no")
	w.answers(http.StatusNoContent, w.hook("msg_2", "two"))
	if got := status(t, c); got != http.StatusRequestTimeout {
		t.Errorf("the answer is %d", got)
	}
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("it was cut off after %s", took)
	}
	w.holds("two")
}

// The server reads what is left of a body before it writes the answer.
func TestASenderThatIsRefusedAndWhoseBodyNeverComesIsCutOff(t *testing.T) {
	t.Parallel()
	w := take(t, nil, func(o *SourceOptions) { o.ReadTimeout = 300 * time.Millisecond })
	for head, want := range map[string]int{
		"PUT /hooks/acme HTTP/1.1\r\nHost: x\r\n":          http.StatusMethodNotAllowed,
		"POST /hooks/acme HTTP/1.1\r\nHost: x\r\n":         http.StatusBadRequest, // it has no id
		w.head("msg_1", "one") + "Content-Encoding: x\r\n": http.StatusUnsupportedMediaType,
	} {
		if got := status(t, w.raw(head+"Content-Length: 3\r\n\r\no")); got != want {
			t.Errorf("the answer is %d, want %d", got, want)
		}
	}
	w.answers(http.StatusNoContent, w.hook("msg_2", "two"))
	w.holds("two")
}

func TestTheTimeForTheBodyDoesNotBoundTheWaitForTheCommit(t *testing.T) {
	t.Parallel()
	g := newGate()
	w := take(t, g.fault, func(o *SourceOptions) { o.ReadTimeout = 300 * time.Millisecond })
	got := make(chan reply, 2)
	for id, body := range map[string]string{"msg_1": "one", "msg_2": ""} { // net/http reads on in another way where there is no body
		r := w.hook(id, body)
		go func() { got <- w.send(r) }()
	}
	until(t, "both are in hand", func() bool {
		w.source.mu.Lock()
		defer w.source.mu.Unlock()
		return w.source.waiting == 2
	})
	select {
	case a := <-got:
		t.Errorf("it was answered with %d", a.status)
		got <- a
	case <-time.After(600 * time.Millisecond):
	}
	close(g.shut)
	for range 2 {
		if a := <-got; a.status != http.StatusNoContent {
			t.Errorf("the answer is %d %q", a.status, a.body)
		}
	}
}

func TestASenderThatHangsUpInItsBodyIsNotStored(t *testing.T) {
	t.Parallel()
	w := take(t, nil)
	_ = w.raw(w.head("msg_1", "one") + "Content-Length: 3\r\n\r\non").Close()
	until(t, "the source sees that the sender hung up", func() bool { return w.source.Stats().Gone == 1 })
	w.holds()
}

func TestASenderThatHangsUpBeforeTheFetchIsNotStored(t *testing.T) {
	t.Parallel()
	w := openEndpoint(t, nil)
	c := w.raw(w.head("msg_1", "one") + "Content-Length: 3\r\n\r\none")
	until(t, "the request waits", func() bool {
		w.source.mu.Lock()
		defer w.source.mu.Unlock()
		return len(w.source.queue) == 1
	})
	_ = c.Close()
	until(t, "the source sees that the sender hung up", func() bool { return w.source.Stats().Gone == 1 })
	w.receive()
	w.answers(http.StatusNoContent, w.hook("msg_2", "two"))
	w.holds("two")
}

func TestASenderThatHangsUpDuringTheCommitIsStoredOnceWhenItComesAgain(t *testing.T) {
	t.Parallel()
	g := newGate()
	w := take(t, g.fault)
	c := w.raw(w.head("msg_1", "one") + "Content-Length: 3\r\n\r\none")
	until(t, "the commit begins", func() bool { return g.at.Load() == 1 })
	_ = c.Close()
	until(t, "the source sees that the sender hung up", func() bool { return w.source.Stats().Gone == 1 })
	close(g.shut)
	w.answers(http.StatusNoContent, w.hook("msg_1", "one"))
	w.holds("one")
}

// A sender that stops writing reads on. What it reads must not be the 200 that net/http writes for a handler that wrote nothing.
func TestASenderThatOnlyStopsWritingIsNotToldThatItsMessageIsStored(t *testing.T) {
	t.Parallel()
	w := openEndpoint(t, nil)
	for id, body := range map[string]string{"msg_1": "one", "msg_2": "on"} {
		c := w.raw(w.head(id, "one") + "Content-Length: 3\r\n\r\n" + body)
		if half, is := c.(*net.TCPConn); !is || half.CloseWrite() != nil {
			t.Fatal("the connection cannot be half closed")
		}
		if got := status(t, c); got != http.StatusServiceUnavailable {
			t.Errorf("after the body %q the answer is %d", body, got)
		}
	}
}

func TestUnsignedRequestsAreTakenOnlyIfTheOptionsSaySo(t *testing.T) {
	t.Parallel()
	w := take(t, nil, func(o *SourceOptions) { o.Secrets, o.Unsigned = nil, true })
	bare := func(body string, change func(*http.Request)) *http.Request {
		return w.hook("msg_1", body, func(r *http.Request) {
			r.Header = http.Header{}
			change(r)
		})
	}
	for range 2 {
		w.answers(http.StatusNoContent, bare("one", func(r *http.Request) { r.Header.Set("Webhook-Id", "a.b") }))
		w.answers(http.StatusNoContent, bare("two", func(r *http.Request) { r.Header.Set("Idempotency-Key", "k") }))
		w.answers(http.StatusNoContent, bare("three", func(*http.Request) {}))
	}
	items := w.holds("one", "two", "three")
	if fault := items[2].Headers[store.FaultHeader]; !strings.Contains(fault, "no id") {
		t.Errorf("the message without an id has the fault %q", fault)
	}
	if items[0].Headers[store.FaultHeader]+items[1].Headers[store.FaultHeader] != "" {
		t.Errorf("messages with an id have faults: %q, %q", items[0].Headers, items[1].Headers)
	}
}

func TestBadOptionsOfASourceAreRefusedAndEachIsNamed(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]SourceOptions{
		"there is no secret":                         {},
		"SourceOptions.Unsigned":                     {Secrets: []string{secretA}, Unsigned: true},
		"secret 2":                                   {Secrets: []string{secretA, "whsec_"}},
		"SourceOptions.Tolerance":                    {Secrets: []string{secretA}, Tolerance: -1},
		"SourceOptions.MaxBytes":                     {Secrets: []string{secretA}, MaxBytes: -1},
		"SourceOptions.AnswerWithin":                 {Secrets: []string{secretA}, AnswerWithin: -1},
		"SourceOptions.ReadTimeout":                  {Secrets: []string{secretA}, ReadTimeout: -1},
		"SourceOptions.RetryAfter":                   {Secrets: []string{secretA}, RetryAfter: -1},
		"SourceOptions.Requests":                     {Secrets: []string{secretA}, Requests: -1},
		"SourceOptions.Memory is negative":           {Secrets: []string{secretA}, Memory: -1},
		"SourceOptions.Memory is 5 and MaxBytes 100": {Secrets: []string{secretA}, Memory: 5, MaxBytes: 100},
		`SourceOptions.ContentTypes has "json"`:      {Secrets: []string{secretA}, ContentTypes: []string{"json"}},
	} {
		_, err := NewSource(o)
		if err == nil || !strings.Contains(err.Error(), want) || o.Validate() == nil {
			t.Errorf("the error is %v, and does not say %q", err, want)
		}
	}
	_, err := NewSource(SourceOptions{Secrets: []string{secretA}, Requests: -1, RetryAfter: -1})
	if err == nil || !strings.Contains(err.Error(), "Requests") || !strings.Contains(err.Error(), "RetryAfter") {
		t.Errorf("of two faults it names %v", err)
	}
	s, err := NewSource(SourceOptions{Secrets: []string{secretA}, MaxBytes: 100 << 20})
	if err != nil || s.settings.Memory != 100<<20 {
		t.Errorf("a large MaxBytes is refused: %v", err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

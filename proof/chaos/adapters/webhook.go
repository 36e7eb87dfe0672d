package adapters

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/proof/chaos"
)

// Webhook is a receiver of webhooks, in a process of its own, that writes down what it takes before it answers.
type Webhook struct{}

// Name implements chaos.Broker.
func (Webhook) Name() string { return "webhook" }

// refusedType is the type of messages that the receiver refuses.
const refusedType = "refused"

// Poison implements chaos.Broker.
func (Webhook) Poison(m *postbag.Message) bool {
	m.Type = refusedType
	return true
}

// Open implements chaos.Broker. The DSN is a URL whose fragment is the secret.
func (Webhook) Open(_ context.Context, dsn string) (broker.Destination, error) {
	where, secret, _ := strings.Cut(dsn, "#")
	return webhook.New(webhook.Options{
		URL: where, Secrets: []string{secret}, Timeout: 5 * time.Second,
		AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
}

// taken is a line of the receiver's record.
type taken struct {
	Key     string    `json:"key"`
	Tx      string    `json:"tx"`
	Replay  string    `json:"replay,omitempty"`
	Payload []byte    `json:"payload"`
	At      time.Time `json:"at"`
}

// receiver is the process that takes webhooks.
type receiver struct {
	mode  atomic.Int64           // the status that everything is answered with; 0: it is taken
	topic atomic.Pointer[string] // the one that alone is answered so; nil or empty: all are

	mu  sync.Mutex
	out *os.File
}

// Serve implements chaos.Server. arg is an address and a file.
func (Webhook) Serve(ctx context.Context, arg string) error {
	address, path, _ := strings.Cut(arg, " ")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	r := &receiver{out: out}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return errors.Join(err, out.Close())
	}
	s := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	<-ctx.Done()
	bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = s.Shutdown(bye)
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, out.Close())
}

// ServeHTTP takes a message, or a command of the harness.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.URL.Path == "/mode" {
		var status int64
		_, _ = fmt.Sscan(q.URL.Query().Get("status"), &status) // no number is 0
		topic := q.URL.Query().Get("topic")
		r.topic.Store(&topic)
		r.mode.Store(status)
		return
	}
	status := int(r.mode.Load())
	if topic := r.topic.Load(); topic != nil && *topic != "" && q.Header.Get(webhook.HeaderTopic) != *topic {
		status = 0
	}
	switch {
	case status != 0:
	case q.Header.Get("Postbag-Type") == refusedType:
		status = http.StatusUnprocessableEntity
	default:
		status = r.take(q)
	}
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
}

// take writes a message down, and answers that it is there only then.
func (r *receiver) take(q *http.Request) (status int) {
	payload, err := io.ReadAll(q.Body)
	if err != nil {
		return http.StatusBadRequest // the sender was killed in the middle, and reads no answer
	}
	key, err := url.PathUnescape(q.Header.Get("Postbag-Key"))
	if err != nil {
		return http.StatusBadRequest
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	line, err := json.Marshal(taken{Key: key, Tx: q.Header.Get("Tx"), Replay: q.Header.Get(broker.HeaderReplay), Payload: payload, At: time.Now()})
	if err == nil {
		_, err = r.out.Write(append(line, '\n'))
	}
	if err != nil {
		return http.StatusInternalServerError
	}
	return http.StatusNoContent
}

// hook is a started receiver.
type hook struct {
	child        *chaos.Child
	wire         *chaos.Wire
	direct, path string
	secret       string
	in           *os.File
	lines        *bufio.Reader
	half         []byte // of a line
}

// Start implements chaos.Broker.
func (Webhook) Start(ctx context.Context, t chaos.Terms) (_ chaos.Place, err error) {
	h := &hook{path: filepath.Join(t.Dir, "taken.jsonl"), secret: webhook.NewSecret()}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	if h.direct, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	if h.in, err = os.OpenFile(h.path, os.O_CREATE|os.O_RDONLY, 0o600); err != nil {
		return nil, err
	}
	h.lines = bufio.NewReader(h.in)
	if h.child, err = t.Child(h.direct + " " + h.path); err != nil {
		return nil, err
	}
	if h.wire, err = chaos.NewWire(h.direct); err != nil {
		return nil, err
	}
	return h, h.ready(ctx)
}

func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// ready waits until the receiver answers.
func (h *hook) ready(ctx context.Context) error {
	return chaos.Until(ctx, func() bool { return h.answer(ctx, 0, "") == nil })
}

// answer has the receiver answer everything, or one topic, with a status, or take it.
func (h *hook) answer(ctx context.Context, status int, topic string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/mode?status=%d&topic=%s", h.direct, status, topic), http.NoBody)
	if err != nil {
		return err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	return a.Body.Close()
}

// Version implements chaos.Place.
func (*hook) Version() string { return "a receiver of webhooks" }

// DSN implements chaos.Place.
func (h *hook) DSN() string { return "http://" + h.wire.Addr() + "/here#" + h.secret }

// Topic implements chaos.Place.
func (*hook) Topic() string { return "events" }

// hookBranch is the second topic.
const hookBranch = "branch"

// Branch implements chaos.Branched.
func (*hook) Branch() string { return hookBranch }

// More implements chaos.Place.
func (h *hook) More(ctx context.Context) (out []chaos.Arrival, err error) {
	for len(out) < 5000 {
		line, err := h.lines.ReadBytes('\n')
		h.half = append(h.half, line...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, err
		}
		var one taken
		err = json.Unmarshal(h.half, &one)
		h.half = nil
		if err != nil {
			return out, fmt.Errorf("adapters: the receiver's record: %w", err)
		}
		out = append(out, chaos.Arrival{Key: one.Key, Headers: map[string]string{"tx": one.Tx, broker.HeaderReplay: one.Replay}, Payload: one.Payload, From: one.At, To: one.At})
	}
	if len(out) == 0 {
		return nil, chaos.Pause(ctx, 50*time.Millisecond)
	}
	return out, nil
}

// Reread implements chaos.Rereadable.
func (h *hook) Reread() {
	_, _ = h.in.Seek(0, io.SeekStart) // a file can be read from its beginning
	h.lines.Reset(h.in)
	h.half = nil
}

// Faults implements chaos.Place.
func (h *hook) Faults() []chaos.Fault {
	answering := func(status int) chaos.Fault {
		return chaos.Fault{
			Name: fmt.Sprintf("answers of status %d", status), Room: chaos.Brokers, Stops: true, Least: 500 * time.Millisecond, Most: 3 * time.Second,
			Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
				return func(ctx context.Context) error { return h.answer(ctx, 0, "") }, h.answer(ctx, status, "")
			},
		}
	}
	toBranch := func(status int) chaos.Fault {
		answer := func(status int) func(context.Context) error {
			return func(ctx context.Context) error { return h.answer(ctx, status, hookBranch) }
		}
		return ofTopic(fmt.Sprintf("answers of status %d to one topic", status), hookBranch, answer(status), answer(0))
	}
	return slices.Concat(h.wire.Faults(chaos.BrokerWire), []chaos.Fault{
		h.wire.Lost("answer to a webhook lost", chaos.BrokerWire, chaos.EveryRelay, "204 No Content"),
		h.wire.Doubtful("cut after a webhook was sent", chaos.BrokerWire, chaos.EveryRelay, "Postbag-Key"),
		atOnce("restart of the receiver", chaos.Brokers, func(ctx context.Context) error { return errors.Join(h.child.Restart(ctx), h.ready(ctx)) }),
		gone("SIGKILL of the receiver", chaos.Brokers, h.child, h.ready),
		frozen("SIGSTOP of the receiver", chaos.Brokers, h.child),
		answering(http.StatusServiceUnavailable),
		answering(http.StatusTooManyRequests),
		answering(http.StatusInternalServerError),
		answering(http.StatusForbidden), // a right that was taken away, and is given back
		answering(http.StatusGone),
		toBranch(http.StatusNotFound),
		toBranch(http.StatusGone),
	})
}

// Close implements chaos.Place.
func (h *hook) Close() error {
	in := h.in
	h.in = nil
	return errors.Join(closed(h.wire), closed(h.child), closed(in))
}

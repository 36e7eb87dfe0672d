package survival

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/proof/internal/daemon"
)

// mostMemory is what a container has in which a relay drains any box that its limits
// allow, with one subscription that has the default buffer.
const mostMemory = 256 << 20

// smallMemory is the same with a buffer of smallBuffer: half of it, and the soft limit alone
// where no message is so large that its copies count. A relay whose buffer has no bound holds
// two pages of the largest headers that a box takes, which fit into mostMemory and not into this.
const (
	smallBuffer = 16 << 20
	smallMemory = 128 << 20
	softMemory  = 96 << 20
)

// weight is a backlog of messages that are alike.
type weight struct {
	payload, headers int // bytes of each message
	n                int
}

func (w weight) backlog() int { return (w.payload + w.headers) * w.n }

// A backlog of large messages is drained in little memory, whatever the destination
// does: what is read and not let go is bounded by bytes.
func TestLargeMessagesTakeLittleMemory(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	tests := []struct {
		name string
		weight
		answer       time.Duration
		buffer, most int
		short        bool
	}{
		{"16 MiB, no answer and then all", weight{payload: 16 << 20, n: 20}, late, 0, mostMemory, true},
		{"the largest headers, no answer", weight{payload: 1, headers: 65_000, n: 2500}, never, smallBuffer, softMemory, true},
		{"1 MiB, no answer, a small buffer", weight{payload: 1 << 20, n: 250}, never, smallBuffer, smallMemory, true},
		{"1 MiB, no answer and then all", weight{payload: 1 << 20, n: 1000}, late, 0, mostMemory, false},
		{"1 MiB, 0.5 s an answer", weight{payload: 1 << 20, n: 1000}, 500 * time.Millisecond, 0, mostMemory, false},
		{"1 MiB, at once", weight{payload: 1 << 20, n: 1000}, 0, 0, mostMemory, false},
		{"16 MiB, 0.5 s an answer", weight{payload: 16 << 20, n: 100}, 500 * time.Millisecond, 0, mostMemory, false},
		{"16 MiB, at once", weight{payload: 16 << 20, n: 100}, 0, 0, mostMemory, false},
		{"5 MB of headers, no answer and then all", weight{payload: 1, headers: 5_000_000, n: 300}, late, 0, mostMemory, false},
		{"5 MB of headers, 0.5 s an answer", weight{payload: 1, headers: 5_000_000, n: 300}, 500 * time.Millisecond, 0, mostMemory, false},
		{"the largest headers, at once", weight{payload: 1, headers: 65_000, n: 6000}, 0, 0, mostMemory, false},
	}
	for name, open := range map[string]func(*testing.T) fill{"PostgreSQL": largeOnPostgres, "MariaDB": largeOnMariaDB, "SQLite": largeOnSQLite} {
		t.Run(name, func(t *testing.T) {
			fill := open(t)
			for _, test := range tests {
				if !test.short && !full() {
					continue
				}
				t.Run(test.name, func(t *testing.T) {
					if test.backlog() <= test.most {
						t.Fatalf("a backlog of %d bytes fits into %d: it proves nothing", test.backlog(), test.most)
					}
					more := ""
					if test.buffer > 0 {
						more = fmt.Sprintf("subscriptions: [{buffer: %d}]", test.buffer)
					}
					memory := drainLarge(t, fill(t, test.weight), more, test.answer, test.weight)
					if memory > test.most {
						t.Errorf("the relay used %d MiB, of %d", memory>>20, test.most>>20)
					}
				})
			}
		})
	}
}

// A destination answers no sooner than the relay has stopped growing, and then everything;
// or never.
const (
	late  = time.Duration(-1)
	never = time.Duration(-2)
)

// drainLarge has a relay of a process of its own deliver a backlog to a webhook that takes
// so long for an answer. It returns the most memory that the process had.
func drainLarge(t *testing.T, dsn, more string, answer time.Duration, w weight) int {
	t.Helper()
	s := startSink(t, max(answer, 0))
	relay := daemon.Start(t, "a", fmt.Sprintf(`
store: {dsn_env: BOX_DSN}
destinations: {hook: {webhook: {url: %s, secrets_env: [SECRET], allow_private: [127.0.0.0/8]}}}
maintenance: false
%s
`, s.url, more), "SECRET="+webhook.NewSecret(), "BOX_DSN="+dsn)
	begun := time.Now()
	if answer < 0 {
		settled(t, relay.PID(), s)
		t.Logf("%d of %d messages are out after %v: at most %d MiB", s.begun.Load(), w.n,
			time.Since(begun).Round(time.Millisecond), peakMemory(t, relay.PID())>>20)
	}
	if answer != never {
		s.release()
		s.await(t, w.n)
	}
	memory := peakMemory(t, relay.PID())
	t.Logf("%d messages of %d bytes and %d of headers, %d answered in %v: at most %d MiB", w.n, w.payload, w.headers, s.distinct(),
		time.Since(begun).Round(time.Millisecond), memory>>20)
	relay.Kill()
	return memory
}

// sink takes webhooks, lets them wait, and keeps nothing of them but their ids.
type sink struct {
	url     string
	begun   atomic.Int64
	free    chan struct{} // closed when it may answer
	release func()

	mu       sync.Mutex
	answered map[string]bool // ids
}

// startSink starts one that answers nothing until its release, and each request after
// some time then.
func startSink(t *testing.T, wait time.Duration) *sink {
	t.Helper()
	s := &sink{free: make(chan struct{}), answered: map[string]bool{}}
	s.release = sync.OnceFunc(func() { close(s.free) })
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		s.begun.Add(1)
		_, _ = io.Copy(io.Discard, q.Body)
		select {
		case <-s.free:
		case <-q.Context().Done():
			return
		}
		select {
		case <-time.After(wait):
		case <-q.Context().Done():
			return
		}
		w.WriteHeader(http.StatusNoContent)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answered[q.Header.Get("Webhook-Id")] = true
	}))
	server.Config.MaxHeaderBytes = 32 << 20
	server.Start()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.url = server.URL
	return s
}

// distinct is how many messages were answered.
func (s *sink) distinct() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answered)
}

func (s *sink) await(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); s.distinct() < n; pause(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages were answered", s.distinct(), n)
		}
	}
}

// settled waits until messages are under way and the process has not grown for a while,
// but for what the runtime takes bit by bit.
func settled(t *testing.T, pid int, s *sink) {
	t.Helper()
	most, since := 0, time.Now()
	for deadline := time.Now().Add(time.Minute); time.Since(since) < 3*time.Second; pause(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the process goes on growing")
		}
		if memory := peakMemory(t, pid); memory > most+1<<20 || s.begun.Load() == 0 {
			most, since = memory, time.Now()
		}
	}
}

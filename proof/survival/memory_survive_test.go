package survival

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/internal/daemon"
	"github.com/postbag/postbag/store/pgstore"
)

// mostMemory is what a container has in which a relay drains any box that its limits
// allow.
const mostMemory = 256 << 20

// A backlog of large messages is drained in little memory, whatever the destination
// does: what is read and not let go is bounded by bytes.
func TestLargeMessagesTakeLittleMemory(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	const never = time.Hour
	large := func(bytes, n int) string {
		return fmt.Sprintf(`insert into postbag.outbox (topic, payload)
			select 'events.a', convert_to(repeat('x', %d), 'UTF8') from generate_series(1, %d)`, bytes, n)
	}
	wide := func(bytes, n int) string {
		return fmt.Sprintf(`insert into postbag.outbox (topic, payload, headers)
			select 'events.a', 'x', json_build_object('h', repeat('x', %d)) from generate_series(1, %d)`, bytes, n)
	}
	tests := map[string]struct {
		insert func(bytes, n int) string
		bytes  int
		n, few int // messages, and in the short form
		wait   time.Duration
	}{
		"1 MiB, 0.5 s an answer":     {large, 1 << 20, 1000, 200, 500 * time.Millisecond},
		"1 MiB, no answer":           {large, 1 << 20, 1000, 0, never},
		"1 MiB, at once":             {large, 1 << 20, 1000, 0, 0},
		"16 MiB, 0.5 s an answer":    {large, 16 << 20, 200, 0, 500 * time.Millisecond},
		"16 MiB, no answer":          {large, 16 << 20, 200, 0, never},
		"16 MiB, at once":            {large, 16 << 20, 200, 10, 0},
		"5 MB of headers, no answer": {wide, 5_000_000, 300, 40, never},
		"5 MB of headers, 0.5 s":     {wide, 5_000_000, 300, 0, 500 * time.Millisecond},
	}
	dsn := servertest.Postgres(t, testserver.PostgresOptions{}).DSN("postgres")
	for name, test := range tests {
		n := test.n
		if !full() {
			n = test.few
		}
		if n == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			fillBox(t, dsn, test.insert(test.bytes, n))
			s := startSink(t, test.wait)
			relay := daemon.Start(t, "a", fmt.Sprintf(`
store: {dsn_env: BOX_DSN}
destinations: {hook: {webhook: {url: %s, secrets_env: [SECRET], allow_private: [127.0.0.0/8]}}}
maintenance: false
`, s.url), "SECRET="+webhook.NewSecret(), "BOX_DSN="+dsn)
			begun := time.Now()
			if test.wait == never {
				settled(t, relay.PID(), s)
			} else {
				s.await(t, n)
			}
			memory := peakMemory(t, relay.PID())
			t.Logf("%d messages of %d bytes, %d answered in %v: at most %d MiB", n, test.bytes, s.answered.Load(), time.Since(begun).Round(time.Millisecond), memory>>20)
			if memory > mostMemory {
				t.Errorf("the relay used %d MiB, of %d", memory>>20, mostMemory>>20)
			}
			relay.Kill()
		})
	}
}

// fillBox makes the box again, as an old one is that does not bound headers, and fills
// it.
func fillBox(t *testing.T, dsn, insert string) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), `drop schema if exists postbag cascade`); err != nil {
		t.Fatal(err)
	}
	s, err := pgstore.Open(t.Context(), pool, pgstore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{`alter domain postbag.headers drop constraint headers_are_small`, insert} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// sink takes webhooks, lets them wait, and keeps nothing.
type sink struct {
	url             string
	begun, answered atomic.Int64
}

func startSink(t *testing.T, wait time.Duration) *sink {
	t.Helper()
	s := &sink{}
	ended, end := context.WithCancel(context.WithoutCancel(t.Context()))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		s.begun.Add(1)
		_, _ = io.Copy(io.Discard, q.Body)
		if wait > 0 {
			select {
			case <-time.After(wait):
			case <-ended.Done():
			case <-q.Context().Done():
			}
		}
		w.WriteHeader(http.StatusNoContent)
		s.answered.Add(1)
	}))
	server.Config.MaxHeaderBytes = 32 << 20
	server.Start()
	t.Cleanup(func() { end(); server.Close() })
	s.url = server.URL
	return s
}

func (s *sink) await(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); s.answered.Load() < int64(n); pause(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages were answered", s.answered.Load(), n)
		}
	}
}

// settled waits until messages are under way and the process has not grown for a
// while.
func settled(t *testing.T, pid int, s *sink) {
	t.Helper()
	most, since := 0, time.Now()
	for deadline := time.Now().Add(time.Minute); time.Since(since) < 2*time.Second; pause(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the process goes on growing")
		}
		if memory := peakMemory(t, pid); cmp.Compare(memory, most) > 0 || s.begun.Load() == 0 {
			most, since = memory, time.Now()
		}
	}
}

package survival

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/internal/daemon"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

// The other stores bound what is read as PostgreSQL's does, up to the largest messages that a box takes.
func TestLargeMessagesTakeLittleMemoryOnMariaDBAndSQLite(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	const never = time.Hour
	tests := map[string]struct {
		payload, headers int
		n, few           int // messages, and in the short form
		wait             time.Duration
	}{
		"1 MiB, 0.5 s an answer":               {1 << 20, 0, 1000, 0, 500 * time.Millisecond},
		"1 MiB, no answer":                     {1 << 20, 0, 1000, 0, never},
		"1 MiB, at once":                       {1 << 20, 0, 1000, 0, 0},
		"16 MiB, 0.5 s an answer":              {16 << 20, 0, 100, 0, 500 * time.Millisecond},
		"16 MiB, no answer":                    {16 << 20, 0, 100, 10, never},
		"16 MiB, at once":                      {16 << 20, 0, 100, 0, 0},
		"the largest headers, 0.5 s an answer": {1, 60_000, 5000, 0, 500 * time.Millisecond},
		"the largest headers, no answer":       {1, 60_000, 5000, 0, never},
		"the largest headers, at once":         {1, 60_000, 5000, 0, 0},
	}
	for name, open := range map[string]func(*testing.T) (string, publish){"MariaDB": largeOnMariaDB, "SQLite": largeOnSQLite} {
		for what, test := range tests {
			n := test.n
			if !full() {
				n = test.few
			}
			if n == 0 {
				continue
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				dsn, publish := open(t)
				for range n {
					m := postbag.Message{Topic: "events.a", Payload: bytes.Repeat([]byte("x"), test.payload)}
					if test.headers > 0 {
						m.Headers = map[string]string{"h": string(bytes.Repeat([]byte("x"), test.headers))}
					}
					if err := publish(t.Context(), m); err != nil {
						t.Fatal(err)
					}
				}
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
				t.Logf("%d messages of %d bytes and %d of headers, %d answered in %v: at most %d MiB", n, test.payload, test.headers,
					s.answered.Load(), time.Since(begun).Round(time.Millisecond), memory>>20)
				if memory > mostMemory {
					t.Errorf("the relay used %d MiB, of %d", memory>>20, mostMemory>>20)
				}
				relay.Kill()
			})
		}
	}
}

func largeOnMariaDB(t *testing.T) (dsn string, publish publish) {
	t.Helper()
	server := servertest.MySQL(t, testserver.MySQLOptions{})
	db, err := sql.Open("mysql", server.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{"SET GLOBAL max_allowed_packet = 1073741824", "CREATE DATABASE shop"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	s, err := mysqlstore.Open(t.Context(), server.DSN("shop"), mysqlstore.Options{Create: true, Boxes: []string{"outbox"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return server.DSN("shop"), largest(t, s)
}

func largeOnSQLite(t *testing.T) (dsn string, publish publish) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "outbox.db")
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Create: true, Boxes: []string{"outbox"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return path, largest[*sql.Tx](t, s.SQL())
}

// largest publishes messages as large as a box takes.
func largest[Tx any](t *testing.T, a postbag.Appender[Tx]) publish {
	t.Helper()
	p, err := postbag.NewPublisher(a, postbag.PublisherOptions{MaxSize: postbag.MaxPayload})
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, msgs ...postbag.Message) error {
		return p.InTx(ctx, func(ctx context.Context, tx Tx) error { return p.Publish(ctx, tx, msgs...) })
	}
}

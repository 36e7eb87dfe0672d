package main

import (
	"database/sql"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// silent accepts connections and never says a word. It returns its address, and a channel
// that gets a value with each connection.
func silent(t *testing.T) (address string, came <-chan struct{}) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended, accepted := make(chan struct{}), make(chan struct{}, 100)
	go func() {
		defer close(ended)
		var open []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			open = append(open, c)
			accepted <- struct{}{}
		}
		for _, c := range open {
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String(), accepted
}

// locked is a database file that another process has for itself.
func locked(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	cli(t, "migrate", "up", "--store", path, "--box", "outbox").ok()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{"PRAGMA journal_mode = DELETE", "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// A relay that was told to stop while it opened its store ended with 130 and an error, as if
// something had been left undone. It had nothing to give back yet.
func TestARelayStoppedWhileItOpensItsStoreExitsWithZero(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]string{
		"postgresql": "postgres://app@ADDRESS/shop?sslmode=disable", "mysql": "mysql://app@ADDRESS/shop", "sqlite": "",
	} {
		for _, drain := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var reached <-chan struct{}
				var where string
				if name == "sqlite" {
					soon := make(chan struct{})
					time.AfterFunc(300*time.Millisecond, func() { close(soon) })
					where, reached = locked(t), soon
				} else {
					address, came := silent(t)
					where, reached = strings.Replace(dsn, "ADDRESS", address, 1), came
				}
				args, want := []string{"relay", "--store", where, "--to", "stdout:"}, exit.OK
				if drain { // nothing was drained
					args, want = append(args, "--drain"), exit.Interrupted
				}
				relay := start(t, args...)
				<-reached
				at := time.Now()
				if code := relay.end(); code != want {
					t.Errorf("the relay ended with %d, want %d", code, want)
				}
				if took := time.Since(at); took > 3*time.Second {
					t.Errorf("it took %v to end", took)
				}
				if text := relay.err.String(); strings.Contains(text, "WARN") || strings.Contains(text, "canceled") {
					t.Errorf("the log is:\n%s", text)
				}
			})
		}
	}
}

// A relay that could not give its leases back does not say that it shut down gracefully, and says who waits for what.
func TestTheLogOfAStopSaysWhetherTheRelayHandedOver(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]bool{"the store answers": false, "the store is locked": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := emptyFile(t)
			cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
			config := write(t, "postbag.yaml", "store: "+at.yaml+"\ngrace: 1s\ndestinations: {out: {stdout: {}}}\n")
			relay := start(t, "relay", "-c", config)
			await(t, "it delivers", func() bool { return strings.Contains(relay.err.String(), "begins to deliver") })
			if away {
				db, err := sql.Open("sqlite", at.where)
				if err != nil {
					t.Fatal(err)
				}
				db.SetMaxOpenConns(1)
				defer func() { _ = db.Close() }()
				for _, statement := range []string{"PRAGMA busy_timeout = 10000", "BEGIN IMMEDIATE"} {
					if _, err := db.ExecContext(t.Context(), statement); err != nil {
						t.Fatal(err)
					}
				}
			}
			if code := relay.end(); code != exit.OK {
				t.Errorf("it ended with %d", code)
			}
			log := relay.err.String()
			for text, want := range map[string]bool{
				"postbag: shut down gracefully": !away, "ended and could not give its leases back": away,
				"other relays take over when the leases run out": away,
			} {
				if got := strings.Contains(log, text); got != want {
					t.Errorf("the log says %q: %v\n%s", text, got, log)
				}
			}
		})
	}
}

package survival

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a relay in a process of its own.
type process struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	log  *safeBuffer
	done chan error
	last error // how it ended
}

// safeBuffer is a log that a process writes while the test reads.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// relayConfig is the configuration of the relays of a test.
type relayConfig struct {
	dsn  string // default: the world's server
	more string // further lines of the subscription
	top  string // further lines of the destinations, and at the top after them
	to   string // the destination; default: events
	sub  string // the subscription's name; default: default
}

// start starts a relay process.
func (w *world) start(name string, c relayConfig) *process {
	w.t.Helper()
	if c.dsn == "" {
		c.dsn = w.dsn
	}
	file := filepath.Join(w.t.TempDir(), name+".yaml")
	text := fmt.Sprintf(`name: %s
ttl: %s
store: {dsn_env: POSTBAG_DSN}
destinations:
  events: {url: %q, stream: %s}
%s
subscriptions:
  - name: %s
    to: %s
    in_flight: %d
%s
`, name, ttl, w.nats.URL(), stream, c.top, cmp.Or(c.sub, "default"), cmp.Or(c.to, "events"), inFlight, c.more)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	p := &process{t: w.t, name: name, log: &safeBuffer{}, done: make(chan error, 1)}
	p.cmd = exec.Command(program(w.t), "relay", "-c", file)
	p.cmd.Env = append(os.Environ(), "POSTBAG_DSN="+c.dsn)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	w.t.Cleanup(func() {
		p.signal(syscall.SIGCONT)
		p.kill()
		if w.t.Failed() {
			w.t.Logf("relay %s:\n%s", name, tail(p.log.String(), 6000))
		}
	})
	return p
}

func tail(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}

func (p *process) signal(s syscall.Signal) {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(s)
	}
}

// ready waits until the relay has opened its store.
func (p *process) ready() {
	p.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); p.lines("store opened") == 0; pause(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("relay %s does not open its store:\n%s", p.name, tail(p.log.String(), 3000))
		}
	}
}

// kill ends the process without warning, if it still runs.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	p.last = <-p.done
	p.cmd = nil
}

// stop asks the process to hand over and waits for its end.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	select {
	case err := <-p.done:
		if err != nil {
			p.t.Errorf("relay %s ended with %v:\n%s", p.name, err, tail(p.log.String(), 3000))
		}
		p.cmd = nil
	case <-time.After(20 * time.Second):
		p.t.Fatalf("relay %s does not end:\n%s", p.name, tail(p.log.String(), 3000))
	}
}

// lines counts the lines of the log that contain text.
func (p *process) lines(text string) (n int) {
	for line := range strings.Lines(p.log.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

package daemon

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "postbag-program-")
	if err != nil {
		return "", err
	}
	_, file, _, _ := runtime.Caller(0)
	path := filepath.Join(dir, "postbag")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", path, ".")
	cmd.Dir = filepath.Join(filepath.Dir(file), "..", "..", "..", "cmd", "postbag")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building postbag: %w: %s", err, out)
	}
	return path, nil
})

// Program is the path of the postbag command, which is built once a test process.
func Program(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Remove deletes what Program built. TestMain calls it after the tests.
func Remove() {
	if path, err := build(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
}

// Process is a relay in a process of its own.
type Process struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	log  *safeBuffer
	done chan error
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

// Start starts a relay with the configuration yaml and the environment of the test with env added ("NAME=value"). It is
// killed when the test ends, and its log is shown if the test failed.
func Start(t *testing.T, name, yaml string, env ...string) *Process {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Process{t: t, name: name, log: &safeBuffer{}, done: make(chan error, 1)}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), Program(t), "relay", "-c", file)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() {
		p.Signal(syscall.SIGCONT)
		p.Kill()
		if t.Failed() {
			t.Logf("relay %s:\n%s", name, tail(p.log.String(), 6000))
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

// Signal sends s to the process, if it still runs.
func (p *Process) Signal(s syscall.Signal) {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(s)
	}
}

// Ready waits until the relay has opened its store, at most 30 s.
func (p *Process) Ready() {
	p.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); p.Lines("store opened") == 0; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("relay %s does not open its store:\n%s", p.name, tail(p.log.String(), 3000))
		}
	}
}

// Kill ends the process without warning, if it still runs.
func (p *Process) Kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.await() // it was killed
	p.cmd = nil
}

func (p *Process) await() error { return <-p.done }

// Stop asks the process for a graceful shutdown and waits for its end, at most 20 s.
func (p *Process) Stop() {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
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

// Lines counts the lines of the log that contain text.
func (p *Process) Lines(text string) (n int) {
	for line := range strings.Lines(p.log.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// Log is what the process said so far.
func (p *Process) Log() string { return p.log.String() }

// PID is the process's number; zero if it has ended.
func (p *Process) PID() int {
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Done tells how the process ended, once, if nobody called Kill or Stop.
func (p *Process) Done() <-chan error { return p.done }

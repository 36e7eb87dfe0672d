package olddata_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/olddata"
)

// older and newer are the programs of both versions, each built once.
var (
	older = program{build: buildOlder}
	newer = program{build: buildNewer}
	built string // the folder with both
)

// program is one that the tests build.
type program struct {
	once  sync.Once
	build func(into string) error
	path  string
	err   error
}

func TestMain(m *testing.M) {
	_ = mysql.SetLogger(&mysql.NopLogger{}) // it fails without a logger only
	var err error
	if built, err = os.MkdirTemp("", "postbag-older-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(code)
}

// file builds the program, unless that was done.
func (p *program) file(name string) (string, error) {
	p.once.Do(func() {
		p.path = filepath.Join(built, name)
		p.err = p.build(p.path)
	})
	return p.path, p.err
}

// buildOlder builds the program from the files of the old commit. A worktree would leave marks in the repository.
func buildOlder(into string) error {
	checkout := into + "-checkout"
	if err := os.Mkdir(checkout, 0o700); err != nil {
		return err
	}
	top, err := exec.CommandContext(context.Background(), "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return err
	}
	archive := into + ".tar"
	for _, args := range [][]string{
		{"git", "-C", strings.TrimSpace(string(top)), "archive", "--format=tar", "--output=" + archive, olddata.Before},
		{"tar", "-x", "-C", checkout, "-f", archive},
	} {
		if out, err := exec.CommandContext(context.Background(), args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	return build(filepath.Join(checkout, "cmd", "postbag"), into)
}

func buildNewer(into string) error { return build(filepath.Join("..", "..", "cmd", "postbag"), into) }

func build(dir, into string) error {
	cmd := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-o", into, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// hasOlder says whether this checkout has the old commit: a shallow one has not.
func hasOlder() bool {
	return exec.CommandContext(context.Background(), "git", "cat-file", "-e", olddata.Before+"^{commit}").Run() == nil
}

// startOldInFull starts a relay of the old version, and returns what stops it. In the short form there is none, since the test of the
// mixed time has one.
func (u *upgrade) startOldInFull() (stop func()) {
	if !servertest.Full() {
		return func() {}
	}
	return u.startProgram(&older, "old").stop
}

// daemon is a relay in a process of its own.
type daemon struct {
	u    *upgrade
	name string
	cmd  *exec.Cmd
	log  *os.File
	done chan error
}

// startProgram starts a relay of a version.
func (u *upgrade) startProgram(p *program, name string) *daemon {
	path, err := p.file(name)
	if err != nil {
		u.t.Fatalf("the %s program cannot be built (the old commit is %s): %v; fetch the whole history", name, olddata.Before, err)
	}
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		// The header has an id of the webhook's own.
		if id, err := io.ReadAll(q.Body); err == nil && !u.accept(string(id)) {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	u.t.Cleanup(hook.Close)
	dir := u.t.TempDir()
	file := filepath.Join(dir, "relay.yaml")
	if err := os.WriteFile(file, []byte(u.kind.yaml(hook.URL)), 0o600); err != nil {
		u.t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		u.t.Fatal(err)
	}
	d := &daemon{u: u, name: name, log: log, done: make(chan error, 1)}
	d.cmd = exec.CommandContext(context.WithoutCancel(u.t.Context()), path, "relay", "-c", file)
	d.cmd.Env, d.cmd.Stdout, d.cmd.Stderr = append(os.Environ(), "BOX_DSN="+u.dsn, "SECRET="+webhook.NewSecret()), log, log
	if err := d.cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { // of a test that failed before it ended the process
		_ = d.cmd.Process.Kill()
		_ = log.Close()
	})
	go func() { d.done <- d.cmd.Wait() }()
	return d
}

// stop ends the process as an operator does.
func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	if err := <-d.done; err != nil {
		d.u.t.Errorf("the %s relay ended with %v", d.name, err)
	}
	d.tell()
}

// kill ends the process without its knowing.
func (d *daemon) kill() {
	_ = d.cmd.Process.Kill()
	if err := <-d.done; err == nil || d.cmd.ProcessState.Exited() {
		d.u.t.Errorf("the %s relay was not killed: it had ended with %v", d.name, err)
	}
	d.tell()
}

func (d *daemon) tell() {
	if d.u.t.Failed() {
		said, _ := os.ReadFile(d.log.Name())
		d.u.t.Logf("the %s relay says\n%s", d.name, said)
	}
}

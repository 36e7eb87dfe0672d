package olddata_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/olddata"
)

// older is the program of the old version, built once.
var older struct {
	once      sync.Once
	dir, path string
	says      string // why it could not be built
}

func TestMain(m *testing.M) {
	_ = mysql.SetLogger(&mysql.NopLogger{}) // it fails without a logger only
	code := m.Run()
	if older.dir != "" {
		_ = exec.CommandContext(context.Background(), "git", "worktree", "remove", "--force", filepath.Join(older.dir, "checkout")).Run()
		_ = os.RemoveAll(older.dir)
	}
	os.Exit(code)
}

// buildOlder builds the program from the old commit in a checkout of its own.
func buildOlder() {
	dir, err := os.MkdirTemp("", "postbag-older-")
	if err != nil {
		older.says = err.Error()
		return
	}
	older.dir = dir
	checkout, path := filepath.Join(dir, "checkout"), filepath.Join(dir, "postbag")
	out, err := exec.CommandContext(context.Background(), "git", "worktree", "add", "--quiet", "--detach", checkout, olddata.Before).CombinedOutput()
	if err == nil {
		cmd := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-o", path, ".")
		cmd.Dir, cmd.Env = filepath.Join(checkout, "cmd", "postbag"), append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
		out, err = cmd.CombinedOutput()
	}
	if err != nil {
		older.says = err.Error() + ": " + string(out)
		return
	}
	older.path = path
}

// startOld starts a relay of the old version, and returns what stops it. In the short form there is none: to compile it takes minutes.
func (u *upgrade) startOld() (stop func()) {
	if !servertest.Full() {
		u.t.Log("no relay of the old version works beside the new one, without POSTBAG_FULL=1")
		return func() {}
	}
	if older.once.Do(buildOlder); older.path == "" {
		u.t.Fatalf("the program of commit %s cannot be built: %s; fetch the whole history", olddata.Before, older.says)
	}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		if id, err := io.ReadAll(q.Body); err == nil { // the header has an id of the webhook's own
			u.arrived(string(id))
		}
	}))
	u.t.Cleanup(hook.Close)
	file := filepath.Join(u.t.TempDir(), "old.yaml")
	if err := os.WriteFile(file, []byte(u.kind.yaml(hook.URL)), 0o600); err != nil {
		u.t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(u.t.TempDir(), "old.log"))
	if err != nil {
		u.t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(u.t.Context()), older.path, "relay", "-c", file)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "BOX_DSN="+u.dsn, "SECRET="+webhook.NewSecret()), log, log
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		err := <-ended
		said, _ := os.ReadFile(log.Name())
		if err != nil {
			u.t.Errorf("the old relay ended with %v", err)
		}
		if u.t.Failed() {
			u.t.Logf("the old relay says\n%s", said)
		}
	}
}

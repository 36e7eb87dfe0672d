package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
)

// The users of a world's access file. All have one password.
const (
	viewer   = "vera" // sees all
	operator = "olga" // gives commands
	admin    = "anna" // sees payloads, too
	narrow   = "nina" // sees one box
	password = "correct horse battery"
)

// admit writes the access file.
func (w *world) admit() error {
	line, err := w.cli(password+"\n", "console", "user", "someone", "viewer")
	if err != nil {
		return err
	}
	hash := strings.Fields(line)[2]
	var lines strings.Builder
	for name, grants := range map[string]string{viewer: "viewer", operator: "operator", admin: "admin payloads", narrow: "operator@shop/" + work} {
		fmt.Fprintf(&lines, "user %s %s %s\n", name, hash, grants)
	}
	return os.WriteFile(w.access, []byte(lines.String()), 0o600)
}

// console is a process of postbag console.
type console struct {
	root    string // its address, without a slash at the end
	process *testserver.Program

	mu       sync.Mutex
	sessions map[string]*http.Cookie // by user
}

var consoleSays = regexp.MustCompile(`the console is at (http://127\.0\.0\.1:\d+)/`)

// startConsole starts a console on a port, or where that is zero on a free one. It lives until the last test has ended.
func (w *world) startConsole(port int, args ...string) (*console, error) {
	log, err := os.CreateTemp(w.folder, "console-*.log")
	if err != nil {
		return nil, err
	}
	_ = log.Close()
	c := &console{sessions: make(map[string]*http.Cookie)}
	c.process, err = testserver.StartProgram(testserver.ProgramOptions{
		Name: "the console", Path: w.program, Log: log.Name(), Env: []string{"PARTNER_SECRET=" + partnerSecret},
		Args: append([]string{"console", "-c", w.config, "--listen", fmt.Sprintf("127.0.0.1:%d", port)}, args...),
	})
	if err != nil {
		return nil, err
	}
	atTheEnd(func() error { return c.process.Kill(context.Background()) })
	return c, await("the console of "+filepath.Base(log.Name())+" says where it is", func() bool {
		if m := consoleSays.FindStringSubmatch(c.process.LogTail(5)); m != nil {
			c.root = m[1]
		}
		return c.root != ""
	})
}

// port is where the console listens.
func (c *console) port() (port int) {
	_, _ = fmt.Sscanf(c.root, "http://127.0.0.1:%d", &port)
	return port
}

// session logs a user in, unless somebody has, and returns the cookie.
func (c *console) session(t *testing.T, user string) *http.Cookie {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.sessions[user]; known != nil {
		return known
	}
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.root+"/login", strings.NewReader(url.Values{"name": {user}, "password": {password}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if len(answer.Cookies()) != 1 {
		t.Fatalf("the login of %s answers %s", user, answer.Status)
	}
	c.sessions[user] = answer.Cookies()[0]
	return c.sessions[user]
}

package testserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Chromium is a private browser without a window, which programs drive over the DevTools protocol. It has a profile of its own, and
// reaches nothing but this machine. Its methods may be called concurrently; commands wait for each other.
type Chromium struct {
	server

	program string
	home    *folder
	port    int
}

// StartChromium starts a browser and returns when it takes commands.
func StartChromium(ctx context.Context) (*Chromium, error) {
	program, err := chromiumProgram()
	if err != nil {
		return nil, err
	}
	home, err := newFolder("chromium", false)
	if err != nil {
		return nil, err
	}
	c := &Chromium{program: program, home: home}
	c.name, c.begin = "Chromium", c.start
	if err = c.firstStart(ctx, 0, &c.port); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// chromiumProgram finds the program by the names that distributions give it.
func chromiumProgram() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", &MissingError{What: "the browser Chromium", Fix: "run scripts/setup, or install the package chromium"}
}

func (c *Chromium) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	run := command{name: c.name, path: c.program, args: c.args(), env: []string{"HOME=" + c.home.path, "TMPDIR=" + c.home.path, "LANG=C.UTF-8", "TZ=UTC"}, log: c.logFile()}
	return c.launch(ctx, run, c.ready)
}

// args has the browser call nobody: names resolve to nothing, and what browsers fetch for themselves is off.
func (c *Chromium) args() []string {
	args := []string{
		"--headless=new", "--remote-debugging-address=127.0.0.1", fmt.Sprintf("--remote-debugging-port=%d", c.port), "--user-data-dir=" + filepath.Join(c.home.path, "profile"),
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
		"--disable-default-apps", "--disable-breakpad", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-timer-throttling",
		"--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", "--password-store=basic", "--use-mock-keychain", "--mute-audio", "--hide-scrollbars",
		"--force-color-profile=srgb", "--lang=en",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // root has none
	}
	return append(args, "about:blank")
}

// ready says whether the browser answers which version it is.
func (c *Chromium) ready(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL()+"/json/version", http.NoBody)
	if err != nil {
		return false
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(ask)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// URL is where the browser takes commands of the DevTools protocol, without a slash at its end.
func (c *Chromium) URL() string { return "http://" + loopback(c.port) }

// LogTail returns the last lines of what the browser said.
func (c *Chromium) LogTail(lines int) string { return fileTail(c.logFile(), lines) }

// Close kills the browser and removes its files. It may be called twice.
func (c *Chromium) Close() error {
	err := c.retire()
	for end := time.Now().Add(10 * time.Second); ; <-time.After(50 * time.Millisecond) {
		left := c.home.Close()
		if left == nil || !errors.Is(left, syscall.ENOTEMPTY) || time.Now().After(end) { // processes of the browser still write for a moment
			return errors.Join(err, left)
		}
	}
}

func (c *Chromium) logFile() string { return filepath.Join(c.home.path, "log") }

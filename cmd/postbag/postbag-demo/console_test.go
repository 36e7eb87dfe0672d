package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// output is what a program says, read while it says it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// await waits for words, and returns what the first group of their pattern is.
func (o *output) await(t *testing.T, pattern string) string {
	t.Helper()
	words := regexp.MustCompile(pattern)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(2 * time.Minute)
	defer end.Stop()
	for {
		if m := words.FindStringSubmatch(o.String()); m != nil {
			return m[1]
		}
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("it does not say %s:\n%s", pattern, o.String())
		}
	}
}

func TestTheConsoleOfTheDemoStaysUntilItIsEnded(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes ten seconds; run without -short")
	}
	t.Setenv("TMPDIR", openFolder(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said output
	ended := make(chan exit.Code, 1)
	go func() {
		ended <- run(ctx, []string{"--orders", "300", "--console"}, &terminal.Terminal{In: strings.NewReader(""), Out: &said, Err: &said})
	}()
	at := said.await(t, `the console is at (http://127\.0\.0\.1:\d+/)`)
	said.await(t, `(end with Ctrl-C)`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"databases/shop/boxes/outbox", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(page), "outbox") {
		t.Errorf("the console answers %s: %s (%v)", response.Status, page, err)
	}
	cancel()
	if code := <-ended; code != exit.OK {
		t.Errorf("it ended with %d:\n%s", code, said.String())
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) > 0 {
		t.Errorf("it left %v behind (%v)", left, err)
	}
}

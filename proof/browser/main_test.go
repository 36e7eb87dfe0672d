package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/internal/daemon"
)

// What all tests share lives until the last of them has ended.
var ends struct {
	sync.Mutex

	all []func() error
}

// atTheEnd calls f behind the last test.
func atTheEnd(f func() error) {
	ends.Lock()
	defer ends.Unlock()
	ends.all = append(ends.all, f)
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range slices.Backward(ends.all) {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, "what the tests share was not ended:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

var removes sync.Once

// postbag builds the command when the first test asks for it, and returns its path.
func postbag(t *testing.T) string {
	t.Helper()
	path := daemon.Program(t)
	removes.Do(func() { atTheEnd(func() error { daemon.Remove(); return nil }) })
	return path
}

// patience is how long a test waits for something to come about.
const patience = 60 * time.Second

// await waits for a condition.
func await(what string, met func() bool) error {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !met() {
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("it did not come about in %v that %s", patience, what)
		}
	}
	return nil
}

// chromium starts the browser of all tests, when the first asks for it, and returns a context that tabs begin from.
var chromium = sync.OnceValues(func() (context.Context, error) {
	program, err := testserver.StartChromium(context.Background())
	if err != nil {
		return nil, err
	}
	atTheEnd(program.Close)
	allocator, leave := remote.NewAllocator(context.Background(), program.URL())
	ctx, cancel := chromedp.NewContext(allocator)
	atTheEnd(func() error { cancel(); leave(); return nil })
	return ctx, chromedp.Do(ctx)
})

// needBrowser returns a context that tabs begin from, or skips the test where no browser is installed.
func needBrowser(t *testing.T) context.Context {
	t.Helper()
	ctx, err := chromium()
	servertest.Need(t, err)
	return ctx
}

// natsServer starts the NATS server of all tests.
var natsServer = sync.OnceValues(func() (*testserver.NATS, error) {
	server, err := testserver.StartNATS(context.Background(), testserver.NATSOptions{})
	if err == nil {
		atTheEnd(server.Close)
	}
	return server, err
})

// checkout is the root of the repository.
func checkout() string {
	_, file, _, _ := runtime.Caller(0) //nolint:dogsled // that is how it is
	return filepath.Join(filepath.Dir(file), "..", "..")
}

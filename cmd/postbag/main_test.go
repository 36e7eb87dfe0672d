package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
)

// The canary stands where secrets stand. It must never come out.
const canary = "CANARYc4n4ry"

// hookSecret is the name of the variable with a webhook's signing secret.
const hookSecret = "POSTBAG_TEST_HOOK_SECRET"

// TestMain is also the adoption, the replay and the relay that a test kills, and the commands that it pauses and kills.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && slices.Contains([]string{"adopt", "replay", "messages", "operations", "relay"}, os.Args[1]) {
		main()
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "stop-once" {
		stopOnce()
		return
	}
	for name, value := range map[string]string{
		hookSecret:                   webhook.NewSecret(),
		"POSTBAG_TEST_BAD_SECRET":    "whsec_" + canary + "!",
		"POSTBAG_TEST_DSN":           "postgres://app:" + canary + "@127.0.0.1:1/shop?connect_timeout=2",
		"POSTBAG_TEST_BAD_DSN":       "postgres://app:" + canary + "@127.0.0.1:port/shop",
		"POSTBAG_TEST_OTHER_DSN":     "oracle://app:" + canary + "@127.0.0.1/shop",
		"POSTBAG_TEST_BAD_NATS":      "nats://app:" + canary + "@ho st:4222",
		"POSTBAG_TEST_NATS_USER":     "app",
		"POSTBAG_TEST_NATS_PASSWORD": canary,
		// A relay limits the memory of its process. Here that is the process of all tests, whose collector of garbage would then take
		// a third of the processor to keep a limit that was meant for one relay.
		"GOMEMLIMIT": "off",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(withServer{m})
}

// withServer runs the tests and ends their servers.
type withServer struct{ m *testing.M }

func (w withServer) Run() int {
	code := postgres.Run(w.m)
	if err := closeMariaDB(); err != nil {
		fmt.Fprintln(os.Stderr, "the shared MariaDB was not closed:", err)
		return max(code, 1)
	}
	return code
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// outcome is what a command line came to.
type outcome struct {
	t        *testing.T
	args     []string
	code     exit.Code
	out, err string
}

// cli runs a command line with nothing on standard input.
func cli(t *testing.T, args ...string) *outcome {
	t.Helper()
	return cliWith(t, "", args...)
}

// cliWith runs a command line with a text on standard input.
func cliWith(t *testing.T, in string, args ...string) *outcome {
	t.Helper()
	return cliContext(t.Context(), t, in, args...)
}

// cliContext runs a command line until ctx ends.
func cliContext(ctx context.Context, t *testing.T, in string, args ...string) *outcome {
	t.Helper()
	var out, err buffer
	code := run(ctx, args, &terminal.Terminal{In: strings.NewReader(in), Out: &out, Err: &err})
	o := &outcome{t: t, args: args, code: code, out: out.String(), err: err.String()}
	if strings.Contains(o.out+o.err, canary) {
		t.Errorf("%v let the secret out:\n%s%s", args, o.out, o.err)
	}
	return o
}

// ok fails the test unless the command did what it should.
func (o *outcome) ok() *outcome {
	o.t.Helper()
	return o.ends(exit.OK)
}

// ends fails the test unless the command ended with a code and said some words.
func (o *outcome) ends(code exit.Code, words ...string) *outcome {
	o.t.Helper()
	if o.code != code {
		o.t.Fatalf("postbag %s ended with %d, want %d:\n%s%s", strings.Join(o.args, " "), o.code, code, o.out, o.err)
	}
	return o.says(words...)
}

// says fails the test unless the output has some words.
func (o *outcome) says(words ...string) *outcome {
	o.t.Helper()
	for _, w := range words {
		if !strings.Contains(o.out+o.err, w) {
			o.t.Errorf("postbag %s does not say %q:\n%s%s", strings.Join(o.args, " "), w, o.out, o.err)
		}
	}
	return o
}

// json decodes the output.
func (o *outcome) json(into any) *outcome {
	o.t.Helper()
	if err := json.Unmarshal([]byte(o.out), into); err != nil {
		o.t.Fatalf("postbag %s wrote no JSON: %v:\n%s", strings.Join(o.args, " "), err, o.out)
	}
	return o
}

// items decodes lines of messages.
func (o *outcome) items() []operations.Message {
	o.t.Helper()
	var out []operations.Message
	for d := json.NewDecoder(strings.NewReader(o.out)); d.More(); {
		var v operations.Message
		if err := d.Decode(&v); err != nil {
			o.t.Fatalf("postbag %s wrote a line that is no message: %v:\n%s", strings.Join(o.args, " "), err, o.out)
		}
		out = append(out, v)
	}
	return out
}

// running is a command that runs until it is stopped.
type running struct {
	t        *testing.T
	out, err buffer
	stop     context.CancelFunc
	ended    chan exit.Code
}

// start runs a command line until the test ends, or stop.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{t: t, stop: cancel, ended: make(chan exit.Code, 1)}
	go func() {
		r.ended <- run(ctx, args, &terminal.Terminal{In: strings.NewReader(""), Out: &r.out, Err: &r.err})
		close(r.ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-r.ended
		if strings.Contains(r.out.String()+r.err.String(), canary) {
			t.Errorf("%v let the secret out:\n%s%s", args, r.out.String(), r.err.String())
		}
		if t.Failed() {
			t.Logf("the log of %v:\n%s", args, r.err.String())
		}
	})
	return r
}

// end stops the command and returns its code.
func (r *running) end() exit.Code {
	r.t.Helper()
	r.stop()
	return r.finish()
}

// finish waits for the end of the command and returns its code.
func (r *running) finish() exit.Code {
	r.t.Helper()
	select {
	case code := <-r.ended:
		return code
	case <-time.After(30 * time.Second):
		r.t.Fatal("the command did not end in 30 s")
	}
	return exit.Failed
}

// await waits for a condition.
func await(t *testing.T, what string, met func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(60 * time.Second)
	for !met() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it did not come about in 60 s that %s", what)
		}
	}
}

// write makes a file and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

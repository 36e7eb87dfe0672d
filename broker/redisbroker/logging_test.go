package redisbroker_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// quietVariable tells a child process of the test below what to do.
const quietVariable = "POSTBAG_REDIS_QUIET"

// The library's logger is the process's: each child has one of its own.
func TestTheClientLibraryPrintsNothingAfterItsLoggerIsReplaced(t *testing.T) {
	t.Parallel()
	if how := os.Getenv(quietVariable); how != "" {
		logging.Enable() // as the library begins; TestMain has changed it
		if how == "silent" {
			redisbroker.SilenceClients()
		}
		d := dial(t, "redis://127.0.0.1:1", redisbroker.Options{})
		for range 3 {
			wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages("orders", 1)...), broker.Unavailable, "")
		}
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for how, prints := range map[string]bool{"loud": true, "silent": false} {
		var printed bytes.Buffer
		child := exec.CommandContext(t.Context(), program, "-test.run", "^TestTheClientLibraryPrintsNothingAfterItsLoggerIsReplaced$")
		child.Env, child.Stderr = append(os.Environ(), quietVariable+"="+how), &printed
		if out, err := child.Output(); err != nil {
			t.Fatalf("%s: %v\n%s", how, err, out)
		}
		if bytes.Contains(printed.Bytes(), []byte("redis: ")) != prints {
			t.Errorf("%s: standard error has %q", how, printed.String())
		}
	}
}

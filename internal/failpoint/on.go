//go:build postbag_failpoints

package failpoint

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Enabled says whether the program was built with points.
const Enabled = true

// ErrHit is the error of a point that was armed with error.
var ErrHit = errors.New("failpoint: the point was armed with an error")

// order is what a point is armed with.
type order struct {
	action string
	after  int // hits until it comes
}

// armed are the points of this process, from its environment and its file.
var armed = struct { //nolint:gochecknoglobals // points are the process's own
	mu     sync.Mutex
	orders map[string]*order
	text   string    // of the file, as it was read last
	looked time.Time // when it was
	begun  bool
}{}

// every is how often the file is looked at.
const every = 20 * time.Millisecond

// Hit passes the point name and does what it is armed with. It may be called concurrently.
func Hit(name string) error {
	action := next(name)
	if action == "" {
		return nil
	}
	_, _ = fmt.Fprintln(os.Stderr, Said(name, action)) // it is done, whether this is read or not
	switch action {
	case "kill":
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			return err
		}
		select {} // the signal is on its way
	case "pause":
		<-time.After(pause())
		return nil
	default:
		return fmt.Errorf("%w: %s", ErrHit, name)
	}
}

// next returns what to do at this hit.
func next(name string) string {
	armed.mu.Lock()
	defer armed.mu.Unlock()
	read()
	o := armed.orders[name]
	if o == nil {
		return ""
	}
	if o.after--; o.after > 0 {
		return ""
	}
	delete(armed.orders, name)
	return o.action
}

// read arms what the environment and the file hold. The caller holds the lock.
func read() {
	if !armed.begun {
		armed.begun = true
		armed.orders = map[string]*order{}
		arm(os.Getenv("POSTBAG_FAILPOINTS"))
	}
	path := os.Getenv("POSTBAG_FAILPOINTS_FILE")
	if path == "" || time.Since(armed.looked) < every {
		return
	}
	armed.looked = time.Now()
	text, err := os.ReadFile(path) //nolint:gosec // the person who starts the program names it
	if err != nil || string(text) == armed.text {
		return // no file yet, or nothing new in it
	}
	armed.text = string(text)
	clear(armed.orders)
	arm(armed.text)
}

// arm arms points as words say. What is no such word is skipped.
func arm(text string) {
	for word := range strings.FieldsSeq(text) {
		name, what, found := strings.Cut(word, "=")
		if !found {
			continue
		}
		action, count, _ := strings.Cut(what, "@")
		n, err := strconv.Atoi(count)
		if err != nil {
			n = 1
		}
		armed.orders[name] = &order{action: action, after: n}
	}
}

// pause is how long a caller stands still.
func pause() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("POSTBAG_FAILPOINTS_PAUSE")); err == nil {
		return d
	}
	return 10 * time.Second
}

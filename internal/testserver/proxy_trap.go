package testserver

import (
	"bytes"
	"sync"
)

// Trap cuts the first connection on which a pattern goes by, once:
//
//	trap := testserver.NewTrap("COMMIT", testserver.CutAfter)
//	proxy.Watch(testserver.Up, trap.Watch)
//	...
//	<-trap.Sprung()
//
// On the way up CutAfter loses the answer to a statement that may or may not have been done. To lose the answer to one
// that was certainly done, watch the way down for the answer and choose CutBefore. The connection must not be encrypted.
type Trap struct {
	pattern []byte
	verdict Verdict
	sprung  chan struct{}

	mu    sync.Mutex
	tails map[int][]byte // the last bytes of each connection, where a pattern may have begun
	done  bool
}

// NewTrap makes a trap for one proxy and one direction.
func NewTrap(pattern string, verdict Verdict) *Trap {
	return &Trap{
		pattern: []byte(pattern), verdict: verdict,
		sprung: make(chan struct{}), tails: make(map[int][]byte),
	}
}

// Sprung is closed when the pattern was seen.
func (t *Trap) Sprung() <-chan struct{} { return t.sprung }

// Watch is a [Watcher]. A pattern that is split over two reads is found; its first part has gone on by then.
func (t *Trap) Watch(conn int, piece []byte) Verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return Forward
	}
	seen := append(t.tails[conn], piece...) //nolint:gocritic // the tail is replaced below
	if !bytes.Contains(seen, t.pattern) {
		t.tails[conn] = bytes.Clone(seen[max(0, len(seen)-len(t.pattern)+1):])
		return Forward
	}
	t.done = true
	t.tails = nil
	close(t.sprung)
	return t.verdict
}

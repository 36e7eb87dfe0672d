package sourcetest

import (
	"testing"

	"github.com/postbag/postbag/internal/suitetest"
)

// leavesNoGoroutine uses a fixture, closes everything of it, and wants every
// goroutine gone that came of it.
func leavesNoGoroutine(t *testing.T, h Harness) {
	t.Helper()
	suitetest.LeavesNoGoroutine(t, h.patience(), func(t *testing.T) {
		t.Helper()
		s := newScene(t, h).open()
		src := s.join()
		s.send(5)
		s.ack(src, 0, s.fetch(src, 5)...)
		s.nothing(src)
		s.close(src)
	})
}

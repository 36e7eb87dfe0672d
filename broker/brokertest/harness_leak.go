package brokertest

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
		for range 3 {
			s.accept(s.messages(5)...)
		}
		s.close()
	})
}

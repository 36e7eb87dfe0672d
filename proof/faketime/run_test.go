package faketime

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
)

func TestGoroutinesThatStayAreFoundAndNoOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		go lingers(stop)
		synctest.Wait()
		if left := others(); !strings.Contains(left, "lingers") {
			t.Errorf("of one that stays this is told:\n%s", left)
		}
		close(stop)
		synctest.Wait()
		if left := others(); left != "" {
			t.Errorf("none stays, and this is told:\n%s", left)
		}
	})
}

func lingers(stop <-chan struct{}) { <-stop }

// A run whose goroutines wait for ever is told like any other that breaks a promise.
func TestARunThatCannotEndIsTold(t *testing.T) {
	t.Parallel()
	if inBubble(t, func(context.Context) { go lingers(make(chan struct{})) }) == nil {
		t.Error("nothing is told of a goroutine that waits for ever")
	}
}

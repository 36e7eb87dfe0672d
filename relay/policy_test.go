package relay

import (
	"testing"

	"github.com/postbag/postbag/internal/engine"
)

// A policy reaches the engine under its name, whatever numbers the names have.
func TestEachPolicyIsPassedToTheEngine(t *testing.T) {
	t.Parallel()
	for order, want := range map[Order]engine.Order{ByKey: engine.ByKey, ByShard: engine.ByShard, Unordered: engine.Unordered} {
		if got := order.engine(); got != want {
			t.Errorf("order %d is %d in the engine, want %d", order, got, want)
		}
	}
	for on, want := range map[OnReject]engine.OnReject{Block: engine.Block, Skip: engine.Skip} {
		if got := on.engine(); got != want {
			t.Errorf("on reject %d is %d in the engine, want %d", on, got, want)
		}
	}
}

package main

import (
	"runtime/debug"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

func TestTheSoftLimitOfMemoryFollowsTheBuffers(t *testing.T) {
	t.Parallel()
	if got := memoryLimit([]config.Subscription{{Buffer: 64 << 20}}); got != 192<<20 {
		t.Errorf("one subscription: %d", got)
	}
	if got := memoryLimit([]config.Subscription{{Buffer: 64 << 20}, {Buffer: 8 << 20}}); got != 208<<20 {
		t.Errorf("two subscriptions: %d", got)
	}
}

func TestAMemoryLimitOfTheUserIsKept(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Setenv("GOMEMLIMIT", "1GiB")
	defer limitMemory(&config.File{Subscriptions: []config.Subscription{{}}})()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit went from %d to %d", before, got)
	}
}

package main

import (
	"os"
	"runtime/debug"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

// The soft limit of the relay's memory: twice the buffers of its subscriptions, since
// what goes out is copied on its way, and this much for everything else.
const restOfMemory = 64 << 20

// limitMemory gives the runtime a soft limit, until what it returns is called: without,
// a heap of large messages doubles before garbage is collected. A user who set GOMEMLIMIT
// knows better.
func limitMemory(file *config.File) (undo func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(memoryLimit(file.Subscriptions) + sourcesMemory(file.Sources))
	return func() { debug.SetMemoryLimit(before) }
}

// sourcesMemory is what sources may hold by their settings.
func sourcesMemory(sources []config.Intake) (limit int64) {
	for i := range sources {
		limit += component.SourceMemory(sources[i])
	}
	return limit
}

func memoryLimit(subscriptions []config.Subscription) int64 {
	limit := int64(restOfMemory)
	for i := range subscriptions {
		limit += 2 * int64(subscriptions[i].Buffer)
	}
	return limit
}

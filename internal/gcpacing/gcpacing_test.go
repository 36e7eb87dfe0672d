package gcpacing_test

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/postbag/postbag/internal/gcpacing"
)

// goal is how large the heap may become before the next collection, in bytes. It is
// the whole process's: no other test may be in this package.
func goal() uint64 {
	runtime.GC()
	s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestWithBallastTheHeapGrowsByTwiceItsSizeBeforeACollection(t *testing.T) {
	t.Parallel()
	without := goal()
	release := gcpacing.Hold()
	defer release()
	if with := goal(); with < without+gcpacing.Size {
		t.Errorf("the heap may grow to %d bytes without ballast, and to %d with it", without, with)
	}
}

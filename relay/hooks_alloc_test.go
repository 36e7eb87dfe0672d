//go:build !race

// The race detector makes allocations of its own.

package relay

import (
	"testing"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

//nolint:paralleltest // testing.AllocsPerRun counts those of the whole process
func TestNoHooksAllocateNothing(t *testing.T) {
	l, f := &loop{}, &flow{}
	call, round := &engine.Call{Items: make([]engine.Item, 100)}, &core.Round{}
	n := testing.AllocsPerRun(100, func() {
		took := l.timed(len(call.Items))
		took.end()
		l.tellCall(f, call, nil, nil, &took)
		l.tellPage(store.Ref{}, &store.Batch{}, 0)
		p := l.progressOf(round, nil, 0)
		l.tellProgress(&p)
		l.tellMaintained("", &store.Report{}, 0)
		l.tellDeath(f, &engine.Death{})
		l.tellState(f)
	})
	if n != 0 {
		t.Errorf("a relay without hooks allocates %v times for them, want 0", n)
	}
}

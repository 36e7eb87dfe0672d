package engine

import (
	"time"

	"github.com/postbag/postbag/broker"
)

// A row that cannot be read whole is a rejected message: it is never sent, its attempts
// are counted, and it is read again at each, since somebody may have repaired it. It
// waits for its turn as any other does, so that it keeps its place among those of its
// key.

// refuseUnreadable counts an attempt of each unreadable message whose turn has come.
func (f *Flow) refuseUnreadable(now time.Duration) {
	for e := f.unreadable.pop(); e != nil; e = f.unreadable.pop() {
		f.stats.Rejected++
		e.attempts++
		f.reject(e, Answer{Outcome: broker.Rejected, Reason: e.Err.Error()}, now)
		f.resume(e, now)
	}
}

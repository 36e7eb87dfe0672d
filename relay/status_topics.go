package relay

import (
	"fmt"
	"time"
)

// shownTopics bounds the topics that a heartbeat names.
const shownTopics = 20

// noteTopics writes one line when a topic fails or works again, and when so many
// messages are held that nothing more is read. The store is told soon.
func (l *loop) noteTopics(f *flow, now time.Duration) {
	events := f.Engine.Events()
	for i := range events {
		e := &events[i]
		if e.Works {
			l.log.topicWorks(f, e)
			continue
		}
		l.log.topicFailed(f, e)
		l.log.report(fmt.Errorf("relay: %s: topic %q: %s", f.Ref, e.Topic, e.Reason))
	}
	overfull := f.Engine.Overfull()
	if overfull == f.overfull && len(events) == 0 {
		return
	}
	if overfull != f.overfull {
		f.overfull = overfull
		l.log.held(f, overfull, f.Engine.Stats().Held)
	}
	l.core.TellSoon(now)
}

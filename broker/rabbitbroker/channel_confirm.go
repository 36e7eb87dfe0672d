package rabbitbroker

import amqp "github.com/rabbitmq/amqp091-go"

// head returns what the oldest message in flight waits for, nil for nothing that
// was sent, and whether there are others.
func (l *pipeline) head() (oldest *amqp.DeferredConfirmation, several bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.flight) == 0 {
		return nil, false
	}
	return l.flight[0].confirm, len(l.flight) > 1
}

// confirms returns what all in flight wait for.
func (l *pipeline) confirms() (all []*amqp.DeferredConfirmation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, it := range l.flight {
		if it.confirm != nil {
			all = append(all, it.confirm)
		}
	}
	return all
}

// land takes those out of flight that have their answers: from the oldest on up
// to one that has none, or all.
func (l *pipeline) land(all bool) (done []*item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for n < len(l.flight) && hasAnswer(l.flight[n]) {
		l.landedLocked(l.flight[n])
		n++
	}
	done = append(done, l.flight[:n]...)
	rest := l.flight[n:]
	if all {
		kept := rest[:0]
		for _, it := range rest {
			if hasAnswer(it) {
				l.landedLocked(it)
				done = append(done, it)
			} else {
				kept = append(kept, it)
			}
		}
		rest = kept
	}
	l.flight = append(l.flight[:0], rest...)
	return done
}

func hasAnswer(it *item) bool {
	if it.confirm == nil {
		return false
	}
	select {
	case <-it.confirm.Done():
		return true
	default:
		return false
	}
}

// relaunch undoes land for items that turned out to have no answer.
func (l *pipeline) relaunch(items []*item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, it := range items {
		it.flying = true
		if it.left {
			l.left++
		}
	}
	l.flight = append(append(make([]*item, 0, len(items)+len(l.flight)), items...), l.flight...)
}

// returned marks the message that the server sent back. Where an earlier copy of it
// is still in flight, which nobody waits for any more, nobody knows which of the two
// is meant: both are marked, because what was returned must never pass for accepted.
// done have their answers and are in flight no more.
func (l *pipeline) returned(done []*item, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, items := range [...][]*item{done, l.flight} {
		for _, it := range items {
			if it.id == id {
				it.back = true
			}
		}
	}
}

package relay

import "sync"

// hints are the calls of Wake that the loop has not seen yet.
type hints struct {
	bell chan struct{} // rings once for any number of them

	mu    sync.Mutex
	boxes map[string]bool
}

func newHints() *hints { return &hints{bell: make(chan struct{}, 1), boxes: make(map[string]bool)} }

// add notes that boxes may have new messages.
func (h *hints) add(boxes []string) {
	h.mu.Lock()
	for _, b := range boxes {
		h.boxes[b] = true
	}
	h.mu.Unlock()
	select {
	case h.bell <- struct{}{}:
	default:
	}
}

// take returns the boxes that were noted, and forgets them.
func (h *hints) take() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.boxes
	h.boxes = make(map[string]bool)
	return taken
}

// Wake has the relay look for new messages of box now, instead of at its next poll,
// and of all its boxes if box is empty. Call it after the commit: it is for anyone who
// hears of messages that other programs have inserted, in a way that the store knows
// nothing of. It reports whether the relay reads that box.
//
// Wake returns at once, and never fails: a call that comes to nothing, such as one
// while the relay does not run, costs a message no more than the wait for the poll.
// Calls that come together are one look, and those that find nothing have it look no
// more often than it polls while much comes.
func (r *Relay) Wake(box string) bool {
	var boxes []string
	for i := range r.options.Subscriptions {
		if ref := r.options.Subscriptions[i].ref(); box == "" || ref.Box == box {
			boxes = append(boxes, ref.Box)
		}
	}
	if len(boxes) > 0 {
		r.hints.add(boxes)
	}
	return r.additions.wake(box) || len(boxes) > 0
}

// hinted hands on what Wake has noted.
func (l *loop) hinted() {
	boxes := l.relay.hints.take()
	for _, f := range l.flows {
		if boxes[f.Ref.Box] {
			f.Engine.Woken()
		}
	}
}

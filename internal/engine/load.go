package engine

// load is what the messages in hand weigh. It is counted from the page that brings a
// message until nobody needs its bytes any more: it is resolved, and in no call.
// Windows and the parking lot each have a part of Config.Buffer for themselves, so
// that neither keeps the other from going on.
type load struct {
	held    int // bytes
	largest int // about the largest message that came lately
}

// bear adds a message that came.
func (l *load) bear(size int) {
	l.held += size
	l.largest = max(l.largest, size)
}

// room returns how many bytes may be asked for, when so many are on their way
// already, within a bound and a page's; zero: none. The message that crosses what is
// asked for comes too, so there is a margin for it. Little room is not worth a round
// trip. When there is nothing in hand there is always room: one message goes, however
// large it is.
func (l *load) room(most, page, coming int) int {
	left := most - l.held - coming - l.margin(most)
	if l.held+coming > 0 && left < (min(page, most)+1)/2 {
		return 0
	}
	return max(min(left, page), 1)
}

func (l *load) margin(most int) int { return min(l.largest, most/4) }

// fade lets go of a size that does not come any more, page by page.
func (l *load) fade() { l.largest -= l.largest / 8 }

// lotMost is the part of the buffer that is the parking lot's.
func (c Config) lotMost() int { return c.Buffer / 4 }

// windowMost is the rest of it, which is the windows'.
func (c Config) windowMost() int { return c.Buffer - c.lotMost() }

// windowRoom is how many bytes the windows may ask for.
func (f *Flow) windowRoom(coming int) int {
	return f.window.room(f.cfg.windowMost(), f.cfg.PageBytes, coming)
}

// lotRoom is how many bytes of parked messages may be asked for.
func (f *Flow) lotRoom() int { return f.lot.room(f.cfg.lotMost(), f.cfg.PageBytes, 0) }

func (f *Flow) loadOf(e *entry) *load {
	if e.parked {
		return &f.lot
	}
	return &f.window
}

// lighten lets go of the bytes of e, which nobody needs: it is resolved, and in no
// call. That comes once: as it is resolved, or with the end of its last call. Others of
// its page may be needed, and its array with them. What names the message stays.
func (f *Flow) lighten(e *entry) {
	f.loadOf(e).held -= e.size
	r := e.Record
	r.Payload, r.Headers, r.Key, r.ShardKey, r.Type = nil, nil, "", "", ""
}

// returned notes that a call is over, which had its messages' bytes until now.
func (f *Flow) returned(c *Call) {
	for _, e := range c.borrowed() {
		if e.calls--; e.calls == 0 && e.resolved() {
			f.lighten(e)
		}
	}
	c.entries, c.lent = nil, nil
}

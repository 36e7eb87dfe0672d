package engine

import "github.com/postbag/postbag/store"

// chain is the messages of one key that are in hand, in order, and what is known
// of those that are parked.
//
// A live chain holds messages of windows. A blocked chain holds none of them
// that could be sent, only parked messages that were fetched to be tried,
// because every message that is read while it is blocked is parked at once.
type chain struct {
	key        uint64
	shard      *shard
	head, tail *entry
	// out counts entries in calls. While it is not zero nothing else is sent.
	out int
	// strict: the chain of all messages of its shard.
	strict bool
	// stored: the store has blocking rows of the key, or may have.
	stored bool
	// unsettled counts blocking rows that were drafted, or ride in a window, and
	// that no verdict has confirmed.
	unsettled int
	// gate counts rows of rejected messages that were drafted, or ride in a window, and that no
	// verdict has confirmed. While it is not zero nothing behind them is sent. See lot_supersede.go.
	gate int
	// cut: a row that blocks was written again for a message before those in
	// calls: as they come back they are left to their rows.
	cut bool
}

// strictHash is the hash of every parked row under strict order, and the key of
// the one chain of a strict shard.
const strictHash = store.StrictHash

// blocked: rows of the key are parked that later messages must wait for.
func (c *chain) blocked() bool {
	return c.stored || c.unsettled > 0 || c.strict && len(c.shard.foreign) > 0
}

func (c *chain) push(e *entry) {
	e.chain, e.next = c, nil
	if c.tail == nil {
		c.head, c.tail = e, e
		return
	}
	c.tail.next = e
	c.tail = e
}

// remove unlinks e. Most of the time it is the head.
func (c *chain) remove(e *entry) {
	var before *entry
	for p := &c.head; *p != nil; p = &(*p).next {
		if *p == e {
			*p = e.next
			if c.tail == e {
				c.tail = before
			}
			e.next = nil
			return
		}
		before = *p
	}
}

// chainOf returns the chain of a message, or of a parked row, by its key's hash,
// and makes it if needed; nil for a message without order.
func (f *Flow) chainOf(s *shard, hash uint64) *chain {
	key := f.chainKey(s, hash)
	if key == 0 {
		return nil
	}
	c := s.chains.get(key)
	if c == nil {
		if n := len(f.spare); n > 0 {
			c, f.spare = f.spare[n-1], f.spare[:n-1]
		} else {
			c = new(chain)
		}
		c.key, c.shard, c.strict = key, s, s.strict
		s.chains.put(c)
	}
	return c
}

// chainKey maps a key's hash to the key of its chain.
func (f *Flow) chainKey(s *shard, hash uint64) uint64 {
	switch {
	case f.cfg.Order == Unordered, f.cfg.Order == ByKey && hash == 0:
		return 0
	case s.strict:
		return strictHash
	case f.cfg.Order == ByKey && hash == strictHash: // parked when its shard was strict, and skipped: its key is not known
		return 0
	default:
		return hash
	}
}

// chainFor returns the chain of a parked row if there is one.
func (f *Flow) chainFor(s *shard, hash uint64) *chain { return s.chains.get(f.chainKey(s, hash)) }

// stored notes that the store has a blocking row of this hash, or may have.
func (f *Flow) stored(s *shard, hash uint64) {
	if c := f.chainOf(s, hash); c != nil {
		if c.strict && hash != strictHash {
			s.foreign[hash] = struct{}{}
		} else {
			c.stored = true
		}
	}
}

// cleared notes that the store has no blocking row of this hash, as of the turn
// that just landed.
func (f *Flow) cleared(s *shard, hash uint64) {
	delete(s.foreign, hash)
	if len(s.foreign) == 0 {
		s.withheld = 0
	}
	c := f.chainFor(s, hash)
	if c == nil {
		return
	}
	if !c.strict || hash == strictHash {
		c.stored = false
	}
	f.advance(c)
}

// advance makes the head of c ready when it may be sent, and forgets c when
// nothing is known of it that is worth keeping.
func (f *Flow) advance(c *chain) {
	switch {
	case c.out > 0, c.shut(c.head):
	case c.head == nil && !c.blocked():
		f.release(c)
	case c.head != nil && c.head.queued():
		f.enqueue(c.head, true)
	}
}

// release forgets c, unless that was done already: entries that were of it may
// still point to it.
func (f *Flow) release(c *chain) {
	s := c.shard
	if s == nil {
		return
	}
	s.chains.remove(c.key)
	if c.strict && f.cfg.Order == ByKey {
		s.strict = false
	}
	*c = chain{}
	if len(f.spare) < maxSpare {
		f.spare = append(f.spare, c)
	}
}

// maxSpare bounds how many chains are kept to be used again.
const maxSpare = 4096

// enqueue puts e, which may be sent, into the queue it belongs to. One that was
// sent before goes first. One that waited for another of its chain goes to its place.
func (f *Flow) enqueue(e *entry, waited bool) {
	f.move(e, onTurn)
	switch {
	case e.Err != nil:
		f.unreadable.push(e)
	case f.isBarred(e):
		f.topics.barred.push(e)
	case e.state == readyAgain:
		f.again.push(e)
	case e.alone:
		f.suspects.push(e)
	case e.parked:
		f.retry.push(e)
	case waited:
		f.ready.rejoin(e)
	default:
		f.ready.push(e)
	}
}

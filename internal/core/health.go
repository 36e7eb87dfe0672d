package core

import "time"

// health is what is known of the store.
type health struct {
	faults     int           // in a row
	retry      time.Duration // nothing is asked before it
	failing    ask           // what failed and has not worked since
	asking     int           // calls of the kind askMore that are out
	moreFailed time.Duration // the last of them failed then
	movedAt    time.Duration // it last was not what it had been
	checking   bool
	checked    bool // the store passed a check since the last failure
	down       bool // there was a failure, and Back was not said since
	allFaults  int64
}

// ask is a kind of call to the store. One kind can fail while others work: a full
// disk refuses what writes.
type ask uint8

const (
	askTurn ask = 1 << iota
	askBeat
	askMore // made only while the others work
)

// Well says that nothing of the store fails.
func (c *Core) Well() bool { return c.faults == 0 }

// Faults is how many calls to the store have failed so far.
func (c *Core) Faults() int64 { return c.allFaults }

// storeFailed notes a failure of the store and when to ask again.
func (c *Core) storeFailed(what ask, now time.Duration) {
	c.failed(what)
	if what&askMore != 0 {
		c.moreFailed = now
	}
	c.retry = now + c.backoff(c.faults)
}

func (c *Core) failed(what ask) {
	c.allFaults++
	c.failing |= what
	c.checked, c.down = false, true
	c.faults++
}

// storeMoved notes that the store answers, and that what was read of it is worthless. It
// is verified before anything else is asked, and at once, unless that happens again and
// again.
func (c *Core) storeMoved(what ask, now time.Duration) {
	c.failed(what)
	c.retry = now
	if c.movedAt > 0 && now < c.movedAt+movedPause {
		c.retry += c.backoff(c.faults)
	}
	c.movedAt = now
}

// movedPause is the time between two moves of a store after which they have nothing to
// do with each other.
const movedPause = time.Second

// unasked is after how long what failed, and was asked for again and again, is not wanted
// any more: what was parked is discarded, or the shard another relay's.
const unasked = 5 * time.Second

// Backoff is the pause after n failures in a row. The longest is short enough for
// what waits to go on soon after the store is back. The upper half of it is by chance, a
// number in [0, 1).
func Backoff(n int, chance float64) time.Duration {
	d := min(50*time.Millisecond<<min(n-1, 10), 500*time.Millisecond)
	return d/2 + time.Duration(float64(d/2)*chance)
}

func (c *Core) backoff(n int) time.Duration { return Backoff(n, c.options.Rand()) }

// storeWorks notes an answer of the store. It is asked as usual again when what had failed
// works: until then it is asked less and less often. What is asked for only while the
// others work must have worked, too, before the store is said to be back.
func (c *Core) storeWorks(what ask, now time.Duration) {
	c.failing &^= what
	if c.failing == askMore && c.asking == 0 && now >= c.moreFailed+unasked {
		c.failing = 0
	}
	if c.failing == 0 && c.down {
		c.down = false
		c.say(Operation{Kind: Back})
	}
	if c.faults > 0 && c.failing&^askMore == 0 {
		c.faults, c.retry = 0, 0
		for _, u := range c.keeps {
			u.next, u.failed = 0, 0 // scheduled messages may be due since
		}
	}
}

// Doubted says that the store is to be verified before anything else is asked.
func (c *Core) Doubted() bool { return c.faults > 0 && !c.checked }

// canAskLot says that parked messages may be asked for: the store is well.
func (c *Core) canAskLot() bool { return !c.checking && c.faults == 0 }

// recheck verifies the store after a failure, before anything else is asked. A
// store that passes is asked again what it had failed.
func (c *Core) recheck() {
	if !c.checking {
		c.checking = true
		c.say(Operation{Kind: Check})
	}
}

// Checked takes the answer to a Check.
func (c *Core) Checked(now time.Duration, fault Fault) {
	c.checking = false
	switch fault {
	case Fine:
	case Moved:
		c.restart(now)
	case Failed, TimedOut, LeaseLost:
		c.storeFailed(0, now)
		return
	case Incurable:
		return
	}
	c.checked = true // it is asked again at once
	c.nextBeat, c.nextLook = 0, 0
}

// OpenFailed notes that the store could not be opened, and Opened that it was.
func (c *Core) OpenFailed() { c.failed(0) }

// Opened notes that the store was opened.
func (c *Core) Opened(now time.Duration) { c.storeWorks(askTurn|askBeat, now) }

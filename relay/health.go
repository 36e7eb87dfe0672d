package relay

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/postbag/postbag/store"
)

// storeTimeout bounds one call to the store, so that a connection that went dead
// without a word cannot hold the relay.
const storeTimeout = 30 * time.Second

// storeHealth is what the loop knows of its store.
type storeHealth struct {
	storeFault int           // failures in a row
	storeRetry time.Duration // nothing is asked before it
	failing    ask           // what failed and has not worked since
	asking     int           // calls of the kind askMore that are out
	moreFailed time.Duration // the last of them failed then
	movedAt    time.Duration // it last was not what it had been
	checking   bool
	checked    bool // the store passed a check since the last failure
	faults     int64
}

// ask is a kind of call to the store. One kind can fail while others work: a full
// disk refuses what writes.
type ask uint8

const (
	askTurn ask = 1 << iota
	askBeat
	askMore // made only while the others work
)

// permanent says that waiting does not cure err.
func permanent(err error) bool {
	for _, e := range []error{store.ErrNoBox, store.ErrFilterDiffers, store.ErrSchema} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func isMoved(err error) bool {
	return errors.Is(err, store.ErrMoved) || errors.Is(err, store.ErrRestarted)
}

// storeFailed notes a failure of the store and when to ask again. Of calls that a stop gave
// up nothing is said.
func (l *loop) storeFailed(what ask, err error) {
	l.faults++
	l.failing |= what
	if what&askMore != 0 {
		l.moreFailed = l.now()
	}
	l.checked = false
	l.storeFault++
	l.storeRetry = l.now() + storeBackoff(l.storeFault)
	if !gaveUp(l.ctx) {
		l.log.storeFailed(err)
	}
}

// unasked is after how long what failed, and was asked for again and again, is not wanted
// any more: what was parked is discarded, or the shard another relay's.
const unasked = 5 * time.Second

// storeMoved notes that the store answers, and that what was read of it is worthless. It
// is verified before anything else is asked, and at once, unless that happens again and
// again.
func (l *loop) storeMoved(what ask) {
	l.faults++
	l.failing |= what
	l.checked = false
	l.storeFault++
	l.storeRetry = l.now()
	if l.movedAt > 0 && l.now() < l.movedAt+movedPause {
		l.storeRetry += storeBackoff(l.storeFault)
	}
	l.movedAt = l.now()
}

// movedPause is the time between two moves of a store after which they have nothing to
// do with each other.
const movedPause = time.Second

// storeBackoff is the pause after n failures in a row. The longest is short enough for
// what waits to go on soon after the store is back.
func storeBackoff(n int) time.Duration {
	d := min(50*time.Millisecond<<min(n-1, 10), 500*time.Millisecond)
	return d/2 + time.Duration(rand.Int64N(int64(d/2)+1))
}

// storeWorks notes an answer of the store. It is asked as usual again when what had failed
// works: until then it is asked less and less often. What is asked for only while the
// others work must have worked, too, before the store is said to be back.
func (l *loop) storeWorks(what ask) {
	l.failing &^= what
	if l.failing == askMore && l.asking == 0 && l.now() >= l.moreFailed+unasked {
		l.failing = 0
	}
	if l.failing == 0 {
		l.log.storeBack()
	}
	if l.storeFault > 0 && l.failing&^askMore == 0 {
		l.storeFault = 0
		l.storeRetry = 0
		for _, u := range l.keep {
			u.next, u.failed = 0, 0 // scheduled messages may be due since
		}
	}
}

// doubted says that the store is to be verified before anything else is asked.
func (l *loop) doubted() bool { return l.storeFault > 0 && !l.checked }

// recheck verifies the store after a failure, before anything else is asked. A
// store that passes is asked again what it had failed.
func (l *loop) recheck() {
	if l.checking {
		return
	}
	l.checking = true
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
		defer cancel()
		_, err := l.store.Check(ctx)
		return func() {
			l.checking = false
			switch {
			case err == nil:
				l.askAgain()
			case isMoved(err):
				l.log.moved(err)
				l.restart()
				l.askAgain()
			case permanent(err):
				l.fail(err)
			default:
				l.storeFailed(0, err)
			}
		}
	})
}

// askAgain lets a store that passed its check be asked at once.
func (l *loop) askAgain() {
	l.checked = true
	l.nextBeat, l.nextLook = 0, 0
}

// restart drops all leases and begins with a new identity: what was read is
// worthless.
func (l *loop) restart() {
	for _, f := range l.flows {
		f.core.Reset()
		f.core.Landed(l.now(), nil, nil)
		f.core.Quiesce(false)
		f.owner.Forget()
		f.gathering = false
		if f.exactly != nil {
			l.forgetLane(f)
		}
	}
	for _, u := range l.keep {
		u.held = false
	}
	for _, f := range l.flows {
		for id := range f.calls { // nobody hears their answers
			f.cancel(id)
		}
	}
	l.turning.repeat = nil
	l.generation++
	l.newIdentity()
}

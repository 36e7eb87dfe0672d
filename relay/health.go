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
	checking   bool
	faults     int64
}

// permanent says that waiting does not mend err.
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

// storeFailed notes a failure of the store and when to ask again.
func (l *loop) storeFailed(err error) {
	l.faults++
	l.storeFault++
	l.storeRetry = l.now() + storeBackoff(l.storeFault)
	l.log.storeFailed(err)
}

func storeBackoff(n int) time.Duration {
	d := min(50*time.Millisecond<<min(n-1, 10), 3*time.Second)
	return d/2 + time.Duration(rand.Int64N(int64(d/2)+1))
}

// storeWorks notes an answer of the store.
func (l *loop) storeWorks() {
	if l.storeFault > 0 {
		l.storeFault = 0
		l.storeRetry = 0
		l.log.storeBack()
	}
}

// recheck verifies the store after a failure, before anything else is asked.
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
				l.storeWorks()
			case isMoved(err):
				l.log.moved(err)
				l.restart()
				l.storeWorks()
			case permanent(err):
				l.fail(err)
			default:
				l.storeFailed(err)
			}
		}
	})
}

// restart drops all leases and begins with a new identity: what was read is
// worthless.
func (l *loop) restart() {
	for _, f := range l.flows {
		f.core.Reset()
		f.core.Landed(l.now(), nil, nil)
		f.core.Quiesce(false)
		clear(f.loading)
		clear(f.giving)
		f.gathering = false
	}
	for _, u := range l.keep {
		u.held = false
	}
	l.turning.repeat = nil
	l.generation++
	l.newIdentity()
}

package relay

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// storeTimeout bounds one call to the store, so that a connection that went dead
// without a word cannot hold the relay.
const storeTimeout = 30 * time.Second

// permanent says that waiting does not cure err.
func permanent(err error) bool {
	for _, e := range []error{store.ErrNoBox, store.ErrFilterDiffers, store.ErrSchema, errNoLetters} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func isMoved(err error) bool { return core.FaultOf(err) == core.Moved }

// storeFailed says that a call to the store has failed. Of calls that a stop gave up
// nothing is said.
func (l *loop) storeFailed(err error) {
	if !gaveUp(l.ctx) {
		l.log.storeFailed(err)
	}
}

// heard tells OnError of a failed call to the store of which nothing is logged. Of calls that a stop gave up nothing is
// said.
func (l *loop) heard(err error) {
	if err != nil && !gaveUp(l.ctx) && !errors.Is(err, context.Canceled) {
		l.log.report(err)
	}
}

// recheck verifies the store.
func (l *loop) recheck() {
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
		defer cancel()
		_, err := l.store.Check(ctx)
		return func() { l.rechecked(err) }
	})
}

func (l *loop) rechecked(err error) {
	now, fault := l.now(), core.FaultOf(err)
	switch {
	case err == nil:
	case isMoved(err):
		l.log.moved(err)
	case permanent(err):
		fault = core.Incurable
		l.heard(err)
	default:
		l.storeFailed(err)
	}
	l.core.Checked(now, fault)
	l.carryOut(now)
	if fault == core.Incurable {
		l.fail(err)
	}
}

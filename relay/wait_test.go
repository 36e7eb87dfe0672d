package relay

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/store/memstore"
)

// TestALoopThatHasToWaitForItsStoreSleeps: what is due and cannot be done now is no
// reason to wake up.
func TestALoopThatHasToWaitForItsStoreSleeps(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(l *loop){
		"a heartbeat failed":             func(l *loop) { l.beatFailed(errors.New("lost")) },
		"a turn failed":                  func(l *loop) { l.storeFailed(askTurn, errors.New("lost")) },
		"the store is being verified":    func(l *loop) { l.storeFailed(askTurn, errors.New("lost")); l.storeRetry, l.checking = 0, true },
		"the heartbeat expired":          func(l *loop) { l.dying, l.turning.out = true, true },
		"housekeeping is due meanwhile":  func(l *loop) { l.keep[0].held = true; l.storeFailed(askTurn, errors.New("lost")) },
		"the relay has said its goodbye": func(l *loop) { l.left, l.turning.out = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, err := New(memstore.New(memstore.Options{}), Options{Subscriptions: []Subscription{{To: membroker.New(membroker.Options{})}}})
				if err != nil {
					t.Fatal(err)
				}
				l := newLoop(r, false)
				l.started = time.Now().Add(-time.Minute)
				trouble(l)
				if d := l.wait(); d < 20*time.Millisecond {
					t.Errorf("it would wake after %v", d)
				}
			})
		})
	}
}

package relay

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/store"
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

// heldStore holds heartbeats until they are let go, one by one.
type heldStore struct {
	*memstore.Store
	beats chan chan struct{}
}

func (s *heldStore) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	let := make(chan struct{})
	s.beats <- let
	<-let
	return s.Store.Beat(ctx, b)
}

// TestAnIdentityHasOneHeartbeatOutAtATime: the answer to that of the one before says
// nothing about its own. Two at a time took back twice what was to be given, and the
// relay panicked.
func TestAnIdentityHasOneHeartbeatOutAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &heldStore{Store: memstore.New(memstore.Options{}), beats: make(chan chan struct{}, 2)}
		r, err := New(s, Options{Subscriptions: []Subscription{{To: membroker.New(membroker.Options{})}}})
		if err != nil {
			t.Fatal(err)
		}
		l := newLoop(r, false)
		l.ctx, l.started = t.Context(), time.Now()
		l.beat(l.now())
		first := <-s.beats
		l.restart()
		l.beat(l.now())
		second := <-s.beats
		close(first)
		(<-l.events)()
		if !l.beating {
			t.Error("another heartbeat could be made")
		}
		close(second)
		(<-l.events)()
		if l.beating {
			t.Error("its own answer is not taken")
		}
	})
}

// TestALostSettlementIsFollowedByAHeartbeat: nothing is sent until it has told what is
// still ours, and the next one by the clock may be far away.
func TestALostSettlementIsFollowedByAHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, err := New(memstore.New(memstore.Options{}), Options{Subscriptions: []Subscription{{To: membroker.New(membroker.Options{})}}})
		if err != nil {
			t.Fatal(err)
		}
		l := newLoop(r, false)
		l.started = time.Now()
		l.nextBeat = time.Minute
		l.landed(&round{parts: []part{{flow: l.flows[0], settles: 1}}}, &store.TurnResult{Verdicts: []store.Verdict{{}}, Epoch: l.epoch}, nil)
		if l.nextBeat > 0 {
			t.Errorf("the next heartbeat is due at %v", l.nextBeat)
		}
	})
}

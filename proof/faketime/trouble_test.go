package faketime_test

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store/memstore"
)

var errBroken = errors.New("the connection broke")

func (w *world) isRough() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rough
}

func (w *world) setRough(rough bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rough = rough
}

// storeFault is what goes wrong with a relay's call to the store.
func (w *world) storeFault(_ context.Context, op memstore.Op) memstore.Fault {
	switch op {
	case memstore.OpBeat, memstore.OpTurn, memstore.OpBlocked, memstore.OpDue, memstore.OpMaintain, memstore.OpCheck:
	default:
		return memstore.Fault{}
	}
	if !w.isRough() || !w.chance.one(60) {
		return memstore.Fault{}
	}
	w.excuse("store", string(op), inFlight)
	return memstore.Fault{Err: errBroken, Hang: w.chance.one(4), Acted: w.chance.one(2)}
}

// decide is what the broker does with a message.
func (w *world) decide(m broker.Delivery, _ int) membroker.Act {
	if !w.isRough() { // an answer takes its time, so that a stop comes while calls are out
		return membroker.Act{Delay: w.chance.upTo(300 * time.Millisecond)}
	}
	switch w.chance.n(80) {
	case 0:
		w.excuse("lost answer", "broker", 1)
		return membroker.Lose()
	case 1:
		return membroker.Fail(broker.Unavailable, "busy")
	case 2:
		at := w.instant()
		w.record(func(h *history.History) { h.Refuse(history.Refusal{ID: history.ID(m.ID), At: at}) })
		return membroker.Fail(broker.Rejected, "not now")
	case 3, 4, 5:
		return membroker.Act{Delay: w.chance.upTo(1500 * time.Millisecond)}
	}
	return membroker.Act{}
}

// restarts stops relays and starts others in their place, for a time.
func (w *world) restarts(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); pause(w.chance.upTo(2 * time.Second)) {
		i := w.chance.n(len(w.relays))
		w.end(w.relays[i])
		w.relays[i] = w.start()
	}
}

// trouble makes one fault after the other, for a time.
func (w *world) trouble(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); pause(w.chance.upTo(4 * time.Second)) {
		i := w.chance.n(len(w.relays))
		switch w.chance.n(8) {
		case 0:
			w.die(w.relays[i])
			w.relays[i] = w.start()
		case 1:
			w.end(w.relays[i])
			w.relays[i] = w.start()
		case 2:
			begin := w.instant()
			w.relays[i].process.cutOff()
			pause(w.chance.upTo(3 * ttl))
			w.excuseSince(begin, "cut off", "relay", 2*inFlight) // what was out, and what an expired relay had begun to send
			w.relays[i].process.join()
		case 3:
			w.broker.SetDown(true)
			pause(w.chance.upTo(20 * time.Second))
			w.broker.SetDown(false)
		case 4:
			begin := w.instant()
			w.broker.SetMute(true)
			pause(w.chance.upTo(5 * time.Second))
			for range w.relays { // calls run into their time-out more than once
				w.excuseSince(begin, "mute", "broker", 3*inFlight)
			}
			w.broker.SetMute(false)
		case 5:
			topic := topics[w.chance.n(len(topics))]
			w.broker.FailTopic(topic, broker.Misconfigured)
			pause(w.chance.upTo(15 * time.Second))
			w.broker.RestoreTopic(topic)
		case 6:
			for range w.relays {
				w.excuse("crash", "database", inFlight)
			}
			w.store.Crash()
		}
	}
}

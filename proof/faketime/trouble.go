package faketime

import (
	"context"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// decider is what the broker of a line does with a message.
func (w *world) decider(l *line, number uint64) func(broker.Delivery, int) membroker.Act {
	c := newChance(w.seed, 10+number)
	return func(m broker.Delivery, _ int) membroker.Act {
		if l.exactly && !c.one(8) { // those of a transaction are taken one after the other
			return membroker.Act{}
		}
		if !w.isRough() { // an answer takes its time, so that a stop comes while calls are out
			return membroker.Act{Delay: c.upTo(l.slowness())}
		}
		switch c.n(80) {
		case 0:
			if !l.exactly {
				w.excuse("lost answer", "broker")
				return membroker.Lose()
			}
		case 1:
			return membroker.Fail(broker.Unavailable, "busy")
		case 2, 3:
			w.history.Refuse(history.Refusal{ID: history.ID(m.ID), Subscription: l.Subscription, At: w.instant()})
			w.set(func() { l.refused(m.ID) })
			return membroker.Fail(broker.Rejected, "not now")
		case 4, 5, 6:
			return membroker.Act{Delay: c.upTo(1500 * time.Millisecond)}
		}
		return membroker.Act{}
	}
}

// transactor is what the broker of a line does with a transaction.
func (w *world) transactor(number uint64) func(membroker.Tx) membroker.TxAct {
	c := newChance(w.seed, 20+number)
	return func(membroker.Tx) membroker.TxAct {
		if !w.isRough() {
			return membroker.TxAct{}
		}
		switch c.n(30) {
		case 0:
			return membroker.TxAct{Drop: true}
		case 1, 2:
			return membroker.TxAct{Lose: true}
		}
		return membroker.TxAct{}
	}
}

// trouble is all that goes wrong until the context ends: each room of it does one thing after the other.
func (w *world) trouble(ctx context.Context) {
	rooms := []func(context.Context, *chance){w.relayRoom, w.operatorRoom, w.watchRoom}
	if w.kind == Faults {
		rooms = append(rooms, w.storeRoom)
		for _, l := range w.lines {
			rooms = append(rooms, func(ctx context.Context, c *chance) { w.brokerRoom(ctx, c, l) })
		}
	}
	var done sync.WaitGroup
	for i, room := range rooms {
		done.Go(func() { room(ctx, newChance(w.seed, 30+uint64(i))) })
	}
	done.Wait()
}

// every does something again and again, with pauses of up to so long, until the context ends.
func every(ctx context.Context, c *chance, most time.Duration, do func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(c.upTo(most)):
			do()
		}
	}
}

// lasts lets a fault last for up to so long, and no longer than the context.
func lasts(ctx context.Context, c *chance, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(c.upTo(most)):
	}
}

// relayRoom is what happens to relays.
func (w *world) relayRoom(ctx context.Context, c *chance) {
	if w.kind == Restarts {
		every(ctx, c, 2*time.Second, func() { w.restart(ctx, c) })
		return
	}
	every(ctx, c, 4*time.Second, func() {
		i, r := w.pick(c)
		switch c.n(10) {
		case 0, 1:
			w.die(r)
			w.replace(i, w.start(true))
		case 2, 3:
			w.restart(ctx, c)
		case 4, 5:
			w.cutOff(ctx, c, r)
		case 6:
			w.sicken(r, []error{store.ErrSchema, store.ErrNoBox}[c.n(2)])
			w.replace(i, w.start(true))
		case 7:
			w.refused()
		case 8:
			w.drainer(ctx)
		}
	})
}

// restart stops a relay and starts another one in its place, or lets one drain.
func (w *world) restart(ctx context.Context, c *chance) {
	if w.kind == Restarts && c.one(6) {
		w.drainer(ctx)
		return
	}
	i, r := w.pick(c)
	w.end(r)
	w.replace(i, w.start(w.kind == Faults))
}

// cutOff keeps a relay from the rest of the world, for longer than its lease or not.
func (w *world) cutOff(ctx context.Context, c *chance, r *runner) {
	begin := w.instant()
	r.process.cutOff()
	lasts(ctx, c, 3*ttl)
	r.process.join()
	w.excuseSince(begin, "cut off", "relay")
}

// storeRoom is what happens to the store.
func (w *world) storeRoom(ctx context.Context, c *chance) {
	every(ctx, c, 12*time.Second, func() {
		switch c.n(3) {
		case 0:
			w.excuse("crash", "database")
			w.store.Crash()
		case 1:
			begin := w.instant()
			w.set(func() { w.away = true })
			lasts(ctx, c, 3*ttl)
			w.set(func() { w.away = false })
			w.excuseSince(begin, "away", "database")
		case 2:
			w.set(func() { w.moves = true })
		}
	})
}

// brokerRoom is what happens to the broker of a line.
func (w *world) brokerRoom(ctx context.Context, c *chance, l *line) {
	every(ctx, c, 10*time.Second, func() {
		switch c.n(4) {
		case 0:
			l.broker.SetDown(true)
			lasts(ctx, c, 15*time.Second)
			l.broker.SetDown(false)
		case 1:
			begin := w.instant()
			l.broker.SetMute(true)
			lasts(ctx, c, 5*time.Second)
			l.broker.SetMute(false)
			w.excuseSince(begin, "mute", "broker")
		default:
			topic := kinds[c.n(len(kinds))].topic
			outcome := broker.Misconfigured
			if c.coin() {
				outcome = broker.Unavailable
			}
			l.broker.FailTopic(topic, outcome)
			lasts(ctx, c, 15*time.Second)
			l.broker.RestoreTopic(topic)
		}
	})
}

// watchRoom is what people and programs do that only look, or give hints.
func (w *world) watchRoom(ctx context.Context, c *chance) {
	every(ctx, c, time.Second, func() {
		_, r := w.pick(c)
		if c.coin() {
			r.relay.Wake(w.boxes[c.n(len(w.boxes))])
			return
		}
		_ = r.relay.Stats()
	})
}

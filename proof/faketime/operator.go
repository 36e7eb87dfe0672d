package faketime

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

var audit = store.Audit{Who: "faketime", Why: "a drawn run"}

// operatorRoom is what an operator commands.
func (w *world) operatorRoom(ctx context.Context, c *chance) {
	every(ctx, c, 3*time.Second, func() {
		l := w.lines[c.n(len(w.lines))]
		switch choice := c.n(8); {
		case choice > 5:
			w.policy(ctx, c, l)
		case choice == 5 && c.coin():
			w.holdSome(ctx, c, l)
		case choice == 5:
			w.must("pause", w.store.SetPaused(ctx, audit, l.Ref, true))
			<-time.After(time.Duration(c.n(5000)) * time.Millisecond)
			w.must("resume", w.store.SetPaused(context.WithoutCancel(ctx), audit, l.Ref, false))
		case choice < 2:
			w.count(func(c *Counts) { c.Reshapes++ })
			w.must("ask for other shards", w.store.SetShards(ctx, audit, l.Ref, 1+c.n(9)))
		case w.kind == Restarts:
		case choice == 2:
			w.repair(c)
		default:
			w.command(c, l)
		}
	})
}

// holdSome holds some messages of a line, or all that go to its destination, for a while. The
// pause ends by itself, or by hand.
func (w *world) holdSome(ctx context.Context, c *chance, l *line) {
	k := kinds[c.n(len(kinds))]
	p := store.Pause{Ref: l.Ref}
	switch c.n(4) {
	case 0:
		p.Scope, p.Value = store.PauseTopic, k.topic
	case 1:
		p.Scope, p.Value = store.PauseType, cmp.Or(k.typ, "order.*")
	case 2:
		p.Scope, p.Value = store.PauseKey, fmt.Sprintf("key-%d", c.n(8))
	default:
		p = store.Pause{Scope: store.PauseDestination, Value: l.Ref.String()}
	}
	long := time.Duration(1+c.n(5000)) * time.Millisecond
	if c.coin() {
		w.must("pause with an end", w.store.SetPause(ctx, audit, p, long))
		return
	}
	w.must("pause", w.store.SetPause(ctx, audit, p, 0))
	<-time.After(long)
	_, err := w.store.EndPause(context.WithoutCancel(ctx), audit, p)
	w.must("resume", err)
}

// repair makes rows readable again that were not.
func (w *world) repair(c *chance) {
	w.set(func() {
		for id := range w.unread {
			if c.coin() {
				delete(w.unread, id)
			}
		}
	})
}

// command gives a command for a message that is parked or pending.
func (w *world) command(c *chance, l *line) {
	states := []store.State{store.StateRetrying, store.StateBlocked, store.StateDead, store.StateHeld, store.StateInFlight, store.StatePending}
	items := w.list(l, states[c.n(len(states))])
	if len(items) == 0 {
		return
	}
	it := items[c.n(len(items))]
	kind := store.Retry
	if c.one(3) {
		kind = store.Discard
	}
	w.count(func(c *Counts) { c.Commands++ })
	order := history.Command{ID: history.ID(it.ID), Subscription: l.Subscription, What: history.Retry, Begin: w.instant()}
	n, err := w.store.Command(context.Background(), audit, l.Ref, kind, []int64{it.Seq})
	w.must("a command", err)
	if kind == store.Discard && n > 0 {
		order.What, order.Unknown, order.End = history.Discard, true, w.instant()
		w.history.Order(order)
	}
}

// list returns messages of a line that are in a state.
func (w *world) list(l *line, state store.State) []store.Item {
	items, _, err := w.store.List(context.Background(), store.Query{Ref: l.Ref, State: state, Oldest: true, Limit: 100})
	w.must("list messages", err)
	return items
}

// revive has an operator repair all that is left, and retry what is dead.
func (w *world) revive() {
	w.set(func() { w.unread = map[postbag.ID]bool{} })
	for _, l := range w.lines {
		var dead []int64
		for _, it := range w.list(l, store.StateDead) {
			dead = append(dead, it.Seq)
		}
		_, err := w.store.Command(context.Background(), audit, l.Ref, store.Retry, dead)
		w.must("retry what is dead", err)
	}
}

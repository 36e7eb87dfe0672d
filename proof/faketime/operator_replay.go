package faketime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// replayed is a replay and what became of it.
type replayed struct {
	of     *line
	to     *membroker.Destination
	plan   store.Replay
	keys   []string // whose messages come; empty: all
	due    map[postbag.ID]bool
	resume bool // it is left as it is until the faults are over, and is worked to its end then
}

// replay sends again what lies in a box, to a broker of its own. It is ended by hand, or resumed when the faults are over.
func (w *world) replay(ctx context.Context, c *chance, l *line) {
	o, err := w.store.Overview(ctx)
	w.must("overview", err)
	last := int64(0)
	for i := range o.Boxes {
		if o.Boxes[i].Name == l.Box {
			last = o.Boxes[i].Last
		}
	}
	if last == 0 {
		return
	}
	w.replays++
	r := &replayed{of: l, to: membroker.New(membroker.Options{Ordered: c.coin()})}
	r.plan = store.Replay{
		Ref: store.Ref{Box: l.Box, Subscription: fmt.Sprintf("replay-%d", w.replays)}, Of: l.Subscription, After: int64(c.n(int(last))), Through: last,
		Types: l.types, Shards: 1 + c.n(4), Unmarked: c.one(3),
	}
	if c.one(3) {
		r.keys = []string{fmt.Sprintf("key-%d", c.n(4)), fmt.Sprintf("key-%d", 4+c.n(4))}
		r.plan.Keys = []string{store.KeySum(r.keys[0]), store.KeySum(r.keys[1])}
	}
	w.must("start a replay", w.store.StartReplay(ctx, audit, r.plan))
	r.due = w.dueOf(r)
	at := w.work(r)
	lasts(ctx, c, 10*time.Second)
	w.leave(ctx, c, r, at)
	w.replayed = append(w.replayed, r)
}

// work has a relay work a replay.
func (w *world) work(r *replayed) *runner {
	at := w.newRunner(false, func(o *relay.Options) {
		o.NoMaintenance = true
		o.Subscriptions = []relay.Subscription{{
			To: r.to, ToName: r.of.Ref.String(), Replay: &r.plan, InFlight: 20, Retry: relay.Retry{Min: time.Second, Max: 5 * time.Second, MaxAttempts: 4}, // some rows cannot be read
		}}
	})
	return w.begin(at, at.relay.Run)
}

// leave ends a replay while it is worked or afterwards, or has its relay stop or die and leaves it as it is.
func (w *world) leave(ctx context.Context, c *chance, r *replayed, at *runner) {
	ended := c.one(3)
	r.resume = !ended && c.coin()
	if ended {
		w.endReplay(ctx, r)
	}
	if r.resume && w.kind == Faults && c.coin() {
		w.die(at)
		<-at.done
		return
	}
	w.stopped(at)
	if !ended && !r.resume {
		w.endReplay(ctx, r)
	}
}

// stopped stops the relay of a replay.
func (w *world) stopped(at *runner) {
	at.stop()
	<-at.done
	if at.err != nil && !errors.Is(at.err, context.Canceled) {
		w.failf("the relay of a replay ended with: %v", at.err)
	}
}

func (w *world) endReplay(ctx context.Context, r *replayed) {
	w.must("end a replay", w.store.EndReplay(context.WithoutCancel(ctx), audit, r.plan.Ref, "enough"))
}

// dueOf are the messages that a replay is to send, of those that are committed as it is started.
func (w *world) dueOf(r *replayed) map[postbag.ID]bool {
	out := map[postbag.ID]bool{}
	for _, i := range w.listed(store.Query{Ref: r.plan.Ref, State: store.StatePending}) {
		if r.takes(i.Seq, i.Key) {
			out[i.ID] = true
		}
	}
	return out
}

// listed are all messages that a query asks for.
func (w *world) listed(q store.Query) (out []store.Item) {
	q.Limit = 1000
	for {
		items, next, err := w.store.List(context.Background(), q)
		w.must("list", err)
		if out, q.Cursor = append(out, items...), next; next == "" || err != nil {
			return out
		}
	}
}

// takes says whether a message is among those that a replay sends again, as far as its seq and its key go.
func (r *replayed) takes(seq int64, key string) bool {
	return seq > r.plan.After && seq <= r.plan.Through && (len(r.keys) == 0 || slices.Contains(r.keys, key))
}

// resumeReplays works those to their ends that were left. What is dead in one was tried often enough.
func (w *world) resumeReplays(ctx context.Context) {
	for _, r := range w.replayed {
		if !r.resume {
			continue
		}
		at := w.work(r)
		left := w.missing(r)
		for deadline := time.Now().Add(patience); left > 0 && time.Now().Before(deadline); left = w.missing(r) {
			pause(time.Second)
		}
		if left > 0 {
			w.failf("%v after the last fault, %s has not sent %d of the %d messages that were there when it began", patience, r.plan.Ref, left, len(r.due))
		}
		w.stopped(at)
		w.endReplay(ctx, r)
		w.count(func(c *Counts) { c.Replays++ })
	}
}

// missing is how many messages a replay has still to send. Those of a key wait behind a dead one.
func (w *world) missing(r *replayed) int {
	done, dead := map[postbag.ID]bool{}, map[string]bool{}
	for _, m := range r.to.First() {
		done[m.ID] = true
	}
	for _, i := range w.listed(store.Query{Ref: r.plan.Ref, State: store.StateDead}) {
		done[i.ID], dead[i.Key] = true, true
	}
	for _, i := range w.listed(store.Query{Ref: r.plan.Ref, State: store.StateBlocked}) {
		done[i.ID] = done[i.ID] || dead[i.Key]
	}
	n := 0
	for id := range r.due {
		if !done[id] {
			n++
		}
	}
	return n
}

// judgeReplays wants replays to have sent what lies between their bounds, that their filter takes, and nothing else, with the mark that
// tells it from what comes for the first time. What subscriptions deliver has no such mark.
func (w *world) judgeReplays() {
	for _, r := range w.replayed {
		mark := r.plan.Ref.Subscription
		if r.plan.Unmarked {
			mark = ""
		}
		for _, m := range r.to.First() {
			if !r.takes(m.Seq, m.Key) || !r.of.wants(m.Topic) {
				w.failf("%s sent seq %d of topic %s and key %s, which is not among what it sends again", r.plan.Ref, m.Seq, m.Topic, m.Key)
			}
			if m.Headers[broker.HeaderReplay] != mark {
				w.failf("%s sent seq %d with the mark %q, not %q", r.plan.Ref, m.Seq, m.Headers[broker.HeaderReplay], mark)
			}
		}
	}
	for _, l := range w.lines {
		for _, m := range l.broker.First() {
			if mark := m.Headers[broker.HeaderReplay]; mark != "" {
				w.failf("%s delivered seq %d with the mark %q of a replay", l.Ref, m.Seq, mark)
			}
		}
	}
}

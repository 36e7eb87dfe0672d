package simulation

import (
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// Under Replays an operator has messages sent again that lie between two bounds in the log, to a broker of their own. A replay
// is a subscription that ends, and a world of its own: it has shards, parked messages, a ledger, relays and judges as the first
// subscription has. The log, the database's life and its clock are one. Its relays are processes of postbag replay: no other
// relay works it. They read what the core says, and stop when the core says that it is through.

// replay is what a subscription sends again, and how that stands.
type replay struct {
	store.Replay

	keys  []int  // whose messages come. Empty: all.
	kinds []bool // which of typeNames come. Nil: all.
	// from and before are when From and Before are, by the database's clock.
	from, before time.Duration
	over         bool
}

// mostReplays is how many replays there are at a time, and allReplays how many are begun in a run.
const mostReplays, allReplays = 2, 6

// notOfReplays are what happens to the whole database, and to the first subscription alone.
const notOfReplays = ofDatabase | ofFirst

const (
	ofDatabase = StoreClock | Crashes | FailOvers | Restores | Moves
	ofFirst    = Policies | Reshapes | Emptied | Housekeeping | Drains | Unshaped | Filters | Removals | UnreadableFilters | Replays
)

// startReplay has an operator start one. He is refused if there is nothing to send again, or nobody could work it.
func (w *world) startReplay() {
	s := w.server
	last := w.lastCommitted()
	if last == 0 || s.gone || s.later || s.emptied > 0 || len(w.replays) >= mostReplays || w.begun >= allReplays {
		return
	}
	w.begun++
	r := w.drawReplay(last)
	a := w.again(r)
	w.replays = append(w.replays, a)
	w.tell(eventReplay, w.begun, r.After, r.Through)
	for range 1 + w.below(2) {
		a.newRelay()
	}
	a.trouble()
	if w.below(3) == 2 {
		w.after(time.Duration(w.below(4000))*time.Millisecond, nil, a.cancelReplay)
	}
}

// lastCommitted is the highest seq of a message that the log holds.
func (w *world) lastCommitted() (last int64) {
	for _, m := range w.producers.msgs {
		if m.state == committed && w.server.at(m.seq) == m {
			last = max(last, m.seq)
		}
	}
	return last
}

// drawReplay draws what is sent again, of a log that ends with a seq.
func (w *world) drawReplay(last int64) *replay {
	r := &replay{}
	r.Ref, r.Of = store.Ref{Box: mainRef.Box, Subscription: fmt.Sprintf("replay-%d", w.begun)}, mainRef.Subscription
	r.Through, r.Shards = last, w.of(1, 2, 3, 4)
	switch w.below(4) {
	case 1:
		r.After = int64(w.below(int(last)))
	case 2: // the last ones
		r.After = max(last-1-int64(w.below(30)), 0)
	case 3:
		r.from = w.sometime(last)
		r.From = wallClock.Add(r.from)
	}
	switch w.below(4) {
	case 2:
		r.Through = r.After + 1 + int64(w.below(int(last-r.After)))
	case 3:
		if at := w.sometime(last); r.From.IsZero() || at > r.from {
			r.before = at
			r.Before = wallClock.Add(at)
		}
	}
	w.drawReplayed(r)
	if w.below(4) == 3 {
		r.Rate = float64(w.of(200, 50, 20))
	}
	return r
}

// drawReplayed draws of which keys and types messages come.
func (w *world) drawReplayed(r *replay) {
	if w.below(3) == 2 {
		r.keys = []int{1 + w.below(w.plan.keys), 1 + w.below(w.plan.keys)}
		for _, k := range r.keys {
			r.Keys = append(r.Keys, store.KeySum(keyName(k)))
		}
	}
	if w.plan.faults.has(Retries|ScopedHolds) && w.below(3) == 2 {
		r.kinds = make([]bool, len(typeNames))
		kind := w.below(len(typeNames))
		r.kinds[kind], r.Types = true, []string{typeNames[kind]}
	}
}

// sometime is when some message was stored, of those up to a seq.
func (w *world) sometime(last int64) time.Duration {
	if m := w.server.at(1 + int64(w.below(int(last)))); m != nil && m != tombstone {
		return m.stored
	}
	return 0
}

// again makes the world of a replay.
func (w *world) again(r *replay) *world {
	a := &world{stage: w.stage, ref: r.Ref, works: []store.Ref{r.Ref}, replay: r, recorders: recorders{history: &history.History{}}}
	a.plan = w.plan.again(r)
	a.plan.cfg.Ends = func(p store.Position) bool { return core.ReplayEnds(&r.Replay, p, a.server.floorOf) }
	a.leastAttempts, a.unbound = w.leastAttempts, w.unbound
	a.server = &server{w: a, machine: w.server.machine, moved: w.server.moved}
	a.server.refuses = w.server.refuses // an operator's filter of now
	if r.Rate == 0 {
		a.server.settings = w.server.settings
	}
	a.server.declare(w.server.log.behind(r.After))
	a.broker = newDestination(a)
	a.producers = producers{w: a}
	for _, m := range w.producers.msgs {
		a.mayReplay(m)
	}
	return a
}

// again is what a replay draws from its subscription. It delivers at least once, and messages may be old.
func (p *plan) again(r *replay) plan {
	out := *p
	out.faults &^= ofFirst
	out.shards = r.Shards
	c := &out.cfg
	c.Ref, c.Transactions, c.Retry.MaxAge = r.Ref, false, 0
	c.Rules = slices.Clone(c.Rules)
	for i := range c.Rules {
		c.Rules[i].MaxAge = 0
	}
	if c.OnReject == engine.Supersede { // which strict order does not have: Policies may have set it meanwhile
		c.Order = engine.ByKey
	}
	if r.Rate > 0 {
		c.Rate.Messages, c.Rate.Shared = r.Rate, true
	}
	return out
}

// mayReplay has a replay know of a message.
func (w *world) mayReplay(of *message) {
	m := w.rooms.messages.take()
	*m = message{row: of.row}
	kinds := w.replay.kinds
	m.refused = of.filtered || of.state == forgotten || of.shifting && w.server.refuses || kinds != nil && !kinds[m.kind()]
	w.producers.msgs = append(w.producers.msgs, m)
	w.asks(m)
}

// asks finds out whether a message is among those that a replay sends again, as soon as it has a row.
func (w *world) asks(m *message) {
	r := w.replay
	early := !r.From.IsZero() && m.stored < r.from
	late := !r.Before.IsZero() && m.stored >= r.before
	m.filtered = m.refused || m.seq <= r.After || m.seq > r.Through || early || late || len(r.keys) > 0 && !slices.Contains(r.keys, m.key)
}

// refuse marks what the filter of a replay refuses. It is that of its beginning.
func (s *server) refuse(p *store.Batch) {
	for i := range p.Records {
		p.Records[i].Filtered = s.w.message(&p.Records[i]).refused
	}
}

// cancelReplay has an operator end a replay that is worked.
func (w *world) cancelReplay() {
	if w.calm || w.replay.over {
		return
	}
	w.counts.Cancelled++
	w.endReplay()
}

// endReplay removes a replay with all that it has. Relays that work it hear of that later.
func (w *world) endReplay() {
	if w.replay.over {
		return
	}
	w.judgeReplay()
	w.replay.over = true
	w.tell(eventReplayEnds, w.begun, int64(len(w.broker.stored)), int64(len(w.server.rows)))
	s := w.server
	s.gone = true
	for i := range s.shards {
		s.token++
		s.shards[i].owner, s.shards[i].token = "", s.token
	}
	s.epoch++
	s.rows, s.commands = nil, nil
	w.forgetReplay()
}

// losesReplays ends those that an earlier state of the database does not have.
func (w *world) losesReplays(which func(*world) bool) {
	for _, a := range slices.Clone(w.replays) {
		if which(a) {
			a.endReplay()
		}
	}
}

// forgetReplay forgets one that is over, and that no relay works any more.
func (w *world) forgetReplay() {
	if w.replay.isOver() && len(w.relays) == 0 {
		w.replays = slices.DeleteFunc(w.replays, func(a *world) bool { return a == w })
	}
}

// everyRelay are those of the first subscription, and of all replays.
func (w *world) everyRelay() []*relay {
	if len(w.replays) == 0 {
		return w.relays
	}
	w.ringers = append(w.ringers[:0], w.relays...)
	for _, a := range w.replays {
		w.ringers = append(w.ringers, a.relays...)
	}
	return w.ringers
}

// prefix is what is said before all that is wrong with a replay.
func (r *replay) prefix() string {
	if r == nil {
		return ""
	}
	return r.Ref.Subscription + ": "
}

// isOver says that it has ended. A subscription never does.
func (r *replay) isOver() bool { return r != nil && r.over }

// endsBefore says that a message lies behind the end.
func (r *replay) endsBefore(m *message) bool { return r != nil && m.seq > r.Through }

package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// replayCases are about replays, for stores that have them.
func replayCases() []scenario {
	return []scenario{
		{name: "A replay begins behind its seq, and an overview shows what it sends again", run: replayBegins},
		{name: "A replay leaves the subscription that it is of as it was", run: replayApart},
		{name: "A replay of nothing, of nobody or without a reason is refused, and nothing is written", run: replayRefused},
		{name: "Nobody declares a subscription by the name of a replay", run: replayDeclared},
		{name: "An ended replay is gone with all it had, and its relay has lost it", run: replayEnded},
		{name: "A replay is paused and resumed as any subscription", run: replayPaused},
		{name: "Nothing is dropped that a replay has not passed, until it is ended", run: replayRetained},
		{name: "A replay accounts for what it sent in a ledger of its own", run: replayLedger},
		{name: "Up to the floor of a position nothing comes any more", run: replayFloor},
		{name: "The floor of a position waits for what is open, and goes on after it", needs: concurrentWriters, run: replayFloorOpen},
		{name: "A seq is found by the time when it was stored", run: replaySeqBefore},
	}
}

var again = store.Ref{Box: box, Subscription: "again"}

// replayer returns the store as a Replayer, or skips the case.
func (e *env) replayer() store.Replayer {
	e.Helper()
	r, ok := e.Store.(store.Replayer)
	if !ok {
		e.Skip("the store is no Replayer")
	}
	return r
}

// replay starts a replay of the default subscription.
func (e *env) replay(r store.Replay) {
	e.Helper()
	if r.Of == "" {
		r.Of = ref.Subscription
	}
	if r.Shards == 0 {
		r.Shards = 1
	}
	r.Ref = again
	e.check(e.replayer().StartReplay(e.ctx, byOperator, r), "start a replay")
}

var byOperator = store.Audit{Who: "an operator", Why: "a test"}

// floor returns the floor of a position.
func (e *env) floor(p store.Position) int64 {
	e.Helper()
	seq, err := e.replayer().Floor(p)
	e.check(err, "floor")
	return seq
}

// viewOf returns a subscription as an overview has it, nil if there is none.
func (e *env) viewOf(r store.Ref) *store.SubscriptionView {
	e.Helper()
	o, err := e.inspector().Overview(e.ctx)
	e.check(err, "overview")
	for i := range o.Boxes {
		for j := range o.Boxes[i].Subscriptions {
			if s := &o.Boxes[i].Subscriptions[j]; s.Ref == r {
				return s
			}
		}
	}
	return nil
}

// lastAudited returns what the audit log has last, empty for nothing.
func (e *env) lastAudited() string {
	e.Helper()
	o, ok := e.Store.(store.Operator)
	if !ok {
		e.Skip("the store is no Operator")
	}
	entries, err := o.Audited(e.ctx, 1)
	e.check(err, "audited")
	if len(entries) == 0 {
		return ""
	}
	return entries[0].Who + ", " + entries[0].Why + ": " + entries[0].What
}

func replayBegins(e *env) {
	e.open(2)
	first := e.pager().expect(e.publish(e.messages(5, "a", "b")...)...)
	msgs := e.publish(e.messages(7, "a", "b")...)
	after := first[4].Seq
	want := store.Replay{
		After: after, Through: first[4].Seq + 3, From: e.now().Add(-time.Hour).UTC().Truncate(time.Microsecond), Before: e.now().Add(time.Hour).UTC().Truncate(time.Microsecond),
		Types: []string{"order.*"}, Keys: []string{store.KeySum("a")}, Rate: 2.5, Destination: "shop", Unmarked: true, Shards: 3,
	}
	e.replay(want)
	for _, p := range e.positions(again) {
		e.pager().of(again).from(p).expect(msgs...)
	}
	v := e.viewOf(again)
	if v == nil || v.Replay == nil {
		e.Fatal("an overview shows no replay")
	}
	got := *v.Replay
	if got.Ref != again || got.Of != ref.Subscription || got.After != want.After || got.Through != want.Through || !got.From.Equal(want.From) ||
		!got.Before.Equal(want.Before) || !slices.Equal(got.Keys, want.Keys) || got.Rate != want.Rate || got.Destination != want.Destination || !got.Unmarked {
		e.Errorf("the replay is shown as %+v, and was started as %+v", got, want)
	}
	if v.Backlog > 3 || v.Backlog < 1 {
		e.Errorf("the replay of 3 seqs has a backlog of %d", v.Backlog)
	}
	if len(v.Shards) != 3 || !slices.Equal(v.Types, want.Types) {
		e.Errorf("the replay has %d shards and types %q", len(v.Shards), v.Types)
	}
	if plain := e.viewOf(ref); plain.Replay != nil {
		e.Error("a plain subscription is shown as a replay")
	}
	if said := e.lastAudited(); !strings.HasPrefix(said, "an operator, a test: start replay outbox/again of default") || strings.Contains(said, want.Keys[0]) {
		e.Errorf("the audit log says %q", said)
	}
}

func replayApart(e *env) {
	e.replayer()
	h := e.history(2)
	h.settleAll()
	before, delivered := e.look(ref).Shards, e.viewOf(ref).Delivered
	e.replay(store.Replay{Through: h.records[len(h.records)-1].Seq})
	lease := e.relay("again", again).take(again)[0]
	c := e.pager().of(again)
	c.await(len(h.records))
	e.settle(&lease, store.Settlement{To: c.req.From, Tally: tally(store.TallyDelivered, c.got...)})
	if after := e.look(ref).Shards; !slices.Equal(before, after) {
		e.Errorf("beside a replay the shards went from %v to %v", before, after)
	}
	if n := e.viewOf(ref).Delivered; n != delivered {
		e.Errorf("beside a replay the subscription has delivered %d, not %d", n, delivered)
	}
}

func replayRefused(e *env) {
	r := e.replayer()
	e.open(1)
	e.declareFirst(store.Ref{Box: box, Subscription: "taken"})
	e.publish(e.messages(5, "a")...)
	sound := store.Replay{Ref: again, Of: ref.Subscription, Through: 5, Shards: 1}
	removed := store.Ref{Box: box, Subscription: "removed"} // relays that name it would work the replay as their own
	if s, ok := e.Store.(store.Steward); ok {
		e.declareFirst(removed)
		e.check(s.Remove(e.ctx, byOperator, removed, false), "remove")
	} else {
		removed.Subscription = "taken"
	}
	said := e.lastAudited()
	for _, c := range []struct {
		what   string
		change func(*store.Replay, *store.Audit)
		want   error
	}{
		{"a missing box", func(r *store.Replay, _ *store.Audit) { r.Ref.Box = "nowhere" }, store.ErrNoBox},
		{"a missing subscription", func(r *store.Replay, _ *store.Audit) { r.Of = "nobody" }, store.ErrNoSubscription},
		{"the box's own housekeeping", func(r *store.Replay, _ *store.Audit) { r.Of = store.Maintenance }, nil},
		{"a name that is taken", func(r *store.Replay, _ *store.Audit) { r.Ref.Subscription = "taken" }, store.ErrReplayExists},
		{"a name that was removed", func(r *store.Replay, _ *store.Audit) { r.Ref = removed }, store.ErrReplayExists},
		{"a name that is none", func(r *store.Replay, _ *store.Audit) { r.Ref.Subscription = "@again" }, nil},
		{"an end before the beginning", func(r *store.Replay, _ *store.Audit) { r.After = 5 }, nil},
		{"times that are turned round", func(r *store.Replay, _ *store.Audit) { r.From, r.Before = e.now(), e.now().Add(-time.Hour) }, nil},
		{"a negative rate", func(r *store.Replay, _ *store.Audit) { r.Rate = -1 }, nil},
		{"nobody", func(_ *store.Replay, a *store.Audit) { a.Who = "" }, nil},
		{"no reason", func(_ *store.Replay, a *store.Audit) { a.Why = "" }, nil},
	} {
		wrong, by := sound, byOperator
		c.change(&wrong, &by)
		err := r.StartReplay(e.ctx, by, wrong)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			e.Errorf("a replay with %s: %v", c.what, err)
		}
	}
	if now := e.lastAudited(); now != said || len(e.look(again).Shards) > 0 {
		e.Errorf("refused replays left something: the audit log says %q", now)
	}
	e.replay(sound)
	nested := store.Replay{Ref: store.Ref{Box: box, Subscription: "nested"}, Of: again.Subscription, Through: 5}
	if err := r.StartReplay(e.ctx, byOperator, nested); !errors.Is(err, store.ErrNoSubscription) {
		e.Errorf("a replay of a replay: %v, not ErrNoSubscription", err)
	}
	if err := r.StartReplay(e.ctx, byOperator, sound); !errors.Is(err, store.ErrReplayExists) {
		e.Errorf("a second replay of the name: %v, not ErrReplayExists", err)
	}
}

func replayDeclared(e *env) {
	e.replayer()
	e.open(1)
	e.publish(e.messages(5, "a")...)
	e.replay(store.Replay{Through: 5})
	if err := e.Store.Declare(e.ctx, []store.Spec{{Ref: again}}); !errors.Is(err, store.ErrIsReplay) {
		e.Errorf("declared by the name of a replay: %v, not ErrIsReplay", err)
	}
}

func replayEnded(e *env) {
	r := e.replayer()
	e.open(1)
	e.publish(e.messages(5, "a")...)
	for what, of := range map[string]store.Ref{"a plain subscription": ref, "nothing": again} {
		if err := r.EndReplay(e.ctx, byOperator, of, "0 delivered"); !errors.Is(err, store.ErrNoReplay) {
			e.Errorf("ended, %s: %v, not ErrNoReplay", what, err)
		}
	}
	e.replay(store.Replay{Through: 5})
	lease := e.relay("again", again).take(again)[0]
	c := e.pager().of(again)
	c.all()
	dead := park(c.got[0], store.ParkDead)
	e.settle(&lease, store.Settlement{
		To: c.req.From, Park: []store.Park{dead},
		Tally: append(tally(store.TallyParked, c.got[0]), tally(store.TallyDelivered, c.got[1:]...)...),
	})
	if v := e.viewOf(again); v == nil || v.Delivered != 4 || v.Parked[store.ParkDead] != 1 {
		e.Errorf("before its end the replay is %+v", v)
	}
	if err := r.EndReplay(e.ctx, store.Audit{Who: "an operator"}, again, "4 delivered"); err == nil {
		e.Error("a replay was ended without a reason")
	}
	e.check(r.EndReplay(e.ctx, byOperator, again, "4 delivered"), "end the replay")
	if v := e.viewOf(again); v != nil {
		e.Errorf("an ended replay is there: %+v", v)
	}
	e.refuse(lease, "the replay was ended")
	if said := e.lastAudited(); said != "an operator, a test: end replay outbox/again: 4 delivered" {
		e.Errorf("the audit log says %q", said)
	}
	e.replay(store.Replay{Through: 5})
	if v := e.viewOf(again); v == nil || v.Delivered != 0 || len(v.Parked) > 0 && v.Parked[store.ParkDead] != 0 {
		e.Errorf("a new replay of the name has something of the one before: %+v", v)
	}
}

func replayPaused(e *env) {
	e.replayer()
	e.open(1)
	e.publish(e.messages(5, "a")...)
	e.replay(store.Replay{Through: 5})
	o, ok := e.Store.(store.Operator)
	if !ok {
		e.Skip("the store is no Operator")
	}
	for _, paused := range []bool{true, false} {
		e.check(o.SetPaused(e.ctx, byOperator, again, paused), "pause or resume")
		if v := e.viewOf(again); v == nil || v.Paused != paused {
			e.Errorf("the replay is to be paused: %v, and is %+v", paused, v)
		}
	}
}

func replayRetained(e *env) {
	r := e.replayer()
	h := e.history(1)
	e.replay(store.Replay{Through: h.records[len(h.records)-1].Seq})
	h.settleAll()
	h.kept("a replay has not passed them")
	e.check(r.EndReplay(e.ctx, byOperator, again, "nothing delivered"), "end the replay")
	h.dropped()
}

func replayLedger(e *env) {
	r := e.replayer()
	h := e.history(1)
	from := h.records[9].Seq
	e.replay(store.Replay{After: from, Through: h.records[len(h.records)-1].Seq})
	h.settleAll()
	lease := e.relay("again", again).take(again)[0]
	c := e.pager().of(again).from(e.positions(again)[0])
	c.all()
	sent, passed := c.got[:5], c.got[5:]
	e.settle(&lease, store.Settlement{To: c.req.From, Tally: append(tally(store.TallyDelivered, sent...), tally(store.TallyFiltered, passed...)...)})
	v := e.viewOf(again)
	if v == nil || v.Delivered != int64(len(sent)) || v.Filtered != int64(len(passed)) {
		e.Fatalf("the replay has delivered %d and filtered %d, and is shown as %+v", len(sent), len(passed), v)
	}
	h.dropped()
	e.check(r.EndReplay(e.ctx, byOperator, again, "5 delivered"), "end the replay")
	h.round()
	if len(h.total.Faults) > 0 {
		e.Errorf("after the replay the ledger has faults: %q", h.total.Faults)
	}
}

// floorReaches settles and reads on until the floor is at a seq.
func (c *pager) floorReaches(lease *store.Lease, seq int64) {
	c.Helper()
	c.eventually("the floor is at the last message", func() bool {
		n := len(c.got)
		c.page()
		c.settle(lease, store.Settlement{To: c.req.From, Tally: tally(store.TallyDelivered, c.got[n:]...)})
		return c.floor(c.req.From) >= seq
	})
}

func replayFloor(e *env) {
	e.replayer()
	e.open(1)
	if seq := e.floor(""); seq != 0 {
		e.Errorf("at the beginning the floor is %d", seq)
	}
	if _, err := e.replayer().Floor("\xffnonsense"); !errors.Is(err, store.ErrPosition) {
		e.Errorf("the floor of a damaged position: %v, not ErrPosition", err)
	}
	lease := e.relay("r").take(ref)[0]
	e.publish(e.messages(40, "a", "b")...)
	c := e.pager().limit(7)
	passed := map[int64]bool{}
	all := e.pager().all()
	for len(c.got) < 40 {
		n := len(c.got)
		b := c.page()
		for i := range b.Records {
			passed[b.Records[i].Seq] = true
			floor := e.floor(b.At(i))
			for _, r := range all {
				if r.Seq <= floor && !passed[r.Seq] {
					e.Fatalf("behind seq %d the floor is %d, and seq %d has not come", b.Records[i].Seq, floor, r.Seq)
				}
			}
		}
		if len(c.got) > n {
			e.settle(&lease, store.Settlement{To: c.req.From, Tally: tally(store.TallyDelivered, c.got[n:]...)})
		}
	}
	c.floorReaches(&lease, all[39].Seq)
}

func replayFloorOpen(e *env) {
	e.replayer()
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	e.publish(e.messages(5, "a")...)
	tx := e.begin()
	late := e.append(tx, e.messages(2, "late")...)
	e.publish(e.messages(5, "b")...)
	c := e.pager()
	var last int64
	for range 20 {
		n := len(c.got)
		c.all()
		e.settle(&lease, store.Settlement{To: c.req.From, Tally: tally(store.TallyDelivered, c.got[n:]...)})
		for i := range c.got {
			last = max(last, c.got[i].Seq)
		}
		if floor := e.floor(c.req.From); floor >= last {
			e.Fatalf("the floor is %d, and below that two messages are to come", floor)
		}
	}
	e.commit(tx)
	c.floorReaches(&lease, last)
	came := 0
	for i := range c.got {
		if c.got[i].ID == late[0].ID || c.got[i].ID == late[1].ID {
			came++
		}
	}
	if came != 2 {
		e.Errorf("by the time that the floor is at the end, %d of 2 late messages have come", came)
	}
}

func replaySeqBefore(e *env) {
	r := e.replayer()
	e.open(1)
	e.publish(e.messages(3000, "a", "b")...)
	e.pass(20 * time.Millisecond)
	since := e.now()
	e.pass(20 * time.Millisecond)
	e.publish(e.messages(10, "a")...)
	all := e.pager().all()
	first := all[3000].Seq
	seq, err := r.SeqBefore(e.ctx, box, since)
	e.check(err, "find a seq")
	if seq >= first || seq < first-1500 {
		e.Errorf("what was stored since then begins with seq %d, and the search ends at %d", first, seq)
	}
	if seq, err := r.SeqBefore(e.ctx, box, since.Add(-time.Hour)); err != nil || seq >= all[0].Seq {
		e.Errorf("before all messages the search ends at %d: %v", seq, err)
	}
	if _, err := r.SeqBefore(e.ctx, "nowhere", since); !errors.Is(err, store.ErrNoBox) {
		e.Errorf("in a missing box: %v, not ErrNoBox", err)
	}
}

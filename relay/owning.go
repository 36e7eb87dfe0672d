package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/failpoint"
	"github.com/postbag/postbag/store"
)

// ownership is the relay's identity and what it knows of who owns what.
type ownership struct {
	id    string
	fresh bool // no heartbeat of this id was made yet
	// former are ids that are given up: a relay that waited for their leases to run out would
	// wait for a ghost.
	former   []string
	beating  bool
	nextBeat time.Duration
	beatenAt time.Duration // the last heartbeat was sent then
	viewed   bool
	epoch    int64
	life     int64 // of the database, see store.TurnResult
	relays   int
	beats    int64
	// take, give and reshape go with the next heartbeat.
	take    []store.Shard
	give    []store.Lease
	reshape []store.Reshape
	// wanting: the last plan wanted shards that are free.
	wanting bool
	// expecting: another relay has shards to give. They are looked for often
	// until expectUntil.
	expecting   bool
	expectUntil time.Duration
	peers       map[string]peer
	left        bool // said goodbye
	dying       bool // the heartbeat expired: settle what can be, then begin anew
}

// pollMax is the longest pause between looks at the store: shorter while there
// are others, from whom work may have to be taken over.
func (l *loop) pollMax() time.Duration {
	if l.relays > 1 {
		return min(l.options.PollMax, 500*time.Millisecond)
	}
	return l.options.PollMax
}

// handOver collects shards that are ready to be given back, and says goodbye
// when there are none left.
func (l *loop) handOver() {
	for _, f := range l.flows {
		for _, left := range f.core.Left() {
			l.give = append(l.give, lease(f.ref, left))
			l.nextBeat = 0
		}
		l.gathered(f)
	}
	if l.stopping && !l.left && l.allLeft() {
		l.left = l.fresh // no heartbeat was made that could be taken back
		l.nextBeat = 0
	}
	if l.dying && !l.turning.out && l.turning.repeat == nil && !l.unsettled() {
		l.restart()
	}
}

// unsettled says that a flow has something to settle that a turn could write now.
func (l *loop) unsettled() bool {
	for _, f := range l.flows {
		if f.core.Urgent() {
			return true
		}
	}
	return false
}

// canBeat says that a heartbeat may be made once its time has come.
func (l *loop) canBeat() bool { return !l.beating && !l.checking && !l.dying && !l.left }

// beat renews the heartbeat when it is time, and changes who owns what.
func (l *loop) beat(now time.Duration) {
	if !l.canBeat() || now < l.nextBeat || now < l.storeRetry {
		return
	}
	if l.doubted() {
		l.recheck()
		return
	}
	b := store.Beat{
		Relay: l.id, Name: l.options.Name, New: l.fresh, TTL: l.options.TTL, Works: l.works(),
		Give: l.give, Take: l.take, Reshape: l.reshape, Conditions: l.conditions(now),
	}
	if l.stopping {
		b.Take, b.Reshape = nil, nil
		b.Leave = l.allLeft()
	}
	l.claim(&b)
	l.reshaping(now, &b)
	l.beating = true
	l.beats++
	l.beatenAt = now
	l.nextBeat = now + l.options.TTL/3
	gave, former := len(l.give), l.former
	generation := l.generation
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, min(storeTimeout, l.options.TTL))
		defer cancel()
		v, err := l.renew(ctx, former, b)
		return func() {
			if generation != l.generation {
				return // another identity's, which may have a heartbeat of its own out
			}
			l.beating = false
			if err != nil {
				l.beatFailed(err)
				return
			}
			l.give = append([]store.Lease(nil), l.give[gave:]...)
			l.take, l.reshape, l.fresh, l.former = nil, nil, false, l.former[len(former):]
			l.left = b.Leave
			if !b.Leave {
				l.view(now, &b, &v)
			}
		}
	})
}

// claim notes what the flows have as a heartbeat is sent, and what it takes for them.
func (l *loop) claim(b *store.Beat) {
	for _, f := range l.flows {
		f.owner.Asks(f.core.Leases())
	}
	for _, sh := range b.Take {
		if f := l.byRef[sh.Ref]; f != nil {
			f.owner.Claim(sh.Lo)
		}
	}
}

// renew is the heartbeat's round trip, with points at which tests of faults end it, and
// that of identities which are given up before it.
func (l *loop) renew(ctx context.Context, former []string, b store.Beat) (v store.View, err error) {
	if err := failpoint.Hit("relay/renew/before"); err != nil {
		return v, err
	}
	for _, id := range former {
		if _, err := l.store.Beat(ctx, store.Beat{Relay: id, Name: b.Name, Leave: true, TTL: b.TTL}); err != nil {
			return v, err
		}
	}
	if v, err = l.store.Beat(ctx, b); err != nil {
		return v, err
	}
	return v, failpoint.Hit("relay/renew/after")
}

func (l *loop) beatFailed(err error) {
	if isMoved(err) {
		l.log.moved(err)
		l.restart()
		l.storeMoved(askBeat)
		return
	}
	if errors.Is(err, context.DeadlineExceeded) {
		l.reshape = nil // the next one only renews; its view shows what came of this one
	}
	l.nextBeat = 0 // as soon as the store is asked again
	l.storeFailed(askBeat, fmt.Errorf("relay: the heartbeat failed: %w", err))
}

// works lists what this relay can work on.
func (l *loop) works() []store.Ref {
	out := make([]store.Ref, 0, len(l.flows)+len(l.keep))
	for _, f := range l.flows {
		out = append(out, f.ref)
	}
	for _, u := range l.keep {
		out = append(out, u.ref)
	}
	return out
}

func (l *loop) allLeft() bool {
	for _, f := range l.flows {
		if len(f.core.Leases()) > 0 || f.owner.Loading() {
			return false
		}
	}
	for _, u := range l.keep {
		if u.busy {
			return false
		}
	}
	return !l.turning.out && l.turning.repeat == nil
}

// view takes what a heartbeat saw. sent is when it was sent: the leases are good
// from then, by this process's own clock, less a margin.
func (l *loop) view(sent time.Duration, b *store.Beat, v *store.View) {
	if !v.Alive {
		l.expired()
		return
	}
	l.storeWorks(askBeat)
	l.notePeers(v.Relays)
	l.viewed = true
	l.epoch, l.relays = v.Epoch, len(v.Relays)
	l.wanting = false
	expected := l.expecting
	l.expecting = false
	for _, f := range l.flows {
		f.core.Expire(sent + l.options.TTL*4/5)
		f.core.PollMax(l.pollMax())
	}
	for i := range v.Subscriptions {
		s := &v.Subscriptions[i]
		if f := l.byRef[s.Ref]; f != nil {
			l.viewFlow(f, s, v.Relays, b)
		}
		for _, u := range l.keep {
			if u.ref == s.Ref {
				l.viewUpkeep(u, s, v.Relays)
			}
		}
	}
	if l.expecting && !expected {
		l.expectUntil = l.now() + expectFor
	}
	l.nextLook = min(l.nextLook, l.now()+l.lookPause())
	for _, o := range v.Relays {
		if o.ID != l.id { // look again just when another one's time is out
			l.nextBeat = min(l.nextBeat, l.now()+max(o.Expires+50*time.Millisecond, 50*time.Millisecond))
		}
	}
}

// expired: others may own our shards by now. What was accepted can still be
// settled where they do not.
func (l *loop) expired() {
	l.log.expired()
	l.dying = true
	for _, f := range l.flows {
		f.core.Expire(0)
		f.core.Hurry()
	}
}

// viewFlow brings a flow's shards in line with the view, and plans its share.
func (l *loop) viewFlow(f *flow, s *store.SubscriptionState, relays []store.RelayState, b *store.Beat) {
	f.wanted = s.Wanted
	f.core.Pause(s.Paused)
	l.noteHolders(f, s, relays)
	if asksFor(b, f) {
		f.reshapePause, f.reshapeAfter = 0, 0
		if len(s.Shards) == s.Wanted {
			l.reshaped(f, s)
		}
	}
	sight := f.owner.Look(l.id, seen(s), f.core.Leases(), func(sh engine.Lease) bool { return l.gives(f, sh) })
	for _, lost := range sight.Lost {
		f.core.Lost(lost.Lo)
		l.nextBeat = 0
	}
	for _, i := range sight.Disowned {
		l.disown(&s.Shards[i])
	}
	var gained []store.ShardState
	for _, i := range sight.Gained {
		gained = append(gained, s.Shards[i])
	}
	switch {
	case f.exactly != nil:
		l.gain(f, s, gained)
	case len(gained) > 0:
		l.load(f, gained)
	}
	l.noteBeginning(f, len(gained) > 0)
	for _, old := range sight.Old {
		f.core.Lost(old.Lo)
	}
	if !l.stopping {
		l.plan(f, s, relays)
	}
}

// seen is a view's shards as the engine takes them.
func seen(s *store.SubscriptionState) []engine.Seen {
	out := make([]engine.Seen, len(s.Shards))
	for i := range s.Shards {
		out[i] = engine.Seen{Lease: leaseOf(&s.Shards[i]), Owner: s.Shards[i].Owner}
	}
	return out
}

// disown gives back a shard that is ours, though we did not take it, see engine.Sight.
// The flow of an exactly-once subscription begins anew with all its shards instead.
func (l *loop) disown(sh *store.ShardState) {
	l.give = append(l.give, sh.Lease)
	l.nextBeat = 0
	l.wanting = true
}

// gives says that the shard is ours only until the next heartbeat gives it back.
func (l *loop) gives(f *flow, sh engine.Lease) bool {
	return l.stopping || slices.ContainsFunc(l.give, func(g store.Lease) bool { return g.Ref == f.ref && g.Lo == sh.Lo && g.Token == sh.Token })
}

// plan decides which shards to take and to give.
func (l *loop) plan(f *flow, s *store.SubscriptionState, relays []store.RelayState) {
	reshape := s.Wanted != len(s.Shards)
	gather := reshape || f.exactly != nil // a lane has all shards
	live, held := able(relays, f.ref), holdings(s)
	take, give, expect := engine.Share(l.id, live, f.ref.String(), held, gather)
	l.expecting = l.expecting || expect
	for _, lo := range take {
		for i := range s.Shards {
			if s.Shards[i].Lo == lo {
				l.take = append(l.take, s.Shards[i].Shard)
			}
		}
	}
	if len(take) > 0 {
		l.wanting = true
		l.nextBeat = min(l.nextBeat, l.now()+takePause)
	}
	f.owner.Give(give, func(lo int) { l.giveBack(f, s, lo) })
	all := true
	for i := range s.Shards {
		all = all && s.Shards[i].Owner == l.id
	}
	f.gathering = reshape && all && len(give) == 0 && l.now() >= f.reshapeAfter
	f.core.Quiesce(f.gathering)
}

// giveBack hands a shard over: at once if the flow never had it.
func (l *loop) giveBack(f *flow, s *store.SubscriptionState, lo int) {
	if x := f.exactly; x != nil && !x.Leave() {
		for i := range s.Shards {
			if sh := &s.Shards[i]; sh.Lo == lo && !l.gives(f, leaseOf(sh)) {
				l.give = append(l.give, sh.Lease)
				l.nextBeat = 0
			}
		}
		return
	}
	f.core.Leave(lo)
}

// While another relay has shards to give, they are looked for as often as this,
// and for so long: they have no owner in between.
const (
	expectPause = 20 * time.Millisecond
	expectFor   = 2 * time.Second
)

// lookPause is the longest pause between two looks at the store's epoch.
func (l *loop) lookPause() time.Duration {
	if l.expecting && l.now() < l.expectUntil {
		return expectPause
	}
	return l.pollMax()
}

// takePause keeps relays that want the same shards from beating in a spin.
const takePause = 2 * time.Millisecond

// able lists the live relays that can work ref.
func able(relays []store.RelayState, ref store.Ref) []string {
	var out []string
	for i := range relays {
		if slices.Contains(relays[i].Works, ref) {
			out = append(out, relays[i].ID)
		}
	}
	return out
}

func holdings(s *store.SubscriptionState) []engine.Holding {
	out := make([]engine.Holding, len(s.Shards))
	for i := range s.Shards {
		sh := &s.Shards[i]
		out[i] = engine.Holding{Lo: sh.Lo, Hi: sh.Hi, Owner: sh.Owner}
	}
	return out
}

package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// ownership is the relay's identity and what it knows of who owns what, see
// relay's owning.
type ownership struct {
	id          string
	fresh       bool
	former      []string // ids that are given up
	beating     bool
	nextBeat    time.Duration
	epoch       int64
	life        int64 // of the database, see store.TurnResult
	others      int
	take        [][2]int
	give        []engine.Lease
	reshape     []engine.Lease
	expecting   bool
	expectUntil time.Duration
	left        bool
	dying       bool
	shares      shares
}

func (r *relay) pollMax() time.Duration {
	if r.others > 1 {
		return 500 * time.Millisecond
	}
	return time.Second
}

func (r *relay) lookPause() time.Duration {
	if r.expecting && r.now() < r.expectUntil {
		return expectPause
	}
	return r.pollMax()
}

// handOver collects shards that are ready to be given back, and says goodbye
// when there are none left.
func (r *relay) handOver() {
	for _, l := range r.flow.Left() {
		r.give = append(r.give, l)
		r.nextBeat = 0
		r.worked++
	}
	r.gathered()
	if r.stopping && !r.left && r.allLeft() {
		r.left = r.fresh
		r.nextBeat = 0
	}
	if r.dying && !r.turning && r.repeat == nil && !r.flow.Urgent() {
		r.restart()
	}
}

func (r *relay) gathered() {
	if !r.gathering || r.owner.Loading() || len(r.reshape) > 0 || r.beating || !r.flow.Quiet() {
		return
	}
	r.reshape = r.flow.Leases()
	r.nextBeat = 0
}

func (r *relay) allLeft() bool {
	return len(r.flow.Leases()) == 0 && !r.owner.Loading() && !r.turning && r.repeat == nil
}

func (r *relay) canBeat() bool { return !r.beating && !r.checking && !r.dying && !r.left }

// beat renews the heartbeat when it is time, and changes who owns what.
func (r *relay) beat(now time.Duration) {
	if !r.canBeat() || now < r.nextBeat || now < r.retryAt {
		return
	}
	if r.doubted() {
		r.recheck()
		return
	}
	w := r.w
	c := w.rooms.beats.take()
	c.beatCall = beatCall{relay: r.id, fresh: r.fresh, ttl: w.plan.ttl, give: r.give, take: r.take, reshape: r.reshape}
	b := &c.beatCall
	if r.stopping {
		b.take, b.reshape = nil, nil
		b.leave = r.allLeft()
	}
	r.owner.Asks(r.flow.Leases())
	for _, slots := range b.take {
		r.owner.Claim(slots[0])
	}
	r.beating = true
	r.worked++
	w.beats++
	r.nextBeat = now + w.plan.ttl/3
	c.sent, c.gave, c.generation = now, len(r.give), r.generation
	c.former = slices.Clone(r.former)
	c.seen = outlook{relays: c.seen.relays[:0], shards: c.seen.shards[:0]}
	r.ask(&c.asking, c, min(storeTimeout, w.plan.ttl))
}

// beating is a heartbeat under way.
type beating struct {
	asking
	beatCall

	sent       time.Duration
	gave       int // shards
	former     []string
	generation int
	seen       outlook
}

func (c *beating) act() error {
	if err := c.r.adopt(); err != nil {
		return err
	}
	s := c.r.w.server
	for _, id := range c.former {
		var gone outlook
		s.beat(c.r, &beatCall{relay: id, leave: true, ttl: c.ttl}, &gone)
	}
	s.beat(c.r, &c.beatCall, &c.seen)
	c.seen.epoch = s.epoch
	return nil
}

func (c *beating) answered(err error) {
	r, b := c.r, &c.beatCall
	if c.generation != r.generation {
		return // another identity's, which may have a heartbeat of its own out
	}
	r.beating = false
	r.w.tell(eventBeat, r.number, bit(c.seen.alive), c.seen.epoch)
	if err != nil {
		r.beatFailed(err)
		return
	}
	r.give = append([]engine.Lease(nil), r.give[c.gave:]...)
	r.take, r.reshape, r.fresh, r.former = nil, nil, false, r.former[len(c.former):]
	r.left = b.leave
	if !b.leave {
		r.saw(c.sent, b, &c.seen)
	}
}

func (c *beating) over() { c.r.w.rooms.beats.give(c) }

func (r *relay) beatFailed(err error) {
	if err == errMoved { //nolint:errorlint // never wrapped
		r.restart()
		r.storeMoved(askBeat)
		return
	}
	r.nextBeat = 0
	r.storeFailed(askBeat, err)
}

// saw takes what a heartbeat saw. sent is when it was sent.
func (r *relay) saw(sent time.Duration, b *beatCall, v *outlook) {
	if !v.alive { // others may own our shards by now
		r.dying = true
		r.flow.Expire(0)
		r.flow.Hurry()
		return
	}
	r.storeWorks(askBeat)
	r.epoch, r.others = v.epoch, len(v.relays)
	expected := r.expecting
	r.expecting = false
	r.flow.Expire(sent + r.w.plan.ttl*4/5)
	r.flow.PollMax(r.pollMax())
	r.sawShards(v, b)
	now := r.now()
	if r.expecting && !expected {
		r.expectUntil = now + expectFor
	}
	r.nextLook = min(r.nextLook, now+r.lookPause())
	for _, o := range v.relays {
		if o.id != r.id { // look again just when another one's time is out
			r.nextBeat = min(r.nextBeat, now+max(o.expires+50*time.Millisecond, 50*time.Millisecond))
		}
	}
}

// sawShards brings the flow's shards in line with the view, and plans its share.
func (r *relay) sawShards(v *outlook, b *beatCall) {
	r.wanted = v.wanted
	r.flow.Pause(v.paused)
	if len(b.reshape) > 0 && len(v.shards) == v.wanted {
		r.flow.Reset()
		r.flow.Quiesce(false)
		r.gathering = false
		r.exactly.Reshaped() // the lane is the same
		r.let(0, 4096)
		for i := range v.shards {
			r.owner.Claim(v.shards[i].lo)
		}
	}
	r.seen = r.seen[:0]
	for i := range v.shards {
		r.seen = append(r.seen, engine.Seen{Lease: v.shards[i].lease(), Owner: v.shards[i].owner})
	}
	sight := r.owner.Look(r.id, r.seen, r.flow.Leases(), r.gives)
	for _, l := range sight.Lost {
		r.lost(l)
		r.nextBeat = 0
	}
	for _, i := range sight.Disowned {
		r.give = append(r.give, v.shards[i].lease())
		r.nextBeat = 0
	}
	var gained []shard
	for _, i := range sight.Gained {
		gained = append(gained, v.shards[i])
	}
	if r.w.plan.cfg.Transactions {
		r.gain(v, gained)
	} else {
		r.load(gained)
	}
	for _, l := range sight.Old {
		r.lost(l)
	}
	if !r.stopping {
		r.share(v)
	}
}

func (r *relay) lost(l engine.Lease) {
	r.w.tell(eventLost, r.number, int64(l.Lo), 0)
	r.flow.Lost(l.Lo)
	r.let(l.Lo, l.Hi)
}

// gives says that the shard is ours only until the next heartbeat gives it back.
func (r *relay) gives(sh engine.Lease) bool {
	return r.stopping || slices.ContainsFunc(r.give, func(l engine.Lease) bool { return l.Lo == sh.Lo && l.Token == sh.Token })
}

// share decides which shards to take and to give.
func (r *relay) share(v *outlook) {
	reshape := v.wanted != len(v.shards)
	gather := reshape || r.w.plan.cfg.Transactions // a lane has all shards
	all := true
	for i := range v.shards {
		all = all && v.shards[i].owner == r.id
	}
	r.shares.plan(r.id, v, gather)
	take, give := r.shares.take, r.shares.give
	r.expecting = r.expecting || r.shares.expect
	for _, lo := range take {
		for i := range v.shards {
			if v.shards[i].lo == lo {
				r.take = append(r.take, [2]int{lo, v.shards[i].hi})
			}
		}
	}
	if len(take) > 0 {
		r.nextBeat = min(r.nextBeat, r.now()+takePause)
	}
	r.owner.Give(give, func(lo int) { r.giveBack(v, lo) })
	r.gathering = reshape && all && len(give) == 0
	r.flow.Quiesce(r.gathering)
}

// giveBack hands a shard over: at once if the flow never had it.
func (r *relay) giveBack(v *outlook, lo int) {
	if !r.w.plan.cfg.Transactions || r.exactly.Leave() {
		r.flow.Leave(lo)
		return
	}
	for i := range v.shards {
		if sh := &v.shards[i]; sh.lo == lo && !r.gives(sh.lease()) {
			r.give = append(r.give, sh.lease())
			r.nextBeat = 0
		}
	}
}

// load fetches the blocked keys of shards that were just taken, then gives them to
// the flow.
func (r *relay) load(gained []shard) {
	if len(gained) == 0 {
		return
	}
	for i := range gained {
		r.owner.Load(gained[i].lease())
	}
	c := &loading{gained: gained, blocked: make([]blocks, len(gained)), generation: r.generation}
	r.ask(&c.asking, c, storeTimeout)
}

// loading fetches the blocked keys of shards.
type loading struct {
	asking

	gained     []shard
	blocked    []blocks
	generation int
}

func (c *loading) act() error {
	if err := c.r.adopt(); err != nil {
		return err
	}
	for i := range c.gained {
		c.blocked[i] = c.r.w.server.blocked(c.gained[i].lo, c.gained[i].hi)
	}
	return nil
}

func (c *loading) answered(err error) {
	if c.generation != c.r.generation {
		return
	}
	for i := range c.gained {
		c.r.loaded(&c.gained[i], c.blocked[i], err)
	}
}

func (c *loading) over() {}

// loaded gives a shard to the flow.
func (r *relay) loaded(sh *shard, blocked blocks, err error) {
	if !r.owner.Loaded(sh.lease()) {
		return
	}
	switch {
	case err != nil:
		r.storeFailed(askMore, err)
		r.nextBeat = 0
		return
	case r.dying:
		return
	}
	r.w.tell(eventTake, r.number, int64(sh.lo), sh.token)
	r.w.tookOver(sh)
	r.flow.Add(sh.lease(), sh.position, blocked.keys, blocked.held...)
	if leave := r.owner.Got(sh.lo); leave || r.stopping {
		r.flow.Leave(sh.lo)
	}
}

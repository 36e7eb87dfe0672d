package simulation

import (
	"slices"

	"github.com/postbag/postbag/internal/engine"
)

// shares is what was planned for a view. Most heartbeats see what the last one saw.
type shares struct {
	me     string
	live   []string
	sorted []string
	held   []engine.Holding
	gather bool

	take, give []int
	expect     bool
}

// plan plans for a view.
func (p *shares) plan(me string, v *outlook, gather bool) {
	if p.knows(me, v, gather) {
		return
	}
	p.me, p.live, p.held, p.gather = me, p.live[:0], p.held[:0], gather
	for i := range v.shards {
		p.held = append(p.held, engine.Holding{Lo: v.shards[i].lo, Hi: v.shards[i].hi, Owner: v.shards[i].owner})
	}
	for i := range v.relays {
		p.live = append(p.live, v.relays[i].id)
	}
	p.sorted = append(p.sorted[:0], p.live...)
	sorted := p.sorted
	slices.Sort(sorted)
	p.take, p.give, p.expect = engine.Share(me, sorted, "s", p.held, gather)
}

// knows says that the plan is for the same.
func (p *shares) knows(me string, v *outlook, gather bool) bool {
	return p.me == me && p.gather == gather &&
		slices.EqualFunc(p.live, v.relays, func(id string, o living) bool { return id == o.id }) &&
		slices.EqualFunc(p.held, v.shards, func(h engine.Holding, sh shard) bool { return h.Lo == sh.lo && h.Hi == sh.hi && h.Owner == sh.owner })
}

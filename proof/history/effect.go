package history

import "fmt"

func (g *group) apply(e *Effect) {
	if g.j.mine(e.Subscription) {
		g.effects = append(g.effects, *e)
	}
}

// applied judges the effects of the message. It returns how it stands among the effects of its key, if it does.
func (g *group) applied() (p placed, ordered bool) {
	if len(g.effects) == 0 {
		g.unapplied()
		return p, false
	}
	j, m := g.j, &g.message
	j.saw(Applied)
	c := &j.counts[Applied]
	c[effected] += len(g.effects)
	if n := len(g.effects); n > 1 {
		c[beyond] += n - 1
		g.misapplied(fmt.Sprintf("applied %d times", n))
	}
	switch {
	case !g.intended:
		g.misapplied("applied, and never published")
		return p, false
	case m.Fate == RolledBack:
		g.misapplied("applied, and its transaction rolled back")
		return p, false
	case g.cancelled():
		g.misapplied("applied, and it was cancelled")
	}
	first := &g.effects[0]
	for i := range g.effects {
		e := &g.effects[i]
		if g.compare(e); e.Position < first.Position {
			first = e
		}
	}
	o := &j.o
	p = placed{Message: *m, of: Applied, stand: there, first: Delivery{ID: g.id, Key: first.Key, Position: first.Position, From: first.At}}
	p.Payload = Hash{} // the order has no need of it
	ordered = o.Effects == OnceInOrder && m.Key != "" && m.Due == 0 && g.removals == 0
	return p, ordered && (!o.Skip || !m.Poison && !g.held && g.refusals == 0)
}

// unapplied judges a message that has no effect. What was delivered has been committed, whatever its producer knows.
func (g *group) unapplied() {
	j, m := g.j, &g.message
	if !g.intended || j.o.Effects == NoEffects || m.Fate == Unknown && g.deliveries == 0 {
		return
	}
	if m.Fate == RolledBack {
		j.saw(Applied)
		return
	}
	if j.saw(Applied); g.removals > 0 || g.held || g.mayPend() {
		j.counts[Applied][unneeded]++
		return
	}
	if m.Fate == Unknown {
		g.misapplied("delivered and not applied")
		return
	}
	g.misapplied("committed and not applied")
}

// compare compares an effect with what was published.
func (g *group) compare(e *Effect) {
	j, m := g.j, &g.message
	if j.saw(Bytes); m.Payload == (Hash{}) || e.Payload == (Hash{}) {
		j.counts[Bytes][unrecorded]++
	} else if m.Payload != e.Payload {
		g.changed("what was applied is not the payload that was published", e)
	}
	if m.Key != e.Key {
		g.changed("the key of the effect is not what was published", e)
	}
}

func (g *group) changed(why string, e *Effect) {
	if x := g.j.breach(Bytes); x != nil {
		x.Why, x.Messages, x.Effects = why, g.messages(), []Effect{*e}
	}
}

func (g *group) misapplied(why string) {
	if x := g.j.breach(Applied); x != nil {
		x.Why, x.Messages = why, g.messages()
		x.Effects = append(x.Effects, g.effects[:min(len(g.effects), mostEffects)]...)
	}
}

// mostEffects is how many effects of a message are shown.
const mostEffects = 4

// effect is the one that a message stands by among those of its key.
func (m *placed) effect() Effect {
	return Effect{ID: m.first.ID, Key: m.first.Key, Position: m.first.Position, At: m.first.From}
}

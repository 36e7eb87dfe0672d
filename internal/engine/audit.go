package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// Held counts everything that a flow keeps of messages, keys and rows. It is zero
// when nothing is in hand and nothing is parked.
func (f *Flow) Held() int {
	n := len(f.hand) + len(f.calls) + f.out + f.unsent + f.window.held + f.lot.held + f.topics.held + len(f.topics.list)
	for _, q := range []interface{ empty() bool }{&f.again, &f.retry, &f.suspects, &f.ready, &f.unreadable, &f.topics.barred} {
		if !q.empty() {
			n++
		}
	}
	for _, s := range f.shards {
		n += s.chains.len() + len(s.changing) + len(s.commanded) + len(s.foreign) + len(s.toDiscard) + len(s.waiting)
	}
	for _, l := range f.groups {
		l.each(func(*entry) { n++ })
	}
	return n
}

// PauseEnds returns when an open circuit is to be checked.
func (f *Flow) PauseEnds() time.Duration { return f.circuit.until }

// Groups returns how many groups there are.
func (f *Flow) Groups() int { return len(f.groups) }

// Audit recounts what the flow keeps count of, and returns the first difference.
func (f *Flow) Audit() error {
	if f.stray != nil {
		return f.stray
	}
	a := audit{f: f}
	a.windows()
	a.lot()
	a.inCalls()
	if a.out != f.out {
		return fmt.Errorf("out is %d, counted %d", f.out, a.out)
	}
	if a.unsent != f.unsent {
		return fmt.Errorf("unsent is %d, counted %d", f.unsent, a.unsent)
	}
	if a.rows != f.rows {
		return fmt.Errorf("the windows have %d rows, counted %d", f.rows, a.rows)
	}
	if a.window != f.window.held || a.lotBytes != f.lot.held {
		return fmt.Errorf("%d and %d bytes are in hand of windows and parked messages, counted %d and %d", f.window.held, f.lot.held, a.window, a.lotBytes)
	}
	for _, s := range f.shards {
		s.chains.each(func(c *chain) {
			if err := a.chain(s, c); err != nil {
				a.failf("chain %d of shard %d: %w", c.key, s.lo, err)
			}
		})
	}
	a.topics()
	if l := f.rate; l != nil && (l.messages.level > l.messages.burst || l.bytes.level > l.bytes.burst) {
		a.failf("%v messages and %v bytes may be sent, more than a burst", l.messages.level, l.bytes.level)
	}
	return a.err
}

type audit struct {
	f                   *Flow
	out, unsent, rows   int
	window, lotBytes    int
	lent                map[*entry]struct{} // resolved, and still in a call
	chainOut, unsettled map[*chain]int
	gates               map[*chain]int
	err                 error
}

// one adds one for a chain to counts, which are made for the first.
func one(counts *map[*chain]int, c *chain) {
	if *counts == nil {
		*counts = map[*chain]int{}
	}
	(*counts)[c]++
}

func (a *audit) failf(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}

func (a *audit) windows() {
	for _, l := range a.f.groups {
		for _, p := range l.pages {
			a.rows += len(p.entries)
		}
		for _, p := range l.arrived {
			a.rows += len(p.entries)
			a.unsent += len(p.entries)
			for i := range p.entries {
				a.window += p.entries[i].size
			}
		}
		l.each(func(e *entry) {
			if !e.resolved() {
				a.window += e.size
			}
			if e.counted() && !e.drafted() {
				a.out++
			}
			if e.waits() {
				a.unsent++
			}
			if e.park != nil && e.resolved() && !e.drafted() {
				a.row(e.shard, e.park)
			}
		})
	}
}

func (a *audit) lot() {
	for seq, e := range a.f.hand {
		a.lotBytes += e.size
		if e.counted() {
			a.out++
		}
		if e.state > sent || e.Seq != seq || !e.parked {
			a.failf("message %d in hand has state %d", seq, e.state)
		}
	}
	for _, s := range a.f.shards {
		a.out += s.draft.sent + s.turnSent
		count := func(parks []store.Park) {
			for i := range parks {
				a.row(s, &parks[i])
			}
		}
		count(s.draft.park)
		if s.turn != nil {
			count(s.turn.Park)
		}
	}
}

// row counts a row that no verdict has confirmed.
func (a *audit) row(s *shard, p *store.Park) {
	if p.Blocking {
		one(&a.unsettled, a.f.chainFor(s, p.Hash))
	}
	if a.f.gates(p) {
		one(&a.gates, a.f.chainFor(s, p.Hash))
	}
}

func (a *audit) inCalls() {
	for _, c := range a.f.calls {
		for _, e := range c.borrowed() {
			a.lends(e)
		}
		for _, e := range c.entries {
			if e == nil || e.shard.lost {
				continue
			}
			if e.state == slowDrafted {
				a.out++
			}
			if e.chain != nil {
				one(&a.chainOut, e.chain)
			}
			if e.state < sent {
				a.failf("message %d is in a call with state %d", e.Seq, e.state)
			}
		}
	}
}

// lends counts the bytes of a resolved message that a call still has.
func (a *audit) lends(e *entry) {
	if _, known := a.lent[e]; known || !e.resolved() {
		return
	}
	if a.lent == nil {
		a.lent = make(map[*entry]struct{})
	}
	a.lent[e] = struct{}{}
	if e.parked {
		a.lotBytes += e.size
	} else {
		a.window += e.size
	}
}

func (a *audit) chain(s *shard, c *chain) error {
	if s.chains.get(c.key) != c || c.shard != s {
		return fmt.Errorf("it is chain %d of another", c.key)
	}
	if err := a.counts(s, c); err != nil {
		return err
	}
	if c.head == nil && c.out == 0 && c.gate == 0 && !c.blocked() {
		return errors.New("nothing is known of it, and it is kept")
	}
	before := int64(0)
	for e := c.head; e != nil; e = e.next {
		if e.chain != c {
			return fmt.Errorf("message %d is of another chain", e.Seq)
		}
		if e == c.head && e.queued() && c.out == 0 && !c.shut(e) {
			return fmt.Errorf("message %d could be sent and is not ready", e.Seq)
		}
		if !e.parked && e.state < sent && c.blocked() && c.out == 0 {
			return fmt.Errorf("message %d is live, and the chain is blocked", e.Seq)
		}
		if e != c.head && e.ready() {
			return fmt.Errorf("message %d is ready behind another", e.Seq)
		}
		if e.parked && e.Seq <= before && a.f.cfg.OnReject == Block && a.f.cfg.Order == ByKey && !c.strict {
			return fmt.Errorf("message %d stands behind %d", e.Seq, before)
		}
		if e.parked {
			before = e.Seq
		}
	}
	return nil
}

// counts recounts what a chain counts.
func (a *audit) counts(s *shard, c *chain) error {
	if c.out != a.chainOut[c] {
		return fmt.Errorf("out is %d, counted %d", c.out, a.chainOut[c])
	}
	if s.leaving == nil && c.unsettled != a.unsettled[c] {
		return fmt.Errorf("unsettled is %d, counted %d", c.unsettled, a.unsettled[c])
	}
	if s.leaving == nil && c.gate != a.gates[c] {
		return fmt.Errorf("gate is %d, counted %d", c.gate, a.gates[c])
	}
	return nil
}

// topics recounts what is held.
func (a *audit) topics() {
	f := a.f
	total := 0
	for i, t := range f.topics.list {
		n := 0
		for _, s := range f.shards {
			n += s.held[t]
		}
		total += n
		if t.held != n || t.at != i || f.topics.byName[t.name] != t {
			a.failf("topic %d holds %d, counted %d", i, t.held, n)
		}
	}
	if total != f.topics.held || len(f.topics.byName) != len(f.topics.list) {
		a.failf("%d messages of %d topics are held, counted %d", f.topics.held, len(f.topics.byName), total)
	}
	for _, q := range []interface{ each(func(*entry)) }{&f.again, &f.retry, &f.suspects, &f.ready} {
		q.each(func(e *entry) {
			if e.ready() && f.isBarred(e) && (f.pausing.of(e.Record) != "" || !f.topics.byName[e.Topic].unswept) && !slices.Contains(f.topics.barred.items, e) {
				a.failf("message %d can be sent, and its topic does not work", e.Seq)
			}
		})
	}
}

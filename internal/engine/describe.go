package engine

import (
	"fmt"
	"strings"
)

// Describe says what a flow holds, for the message of a test that fails.
func (f *Flow) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "again %d, retry %d, ready %d, hand %d, calls %d, out %d, unsent %d, rows %d, due %+v, turn out %v",
		len(f.again.items), len(f.retry.items)+len(f.suspects.items), len(f.ready.items)+len(f.ready.waited.items)+len(f.ready.late), len(f.hand), len(f.calls), f.out, f.unsent, f.rows, f.due, f.round.out)
	for _, l := range f.groups {
		fmt.Fprintf(&b, "\n  group at %q of %q, mark %q: whole %v near %v free %v stray %v started %v reading %v dry %v, polls at %v, %d pages, %d arrived",
			l.read, l.base, l.mark, l.whole, l.near, l.free, l.stray, l.started, l.reading, l.dry, l.nextPoll, len(l.pages), len(l.arrived))
		for _, s := range l.shards {
			fmt.Fprintf(&b, "\n    shard %d at %q, draft %+v, in turn %v, changing %v, leaving %+v", s.lo, s.settled, s.draft, s.turn != nil, s.changing, s.leaving)
			for hash, w := range s.waiting {
				fmt.Fprintf(&b, "\n      of key %d waits %+v", hash, *w)
			}
			s.chains.each(func(c *chain) {
				fmt.Fprintf(&b, "\n      chain %d: out %d, stored %v, unsettled %d", c.key, c.out, c.stored, c.unsettled)
			})
		}
		l.each(func(e *entry) {
			fmt.Fprintf(&b, "\n    message %d of key %d: %v", e.Seq, e.Hash, e.state)
		})
	}
	return b.String()
}

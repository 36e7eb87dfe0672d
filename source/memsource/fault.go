package memsource

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/source"
)

// SetDown makes the broker unreachable, or brings it back. While it is down every call
// returns source.ErrUnavailable, also a Fetch that waits. What is at work stays so.
func (b *Broker) SetDown(down bool) {
	b.fault(down, fmt.Errorf("memsource: the broker is down; bring it up with SetDown(false): %w", source.ErrUnavailable))
}

// Misconfigure makes every call return source.ErrMisconfigured, or ends that.
func (b *Broker) Misconfigure(wrong bool) {
	b.fault(wrong, fmt.Errorf("memsource: the group has no right to the topic; end that with Misconfigure(false): %w", source.ErrMisconfigured))
}

func (b *Broker) fault(on bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = nil
	if on {
		b.down = err
	}
	b.wake()
}

// LoseAcks loses acks from now on, or ends that. Ack returns as if nothing were wrong. What
// it was for comes again when the assignment or the connection ends. Close then returns an
// error.
func (b *Broker) LoseAcks(lose bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.losing = lose
}

// Rebalance ends every assignment of a group, and gives each partition to the next member,
// or to the same one if there is no other. Without an order it does nothing.
func (b *Broker) Rebalance(group string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.groups[group]
	if g == nil || !g.ordered() || len(g.members) == 0 {
		return
	}
	g.turn++
	for i, p := range g.parts {
		g.give(p, g.members[(i+g.turn)%len(g.members)])
	}
	b.wake()
}

// Move gives one partition to s, until the next rebalance. The first is zero. It ends the
// assignment also if s has the partition already. It says whether it did: s is a member, the
// partition exists, and there is an order.
func (b *Broker) Move(partition int, to *Source) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !to.member || !to.g.ordered() || partition < 0 || partition >= len(to.g.parts) {
		return false
	}
	to.g.give(to.g.parts[partition], to)
	b.wake()
	return true
}

// Cut ends the connection of s. What was at work there comes again. The source connects
// again by itself, and its next Fetch says what was lost.
func (s *Source) Cut() {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.member {
		s.g.disconnect(s)
	}
}

// Expel takes s for dead: its partitions and messages go to others. It does not know that,
// until it fetches: then it joins again.
func (s *Source) Expel() {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.g.leave(s)
}

// Crash ends s as its process would if it were killed: a Fetch that waits ends, acks that
// were lost stay so, and what was at work goes to others.
func (s *Source) Crash() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.life.Close(over, func(context.Context) error { // nobody is there to hear an error
		s.Expel()
		return nil
	})
}

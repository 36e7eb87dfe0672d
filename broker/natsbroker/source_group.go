package natsbroker

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// assignment is that of a source with an order. The server pins one member of the
// group, which gets all messages. It then sets the consumer back to its ack floor: nothing
// is at work then, and the messages behind it come in sequence, with consumer sequences
// from one up. The assignment lasts while both sequences grow as they must. Design record
// 072 says why. Source.mu guards it.
type assignment struct {
	pin    string // what the server calls this member while it is pinned; empty: it is not
	active bool
	next   uint64    // the consumer sequence that must come next
	last   uint64    // the stream sequence of the last message
	hold   time.Time // no assignment begins before
	begun  time.Time // when the last one began
}

// admits says whether a message is the next of the assignment. Without an order each is.
func (t *assignment) admits(a arrived, ordered bool) bool {
	return !ordered ||
		pinOf(a.msg) == t.pin && a.meta.Sequence.Consumer == t.next && a.meta.Sequence.Stream > t.last
}

// took notes that a message was handed out.
func (t *assignment) took(a arrived) {
	t.next, t.last = a.meta.Sequence.Consumer+1, a.meta.Sequence.Stream
}

const (
	// headerPin is what the server adds to each message for the member that it pinned,
	// behind the headers that the message has.
	headerPin = "Nats-Pin-Id"
	// assignmentPause is between two assignments that begin for no reason of ours.
	assignmentPause = 100 * time.Millisecond
)

// pinOf is the pin that a message was sent with. The sender of the message can have set a
// header of this name, which comes first.
func pinOf(m *nats.Msg) string {
	values := m.Header[headerPin]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// takeAssignment begins an assignment, or does one step towards that: ready says which.
func (s *Source) takeAssignment(ctx context.Context) (ready bool, err error) {
	s.mu.Lock()
	active, pin, hold := s.assignment.active, s.assignment.pin, s.assignment.hold
	if again := s.assignment.begun.Add(assignmentPause); hold.Before(again) {
		hold = again
	}
	s.mu.Unlock()
	switch wait := time.Until(hold); {
	case active:
		return true, nil
	case pin == "":
		return false, s.standBy(ctx)
	case wait > 0:
		s.keepPinNowAndThen()
		return false, s.pause(ctx, min(wait, s.tick()))
	}
	return s.beginAssignment(ctx)
}

// pinned says whether the server still has this member pinned.
func (s *Source) pinned(ctx context.Context, doing string) (bool, error) {
	s.mu.Lock()
	pin := s.assignment.pin
	s.mu.Unlock()
	is := false
	err := s.ask(ctx, doing, func(ctx context.Context) error {
		c, err := s.js.Consumer(ctx, s.options.Stream, s.options.Consumer)
		if err == nil {
			is = slices.ContainsFunc(c.CachedInfo().PriorityGroups, func(g jetstream.PriorityGroupState) bool { return g.PinnedClientID == pin })
		}
		return err
	})
	return is, err
}

// standBy waits until the server pins this member, which it does with a message.
func (s *Source) standBy(ctx context.Context) error {
	if first, there := s.pulls.first(); there {
		s.pulls.skip() // it comes again when the assignment begins
		s.mu.Lock()
		s.assignment.pin = pinOf(first.msg)
		s.mu.Unlock()
		return nil
	}
	if ok, err := s.conclude(ctx); err != nil || !ok {
		return err
	}
	if !s.pulls.state(time.Now()).open {
		if err := s.request(pullRequest{Batch: 1, Expires: pullExpires, Heartbeat: pullHeartbeat, Group: priorityGroup}); err != nil {
			return err
		}
	}
	return s.wait(ctx)
}

// beginAssignment sets the consumer back to its ack floor, and begins the assignment there.
func (s *Source) beginAssignment(ctx context.Context) (ready bool, err error) {
	const doing = "begin again in"
	s.pulls.drop() // or what comes of older requests would be missing behind the ack floor
	switch is, err := s.pinned(ctx, doing); {
	case err != nil:
		s.attached = false
		return false, err
	case !is:
		s.unpinned()
		return false, nil
	}
	err = s.ask(ctx, doing, func(ctx context.Context) error {
		_, err := s.js.ResetConsumer(ctx, s.options.Stream, s.options.Consumer)
		if errors.Is(err, nats.ErrNoResponders) && !knowsReset(s.nc.ConnectedServerVersion()) {
			return s.misconfigured(doing, "the server cannot set a consumer back", "use NATS 2.14 or newer, or source.OrderNone")
		}
		return err
	})
	if err != nil {
		s.attached = false
		return false, err
	}
	if err := s.pulls.renew(); err != nil {
		return false, s.translate(doing, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.assignment.active, s.assignment.next, s.assignment.last, s.assignment.begun = true, 1, 0, time.Now()
	return true, nil
}

// keepPinNowAndThen is keepPin, as often as the pin needs it.
func (s *Source) keepPinNowAndThen() {
	if time.Since(s.kept) > min(s.limits.AckWait, s.limits.PinnedTTL)/4 {
		s.kept = time.Now()
		s.keepPin()
	}
}

// keepPin says that this member is still there, if it is pinned. The server gives the
// pin to another member if it hears nothing for the ack wait.
func (s *Source) keepPin() {
	s.mu.Lock()
	pin := s.assignment.pin
	s.mu.Unlock()
	if pin != "" {
		_ = s.pulls.keepPin(s.nextSubject, pin) // the next one does as well
	}
}

// unpinned notes that the server has pinned another member.
func (s *Source) unpinned() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.assignment.pin = ""
	s.lose()
}

// tick is how often a Fetch that waits looks around.
func (s *Source) tick() time.Duration {
	if !s.ordered() {
		return time.Second
	}
	return min(time.Second, s.limits.AckWait/4, s.limits.PinnedTTL/4)
}

// leaveAssignment makes what was not acked available at once, and has the server pin another
// member.
func (s *Source) leaveAssignment(ctx context.Context) error {
	const doing = "close"
	s.pulls.drop()
	if is, err := s.pinned(ctx, doing); err != nil || !is {
		return err
	}
	return s.ask(ctx, doing, func(ctx context.Context) error {
		stream, err := s.js.Stream(ctx, s.options.Stream)
		if err != nil {
			return err
		}
		if _, err := stream.ResetConsumer(ctx, s.options.Consumer); err != nil {
			return err
		}
		return stream.UnpinConsumer(ctx, s.options.Consumer, priorityGroup)
	})
}

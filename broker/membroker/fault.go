package membroker

import (
	"slices"

	"github.com/postbag/postbag/broker"
)

// SetDown makes the broker unreachable, or brings it back: while it is down every
// message is Unavailable and nothing is stored.
func (d *Destination) SetDown(down bool) {
	d.state.locked(func() { d.state.down = down })
}

// SetMute loses the answers of what is stored from now on, or ends that. A lost
// answer stays lost: its message is Unknown when its context ends.
func (d *Destination) SetMute(mute bool) {
	d.state.locked(func() { d.state.mute = mute })
}

// AddTopic makes a topic exist, where Options.Topics names those that do.
func (d *Destination) AddTopic(topic string) {
	d.state.locked(func() {
		if !slices.Contains(d.state.topics, topic) {
			d.state.topics = append(d.state.topics, topic)
		}
	})
}

// FailTopic makes messages of a topic fail with this outcome, Misconfigured or
// Unavailable, and nothing of other topics, until RestoreTopic.
func (d *Destination) FailTopic(topic string, outcome broker.Outcome) {
	d.state.locked(func() { d.state.failing[topic] = outcome })
}

// RestoreTopic ends what FailTopic began.
func (d *Destination) RestoreTopic(topic string) {
	d.state.locked(func() { delete(d.state.failing, topic) })
}

// Hold keeps back every message sent from now on, before it is stored, unless
// Options.Decide gives it a Hold of its own. The function returned, which may be
// called twice, lets all of them go, and ends the holding unless another Hold
// came since.
func (d *Destination) Hold() (release func()) {
	hold := make(chan struct{})
	d.state.locked(func() { d.state.hold = hold })
	return func() {
		d.state.locked(func() {
			if d.state.hold == hold {
				d.state.hold = nil
			}
			select {
			case <-hold:
			default:
				close(hold)
			}
		})
	}
}

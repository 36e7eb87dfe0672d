package brokertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

// Harness ties the suite to one kind of destination and its real broker. Its
// functions are called from several cases at once, unless Serial; what they open
// they also release, with t.Cleanup.
type Harness struct {
	// Open makes what one case needs. Required.
	Open func(t *testing.T) Fixture

	// Outage makes a fixture whose broker can be stopped. Off stops it, as an
	// operator or a crash would, and returns when it is down; On starts it with
	// the same address and what it had stored, and returns when it takes
	// connections again. The case calls Off first, and On before it ends.
	Outage func(t *testing.T) (Fixture, Switch)

	// Mute makes a fixture whose answers can be lost. After Off what the
	// destination sends still reaches the broker but no answer comes back; On
	// restores the way, after which the lost answers stay lost.
	Mute func(t *testing.T) (Fixture, Switch)

	// Misconfigured makes a fixture whose destination can never work until On
	// fixes it: its topic does not exist, or it has no right to it. Off is not
	// called and may be nil. On may be nil where nothing can be fixed.
	Misconfigured func(t *testing.T) (Fixture, Switch)

	// Topics makes a fixture with two topics: Fixture.Topic, which works, and Broken,
	// which cannot until On fixes it: it does not exist, there is no right to it, it is
	// full. Off is not called and may be nil. On may be nil where nothing can be fixed.
	// Stored is asked for Fixture.Topic alone.
	Topics func(t *testing.T) (f Fixture, broken string, fault Switch)

	// CutsOff: the broker ends the connection over a message that it refuses, so that
	// what is under way with it may stay unknown.
	CutsOff bool

	// Spoil turns a good message into one that the broker, or the destination,
	// must reject for what it is. Its key stays. Where it is nil and TooLarge is
	// given, a payload of that size serves.
	Spoil func(m *broker.Delivery)

	// TooLarge is a payload size, in bytes, that no fixture takes. Zero: there is
	// no limit that a test can reach.
	TooLarge int

	// Lacks says, for each part the harness leaves out, why it cannot be had:
	// Lacks[PartMute] = "a file has no answers to lose".
	Lacks map[Part]string

	// Features is what the destination is expected to declare. MaxBytes counts
	// only as zero or not zero.
	Features broker.Features

	// On names what the suite runs on, with its version, for the line that the
	// table of make test has for it: "NATS JetStream 2.15". Zero: no line.
	On string

	// Reserved are header names that mean something to the broker or the
	// transport, such as "Nats-Rollup" or "Content-Length". A message that
	// carries them must arrive with them and do no harm, or be rejected.
	Reserved []string

	// FoldsNames: the transport does not keep the case of header names. They are
	// then compared without it.
	FoldsNames bool

	// Nulls: the transport tells no payload at all from one of no bytes, and
	// Fixture.Wired reports which.
	Nulls bool

	// Secrets are texts, such as the password of the connection, that no error
	// may contain.
	Secrets []string

	// Patience bounds what should succeed: a call, a recovery after an outage.
	// Defaults to 20 s.
	Patience time.Duration

	// Serial runs one case after the other.
	Serial bool
}

// Fixture is a destination under test and the truth about it.
type Fixture struct {
	// Destination is new. The case closes it; the harness may close it again.
	Destination broker.Destination
	// Topic is where the case sends. No other case uses it.
	Topic string
	// Stored reads back what the broker holds for Topic, by another road than
	// Destination, each key's messages in the order the broker has them: of a
	// broker with transactions, what a reader of committed messages sees. It fails
	// the test when it cannot, and is not called while the broker is off.
	Stored func(t *testing.T) []Received
	// Wired reads back the same, as a consumer sees it that knows nothing of
	// Postbag: for what an encoder made (broker.Wire). Only the cases about that
	// call it, and they do not call Stored. Nil: Harness.Lacks says why.
	Wired func(t *testing.T) []Wired
}

// Switch works one fault. Both functions fail the test they were made for when
// they cannot do it.
type Switch struct {
	Off, On func()
}

// Part names what a harness may leave out with a reason.
type Part string

// The parts of a harness that Harness.Lacks can excuse.
const (
	PartOutage        Part = "outage"        // Harness.Outage
	PartMute          Part = "mute"          // Harness.Mute
	PartMisconfigured Part = "misconfigured" // Harness.Misconfigured
	PartTopics        Part = "topics"        // Harness.Topics
	PartReject        Part = "reject"        // Harness.Spoil, and TooLarge in its place
	PartLimit         Part = "limit"         // Harness.TooLarge
	PartWire          Part = "wire"          // Fixture.Wired
)

func (h Harness) has(p Part) bool {
	switch p {
	case PartOutage:
		return h.Outage != nil
	case PartMute:
		return h.Mute != nil
	case PartMisconfigured:
		return h.Misconfigured != nil
	case PartTopics:
		return h.Topics != nil
	case PartReject:
		return h.Spoil != nil || h.TooLarge > 0
	case PartLimit:
		return h.TooLarge > 0
	case PartWire:
		return h.Lacks[PartWire] == "" // a fixture without it then fails
	}
	return true
}

// validate returns every fault of the harness, empty when it can be used.
func (h Harness) validate() []string {
	var faults []string
	if h.Open == nil {
		faults = append(faults, "Open is missing; give a function that opens a fixture")
	}
	for _, p := range []Part{PartOutage, PartMute, PartMisconfigured, PartTopics, PartReject, PartLimit} {
		if reason := h.Lacks[p]; !h.has(p) && reason == "" {
			faults = append(faults, fmt.Sprintf("%s is missing without a reason; provide it or say why not in Lacks", p))
		} else if h.has(p) && reason != "" {
			faults = append(faults, fmt.Sprintf("%s is provided and excused in Lacks; drop the excuse", p))
		}
	}
	return faults
}

func (h Harness) patience() time.Duration {
	if h.Patience > 0 {
		return h.Patience
	}
	return 20 * time.Second
}

// spoil makes m a message that must be rejected.
func (h Harness) spoil(m *broker.Delivery) {
	if h.Spoil != nil {
		h.Spoil(m)
		return
	}
	m.Payload = make([]byte, h.TooLarge)
}

package brokertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

// Harness connects the suite with one kind of destination and its real broker. Several
// cases call its functions at once, unless Serial is set. A function releases what it
// opens, with t.Cleanup.
type Harness struct {
	// Open makes what one case needs. Required.
	Open func(t *testing.T) Fixture

	// Outage makes a fixture whose broker can be stopped. Off stops it, as an operator
	// or a crash would, and returns when it is down. On starts it with the same address
	// and what it had stored, and returns when it takes connections again. The case
	// calls Off first, and On before it ends.
	Outage func(t *testing.T) (Fixture, Switch)

	// Mute makes a fixture whose answers can be lost. After Off the broker still gets
	// what the destination sends, but no answer comes back. On lets answers through
	// again. The lost ones stay lost.
	Mute func(t *testing.T) (Fixture, Switch)

	// Misconfigured makes a fixture whose destination can never work until On
	// fixes it: its topic does not exist, or it has no right to it. Off is not
	// called and may be nil. On may be nil where nothing can be fixed.
	Misconfigured func(t *testing.T) (Fixture, Switch)

	// MisconfiguredScope is what the fault of Misconfigured concerns. The zero value is
	// the destination, as for a login that is refused. A topic that does not exist is
	// broker.ScopeTopic.
	MisconfiguredScope broker.Scope

	// Topics makes a fixture with two topics. Fixture.Topic works. broken does not work
	// until On fixes it: it does not exist, there is no right to it, or it is full. Off
	// is not called and may be nil. On may be nil where nothing can be fixed. The suite
	// asks Stored for Fixture.Topic alone.
	Topics func(t *testing.T) (f Fixture, broken string, fault Switch)

	// CutsOff: the broker ends the connection because of a message that it refuses. So
	// other messages under way may stay unknown.
	CutsOff bool

	// Spoil turns a good message into one that the broker or the destination must
	// reject. It keeps the key. If it is nil and TooLarge is set, the suite uses a
	// payload of that size.
	Spoil func(m *broker.Delivery)

	// TooLarge is a payload size, in bytes, that no fixture takes. Zero: there is
	// no limit that a test can reach.
	TooLarge int

	// Lacks gives the reason for each part that the harness leaves out:
	// Lacks[PartMute] = "a file has no answers to lose".
	Lacks map[Part]string

	// Features is what the destination is expected to declare. Of MaxBytes the suite
	// only compares whether it is zero.
	Features broker.Features

	// On names what the suite runs on, with its version: "NATS JetStream 2.15". The
	// table of make test has a line for it. Zero: no line.
	On string

	// Reserved are header names that mean something to the broker or the
	// transport, such as "Nats-Rollup" or "Content-Length". A message that
	// carries them must arrive with them and do no harm, or be rejected.
	Reserved []string

	// FoldsNames: the transport does not keep the case of header names. The suite then
	// ignores their case.
	FoldsNames bool

	// Nulls: the transport distinguishes no payload from an empty one, and
	// Fixture.Wired reports which it was.
	Nulls bool

	// Secrets are texts, such as the password of the connection, that no error
	// may contain.
	Secrets []string

	// Patience is how long the suite waits for what should succeed: a call, a recovery
	// after an outage. Defaults to 20 s.
	Patience time.Duration

	// Serial runs one case after the other.
	Serial bool
}

// Fixture is a destination under test, with a way to read what the broker really holds.
type Fixture struct {
	// Destination is new. The case closes it; the harness may close it again.
	Destination broker.Destination
	// Topic is where the case sends. No other case uses it.
	Topic string
	// Stored reads back what the broker holds for Topic, without Destination. The
	// messages of a key come in the broker's own sequence. If the broker has
	// transactions, Stored returns what a reader of committed messages sees. It fails
	// the test when it cannot read. The suite does not call it while the broker is off.
	Stored func(t *testing.T) []Received
	// Wired reads back the same, as a consumer sees it that knows nothing of Postbag.
	// Only the cases about encoders (broker.Wire) call it, and they do not call Stored.
	// Nil: Harness.Lacks says why.
	Wired func(t *testing.T) []Wired
}

// Switch turns one fault on and off. If a function cannot do that, it fails the test that
// it was made for.
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

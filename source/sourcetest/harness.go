package sourcetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag/source"
)

// Harness connects the suite with one kind of source and its real broker. Several cases
// call its functions at once, unless Serial is set. A function releases what it opens, with
// t.Cleanup.
type Harness struct {
	// Open makes what one case needs. Required.
	Open func(t *testing.T) Fixture

	// Outage makes a fixture whose broker can be stopped. Off stops it, and returns when it
	// is down. On starts it with the same address and what it had stored.
	Outage func(t *testing.T) (Fixture, Switch)

	// Lacks gives the reason for each part that the harness leaves out:
	// Lacks[PartRebalance] = "a queue has no partitions".
	Lacks map[Part]string

	// Features is what the sources are expected to declare.
	Features source.Features

	// On names what the suite runs on, with its version: "NATS JetStream 2.15". The table
	// of make test has a line for it. Zero: no line.
	On string

	// NoKeys: the broker has no keys, and none is compared.
	NoKeys bool
	// NoRepeats: the broker has each name of a header once.
	NoRepeats bool
	// FoldsNames: the transport does not keep the case of header names.
	FoldsNames bool
	// Visible: headers hold visible ASCII only. The suite then sends no others.
	Visible bool
	// Nulls: the broker distinguishes no payload from an empty one.
	Nulls bool
	// NoTimes: messages have no Time.
	NoTimes bool

	// Secrets are texts, such as the password of the connection, that no error may
	// contain.
	Secrets []string

	// Patience is how long the suite waits for what should happen. Defaults to 20 s.
	Patience time.Duration
	// Quiet is how long the suite waits to see that nothing happens. Defaults to 300 ms.
	Quiet time.Duration

	// AckDelay is how long the suite waits until acks must have reached the broker by
	// themselves. Defaults to 1.5 s: the contract's second, and some.
	AckDelay time.Duration

	// Serial runs one case after the other.
	Serial bool
}

// Fixture is an empty topic, and a group that reads it. No other case uses them.
type Fixture struct {
	// Join makes a new member of the group. The first one makes the group, if it must be
	// made, so that it begins with the first message sent. The case closes it; the harness
	// may close it again. Required.
	Join func(t *testing.T) source.Source
	// Send stores messages at the broker, in this sequence for each key: their Key, Headers,
	// Payload and Null. It uses nothing else of them. It returns when they are stored.
	// Required.
	Send func(t *testing.T, msgs ...source.Message)
	// Kill ends a member as a crash of its process would: without a word to the broker. It
	// returns when the broker takes it for dead. Nil: Harness.Lacks says why.
	Kill func(t *testing.T, s source.Source)
	// Rebalance ends every assignment of the group and begins others, with the same
	// members. It may return before that is done. Nil: Harness.Lacks says why.
	Rebalance func(t *testing.T)
	// SendUndecodable stores a message that the client cannot decode. Nil: Harness.Lacks
	// says why.
	SendUndecodable func(t *testing.T)
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
	PartOutage      Part = "outage"      // Harness.Outage
	PartKill        Part = "kill"        // Fixture.Kill
	PartRebalance   Part = "rebalance"   // Fixture.Rebalance
	PartUndecodable Part = "undecodable" // Fixture.SendUndecodable
	// PartTogether is that two members of a group are connected at a time.
	PartTogether Part = "two members at a time"
	// PartGiveBack is that another member gets what a member gives back when it closes.
	PartGiveBack Part = "giving back to another member"
)

// has says whether the harness has a part. A fixture without one of its parts fails when it
// is opened, unless Lacks says why.
func (h Harness) has(p Part) bool {
	if p == PartOutage {
		return h.Outage != nil
	}
	return h.Lacks[p] == ""
}

// validate returns every fault of the harness, empty when it can be used.
func (h Harness) validate() []string {
	var faults []string
	if h.Open == nil {
		faults = append(faults, "Open is missing; give a function that opens a fixture")
	}
	if reason := h.Lacks[PartOutage]; h.Outage == nil && reason == "" {
		faults = append(faults, "outage is missing without a reason; provide it or say why not in Lacks")
	} else if h.Outage != nil && reason != "" {
		faults = append(faults, "outage is provided and excused in Lacks; drop the excuse")
	}
	return faults
}

// validate returns every fault of a fixture.
func (f Fixture) validate(h Harness) []string {
	var faults []string
	if f.Join == nil || f.Send == nil {
		faults = append(faults, "a fixture without Join or Send; give both")
	}
	for part, there := range map[Part]bool{PartKill: f.Kill != nil, PartRebalance: f.Rebalance != nil, PartUndecodable: f.SendUndecodable != nil} {
		if there != h.has(part) {
			faults = append(faults, fmt.Sprintf("a fixture has %s, or else Lacks says why not; keep to one of them", part))
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

func (h Harness) quiet() time.Duration {
	if h.Quiet > 0 {
		return h.Quiet
	}
	return 300 * time.Millisecond
}

// slack is how much later than its context a call may return on a busy machine.
func (h Harness) slack() time.Duration { return min(5*time.Second, h.patience()) }

// arrived returns when acks must have reached the broker.
func (h Harness) arrived() {
	delay := 1500 * time.Millisecond
	if h.AckDelay > 0 {
		delay = h.AckDelay
	}
	timer := time.NewTimer(delay)
	<-timer.C
}

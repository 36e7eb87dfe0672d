package mqttbroker

import (
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// failure is an error of this source: what it was doing, what failed, what to do.
func (s *Source) failure(class error, doing, what, fix string) error {
	return &sourcekit.Error{Text: fmt.Sprintf("%s: %s session %.64q, at %s: %s; %s", adapter, doing, s.options.Login.ClientID, s.where, what, fix), Class: class}
}

func (s *Source) unavailable(doing, what, fix string) error {
	return s.failure(source.ErrUnavailable, doing, what, fix)
}

func (s *Source) misconfigured(what, fix string) error {
	return s.failure(source.ErrMisconfigured, doingFetch, what, fix)
}

const (
	doingFetch = "fetch from"
	doingClose = "close the source of"

	fixWait = "wait, or look whether the broker runs"
)

// sourceWords are what a text of the destination says otherwise for a source, which must have a client id.
var sourceWords = strings.NewReplacer("an Options.", "a SourceOptions.", "Options.", "SourceOptions.", " of its own, or none", " of its own")

// connectionFailure gives a failure of a connection its class. Its text is the destination's, but
// for the name of the options.
func (s *Source) connectionFailure(f *broker.Error) error {
	text := strings.TrimPrefix(sourceWords.Replace(f.Error()), string(adapter)+": ")
	what, fix, _ := strings.Cut(text, "; ")
	if f.Outcome == broker.Misconfigured {
		return s.misconfigured(what, fix)
	}
	return s.unavailable(doingFetch, what, fix)
}

// takenOver is what is said while another client has the session.
func (s *Source) takenOver() error {
	return s.connectionFailure(errTakenOver(broker.Misconfigured, s.options.Login.ClientID))
}

// ended says why a broker ended a connection, by the reason code of its DISCONNECT.
func (s *Source) ended(code byte) error {
	return s.unavailable(doingFetch, fmt.Sprintf("the broker ended the connection (reason 0x%02x)", code), "wait, or look at the broker's log")
}

func (s *Source) lostConnection() error {
	return s.unavailable(doingFetch, "the connection was lost", fixWait)
}

// unsureAcks is what Close says if nobody knows whether the broker has all acks.
func (s *Source) unsureAcks() error {
	return s.unavailable(doingClose, "the connection was lost before it was sure that the broker has the acks", "expect messages that were acked to come again")
}

// lostSession says that messages are lost.
func (s *Source) lostSession() error {
	return s.unavailable(doingFetch, "the broker has the session no more, and began a new one: what was not acked is lost, and what came while the source was away",
		"look whether it was away for longer than SourceOptions.SessionExpiry, or whether the broker keeps sessions over a restart")
}

// shortSession says that the broker keeps the session for less than was asked.
func (s *Source) shortSession(kept time.Duration) error {
	return s.unavailable(doingFetch, fmt.Sprintf("the broker keeps the session for %v after the connection ends, and SourceOptions.SessionExpiry is %v", kept, s.options.SessionExpiry),
		"raise what the broker allows, or lower SessionExpiry")
}

// denials are the reason codes of SUBACK that are failures (section 3.9.3).
var denials = map[byte]verdict{
	0x80: {broker.Unavailable, "unspecified error", "look at the broker's log"},
	0x83: {broker.Unavailable, "implementation specific error", "look at the broker's log"},
	0x87: {broker.Misconfigured, "not authorized", "grant the user the right to subscribe to it"},
	0x8f: {broker.Misconfigured, "topic filter invalid", "use a filter that the broker allows"},
	0x91: {broker.Unavailable, "packet identifier in use", "wait"},
	0x97: {broker.Unavailable, "quota exceeded", "wait, or raise the quota"},
	0x9e: {broker.Misconfigured, "shared subscriptions not supported", "unset SourceOptions.Group, or use another broker"},
	0xa1: {broker.Misconfigured, "subscription identifiers not supported", "use another broker"},
	0xa2: {broker.Misconfigured, "wildcard subscriptions not supported", "use filters without + and #"},
}

// denied says what an answer to a subscription means: nil if it is granted.
func (s *Source) denied(filter string, code byte) error {
	switch {
	case code == 0:
		return s.misconfigured(fmt.Sprintf("the broker grants the filter %.64q with QoS 0 only, with which messages are lost", filter), "raise the QoS that the broker allows")
	case code < firstCodeOfFailure:
		return nil
	}
	v, ok := denials[code]
	if !ok {
		v = verdict{broker.Misconfigured, "a reason unknown to MQTT 5", "look at the broker's log"}
	}
	what := fmt.Sprintf("the broker refuses the filter %.64q (reason 0x%02x: %s)", filter, code, v.what)
	if v.outcome == broker.Misconfigured {
		return s.misconfigured(what, v.fix)
	}
	return s.unavailable(doingFetch, what, v.fix)
}

// where says where brokers are, without user and password.
func where(addresses []address) string {
	var all []string
	for _, a := range addresses[:min(len(addresses), 3)] {
		all = append(all, a.host)
	}
	return strings.Join(all, ",")
}

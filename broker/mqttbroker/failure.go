package mqttbroker

import (
	"fmt"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// adapter is how errors begin.
const adapter = brokerkit.Adapter("mqttbroker")

// verdict is what a reason code means.
type verdict struct {
	outcome   broker.Outcome
	what, fix string
}

// ofTopic are the reason codes of an answer to a message that are about its topic.
func ofTopic(code byte) bool { return code == 0x87 || code == 0x90 }

// scoped is failure for what a broker said of a message.
func scoped(code byte, v verdict, what string) *broker.Error {
	f := adapter.Failure(v.outcome, what, v.fix)
	if ofTopic(code) {
		f.Scope = broker.ScopeTopic
	}
	return f
}

// Reason codes that are more than a row of a table.
const (
	codeNoSubscribers  = 0x10
	codeTakenOver      = 0x8e
	codeIDNotFound     = 0x92
	firstCodeOfFailure = 0x80
)

// refusals are the reason codes of PUBACK and PUBREC (sections 3.4.2.1 and 3.5.2.1).
var refusals = map[byte]verdict{
	0x80: {broker.Rejected, "unspecified error", "look at the broker's log"},
	0x83: {broker.Rejected, "implementation specific error", "look at the broker's log"},
	0x87: {broker.Misconfigured, "not authorized", "grant the user the right to publish to the topic"},
	0x90: {broker.Misconfigured, "topic name invalid", "use a topic that the broker allows"},
	0x91: {broker.Unavailable, "packet identifier in use", "wait"},
	// Not among the codes of the standard; Mosquitto answers so beyond its message_size_limit.
	0x95: {broker.Rejected, "packet too large", "send less, or raise the broker's limit"},
	0x97: {broker.Unavailable, "quota exceeded", "wait, or raise the quota"},
	0x99: {broker.Rejected, "payload format invalid", "fix the payload"},
}

// refusal is the fate of a message whose answer has this reason code, which is not
// one of success. A code that nobody knows is about the message or its topic: others
// go on.
func refusal(code byte) *broker.Error {
	v, ok := refusals[code]
	if !ok {
		v = verdict{broker.Misconfigured, "a reason unknown to MQTT 5", "look at the broker's log"}
	}
	f := scoped(code, v, fmt.Sprintf("the broker refuses the message (reason 0x%02x: %s)", code, v.what))
	if !ok {
		f.Scope = broker.ScopeTopic
	}
	return f
}

// welcomes are the reason codes of CONNACK that are failures (section 3.2.2.2).
var welcomes = map[byte]verdict{
	0x80: {broker.Unavailable, "unspecified error", "look at its log"},
	0x81: {broker.Misconfigured, "malformed packet", "look at its log"},
	0x82: {broker.Misconfigured, "protocol error", "look at its log"},
	0x83: {broker.Unavailable, "implementation specific error", "look at its log"},
	0x84: {broker.Misconfigured, "unsupported protocol version", "use a broker of MQTT 5"},
	0x85: {broker.Misconfigured, "client identifier not valid", "set Options.Login.ClientID to one it takes"},
	0x86: {broker.Misconfigured, "bad user name or password", "check user and password"},
	0x87: {broker.Misconfigured, "not authorized", "check user and password, and the user's rights"},
	0x88: {broker.Unavailable, "server unavailable", "wait"},
	0x89: {broker.Unavailable, "server busy", "wait"},
	0x8a: {broker.Misconfigured, "banned", "ask who runs it"},
	0x8c: {broker.Misconfigured, "bad authentication method", "use a broker that takes user and password, or certificates"},
	0x95: {broker.Misconfigured, "packet too large", "shorten user, password or client id"},
	0x97: {broker.Unavailable, "quota exceeded", "wait, or raise the quota"},
	0x9c: {broker.Misconfigured, "use another server", "give the URL of the other"},
	0x9d: {broker.Misconfigured, "server moved", "give its new URL"},
	0x9f: {broker.Unavailable, "connection rate exceeded", "wait"},
}

// unwelcome says what the answer to a CONNECT means, where it is a failure. Codes
// below 0x80 are those of MQTT 3.
func unwelcome(code byte) *broker.Error {
	v, ok := welcomes[code]
	switch {
	case ok:
	case code < firstCodeOfFailure:
		v = verdict{broker.Misconfigured, "an answer of MQTT 3", "use a broker of MQTT 5"}
	default:
		v = verdict{broker.Misconfigured, "a reason unknown to MQTT 5", "look at its log"}
	}
	return adapter.Failure(v.outcome, fmt.Sprintf("the broker refuses the connection (reason 0x%02x: %s)", code, v.what), v.fix)
}

// blames are the reason codes of DISCONNECT with which a broker says that a message
// was at fault (section 3.14.2.1), and what that makes of the message.
var blames = map[byte]verdict{
	0x81: {broker.Rejected, "malformed packet", "look at the broker's log"},
	0x82: {broker.Rejected, "protocol error", "look at the broker's log"},
	0x90: {broker.Misconfigured, "topic name invalid", "use a topic that the broker allows"},
	0x95: {broker.Rejected, "packet too large", "send less, or raise the broker's limit"},
	0x99: {broker.Rejected, "payload format invalid", "fix the payload"},
	0x9a: {broker.Misconfigured, "retain not supported", "unset Options.Retain"},
	0x9b: {broker.Misconfigured, "QoS not supported", "lower Options.QoS"},
	0x87: {broker.Misconfigured, "not authorized", "grant the user the right to publish to the topic"},
	0x80: {broker.Rejected, "unspecified error", "look at the broker's log"},
	0x83: {broker.Rejected, "implementation specific error", "look at the broker's log"},
}

// blame says what a DISCONNECT for this reason makes of the only message it can be
// about, nil when no message is at fault.
func blame(code byte) *broker.Error {
	v, ok := blames[code]
	if !ok {
		return nil
	}
	return scoped(code, v, fmt.Sprintf("the broker ended the connection over this message (reason 0x%02x: %s)", code, v.what))
}

func errLost(how string) *broker.Error {
	return adapter.Failure(broker.Unknown, "the connection was lost before the answer came ("+how+")", "send the message again")
}

func errUnsent() *broker.Error {
	return adapter.Failure(broker.Unavailable, "the connection was lost before the message was sent", "wait, or look whether the broker runs")
}

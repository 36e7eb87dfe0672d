package mqttbroker

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
)

// Options set a destination up. The zero Options publish a message to the topic
// that its own topic is, with QoS 1.
type Options struct {
	// Topic is a template of the topic to publish to: text, in which {topic}, {key},
	// {type} and {box} stand for the message's own, such as "shop/{topic}/{key}".
	// Key and type are one level each: their '/', '+', '#' and '%' are
	// percent-encoded. Defaults to "{topic}".
	Topic string

	// TopicOf makes the topic of a message, in place of Topic. It must always give
	// one message one topic, and is called from several goroutines.
	TopicOf func(m broker.Delivery) string

	// QoS is 1 (at least once) or 2 (exactly once on the way to the broker, as long
	// as the connection lasts; two round trips). Defaults to 1.
	QoS int

	// Retain has the broker keep the last message of each topic for those who
	// subscribe later.
	Retain bool

	// Unheard has a message accepted for which the broker says that nobody subscribes
	// (reason 0x10), with the note "no subscribers". The broker has dropped it, so
	// by default it is Misconfigured; with Retain it is kept, and Accepted.
	Unheard bool

	// MaxPending is how many messages are sent and not yet answered at a time, by all
	// calls; the broker's Receive Maximum holds as well. At most 65535. Defaults to
	// 4,096.
	MaxPending int

	// KeepAlive is how long a connection may be silent before the broker is asked for
	// a sign of life; without one in half as long again it is given up. At least 1 s.
	// Defaults to 10 s.
	KeepAlive time.Duration

	// Login says who connects, and how.
	Login Login
}

const defaultTopic = "{topic}"

// Validate returns every fault of the options, joined, or nil.
func (o Options) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("mqttbroker: "+format, args...)) }
	if o.Topic != "" && o.TopicOf != nil {
		fault("Options.Topic and Options.TopicOf are both set; drop one of them")
	}
	if o.Topic != "" {
		if reason := badTemplate(o.Topic); reason != "" {
			fault("Options.Topic %.64q %s; use text with {topic}, {key}, {type} and {box}", o.Topic, reason)
		}
	}
	if o.QoS < 0 || o.QoS > 2 {
		fault("Options.QoS is %d; use 1 or 2, for with 0 the broker answers nothing", o.QoS)
	}
	if o.MaxPending < 0 || o.MaxPending > maxID {
		fault("Options.MaxPending is %d; use 1 to %d, or zero for 4096", o.MaxPending, maxID)
	}
	if o.KeepAlive != 0 && (o.KeepAlive < time.Second || o.KeepAlive > maxID*time.Second) {
		fault("Options.KeepAlive is %v; use 1 s to 18 h, or zero for 10 s", o.KeepAlive)
	}
	return errors.Join(append(faults, o.Login.validate("Options")...)...)
}

// withDefaults fills what is zero.
func (o Options) withDefaults() Options {
	if o.Topic == "" {
		o.Topic = defaultTopic
	}
	if o.QoS == 0 {
		o.QoS = 1
	}
	if o.MaxPending == 0 {
		o.MaxPending = 4096
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = 10 * time.Second
	}
	if o.Login.ClientID == "" {
		o.Login.ClientID = newClientID()
	}
	return o
}

// badTemplate says why a template of topics cannot be used, empty when it can.
func badTemplate(text string) string {
	rest := text
	for _, name := range []string{"{topic}", "{key}", "{type}", "{box}"} {
		rest = strings.ReplaceAll(rest, name, "x")
	}
	if strings.ContainsAny(rest, "{}") {
		return "has braces that are none of its words"
	}
	if reason := badTopic(rest); reason != "" {
		return reason
	}
	return ""
}

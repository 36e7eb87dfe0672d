package natsbroker

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
)

// Options set a destination up. The zero Options send a message to the subject
// that its topic is, in whatever stream listens to it.
type Options struct {
	// Stream is the only stream that may take the messages. Defaults to whichever
	// listens to a message's subject, looked up once a subject. Name it where the
	// account maps subjects before they reach the stream, or where the user may
	// not ask the JetStream API.
	Stream string

	// Prefix is put before the topic to make the subject: "events." Defaults to
	// nothing.
	Prefix string

	// Subject makes the subject of a message, in place of Prefix and topic. It must
	// always give one message one subject, and is called from several goroutines.
	Subject func(m broker.Delivery) string

	// MaxPending is how many messages are sent and not yet answered at a time, by
	// all calls. A stream drops what comes when 10,000 wait before it. Defaults to
	// 4,096.
	MaxPending int

	// PassHeaders are names of message headers that the server may obey, such as
	// "Nats-TTL": they are sent as they are. Anyone who writes the message then
	// commands the stream; Nats-Rollup, for one, deletes. Defaults to none.
	PassHeaders []string

	// Recheck is how long what was learnt of a stream is trusted: its limits, and
	// that it is there. After an answer that contradicts it is asked for at once,
	// and before a message is refused for its size if what is known is older than
	// 1 s. Defaults to 1 min.
	Recheck time.Duration

	// Login is for Dial alone.
	Login Login
}

// Validate returns every fault of the options, joined, or nil.
func (o Options) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("natsbroker: "+format, args...)) }
	if strings.ContainsAny(o.Stream, " .*>/\\\t\r\n\x00") {
		fault("Options.Stream %.64q is no name of a stream; use one without spaces, dots, slashes and wildcards", o.Stream)
	}
	if reason := badSubject(o.Prefix + "topic"); reason != "" {
		fault(`Options.Prefix %.64q %s; use tokens with a dot behind each, such as "events."`, o.Prefix, reason)
	}
	if o.Prefix != "" && o.Subject != nil {
		fault("Options.Prefix and Options.Subject are both set; let Subject add the prefix")
	}
	if o.MaxPending < 0 {
		fault("Options.MaxPending is %d; use a positive number, or zero for 4096", o.MaxPending)
	}
	if o.Recheck < 0 {
		fault("Options.Recheck is %v; use a positive duration, or zero for 1 min", o.Recheck)
	}
	for _, name := range o.PassHeaders {
		switch {
		case name == headerMsgID || name == headerExpectedStream:
			fault("Options.PassHeaders names %s, which is set for every message; leave it out", name)
		case !strings.HasPrefix(name, headerNats) || escapeName(name) != name:
			fault("Options.PassHeaders names %.64q, which the server does not obey; name headers that begin with Nats- only", name)
		}
	}
	return errors.Join(append(faults, o.Login.validate("Options")...)...)
}

// withDefaults fills what is zero.
func (o Options) withDefaults() Options {
	if o.MaxPending == 0 {
		o.MaxPending = 4096
	}
	if o.Recheck == 0 {
		o.Recheck = time.Minute
	}
	o.Login = o.Login.withDefaults()
	return o
}

package natsbroker

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/postbag/postbag/broker"
)

// maxSubject keeps a subject, its reply subject and two numbers well below the
// server's max_control_line (4,096 bytes by default), beyond which it closes the
// connection.
const maxSubject = 1024

// badSubject says why nothing can be published to subject, empty when it can.
// The rules are those of "Subject-Based Messaging" in the NATS documentation,
// and that the server's own subjects are out of bounds: a message there is a
// command, not a message.
func badSubject(subject string) string {
	switch {
	case subject == "":
		return "is empty"
	case len(subject) > maxSubject:
		return fmt.Sprintf("has %d bytes, %d are allowed", len(subject), maxSubject)
	case !utf8.ValidString(subject):
		return "is not UTF-8"
	case subject[0] == '$' && (strings.HasPrefix(subject, "$JS.") || strings.HasPrefix(subject, "$SYS.")):
		return "is one of the server's own"
	}
	start := 0
	for i := 0; i <= len(subject); i++ {
		if i < len(subject) && subject[i] != '.' {
			if c := subject[i]; c <= ' ' || c == 0x7f {
				return "holds a space or a control character"
			}
			continue
		}
		switch token := subject[start:i]; token {
		case "":
			return "has an empty token: a dot at an end, or two in a row"
		case "*", ">":
			return "has a wildcard for a token"
		}
		start = i + 1
	}
	return ""
}

// CheckTopic implements [broker.TopicChecker].
func (d *Destination) CheckTopic(topic string) error { return d.options.CheckTopic(topic) }

// CheckTopic returns an error if nothing can be published to the subject of a topic. Where Subject
// makes the subject, it returns nil.
func (o Options) CheckTopic(topic string) error {
	if o.Subject != nil {
		return nil
	}
	if f := refuseSubject(o.Prefix + topic); f != nil {
		return f
	}
	return nil
}

// refuseSubject rejects a message whose subject is bad.
func refuseSubject(subject string) *broker.Error {
	if reason := badSubject(subject); reason != "" {
		return adapter.Failure(broker.Rejected, "the topic's subject "+reason, "use a topic of tokens with dots between, such as orders.created")
	}
	return nil
}

// matches says whether subject is one that filter, which may hold wildcards,
// stands for.
func matches(filter, subject string) bool {
	for {
		want, restFilter, moreFilter := strings.Cut(filter, ".")
		token, restSubject, moreSubject := strings.Cut(subject, ".")
		switch {
		case want == ">":
			return true
		case want != "*" && want != token:
			return false
		case moreFilter != moreSubject:
			return false
		case !moreFilter:
			return true
		}
		filter, subject = restFilter, restSubject
	}
}

// subject is where m goes.
func (o Options) subject(m *broker.Delivery) (subject string, f *broker.Error) {
	switch {
	case o.Subject != nil:
		return adapter.Ask("Options.Subject", func() string { return o.Subject(*m) })
	case o.Prefix != "":
		return o.Prefix + m.Topic, nil
	default:
		return m.Topic, nil
	}
}

package broker

import (
	"maps"
	"strings"
)

// A property is a header that tells a transport how to treat the message, such as
// "rabbitmq.priority". The part before the dot names the destination that obeys it. It
// does so whether the message is in plain form or encoded. No destination sends a property
// as a header, and each ignores those of others: a message may go to several.

// namespaces begin the names of properties.
var namespaces = [...]string{"kafka.", "mqtt.", "nats.", "rabbitmq."}

// IsProperty says whether a header of this name is a property: it begins with "kafka.",
// "mqtt.", "nats." or "rabbitmq.", as written here.
func IsProperty(name string) bool {
	for _, prefix := range namespaces {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// WithoutProperties returns headers without those that are properties. It does not change
// the map, and returns the map itself if it has none.
func WithoutProperties(headers map[string]string) map[string]string {
	for name := range headers {
		if IsProperty(name) {
			rest := maps.Clone(headers)
			maps.DeleteFunc(rest, func(name, _ string) bool { return IsProperty(name) })
			return rest
		}
	}
	return headers
}

// HeaderChecker is implemented by a destination that has properties.
type HeaderChecker interface {
	// CheckHeaders returns an error if headers hold a property of this destination that it
	// would reject in any message. The error names each, what is allowed, and no value. It
	// ignores all other headers, and does no I/O.
	CheckHeaders(headers map[string]string) error
}

// HeaderCheckerOf returns the HeaderChecker of d: d itself, or the destination that it
// wraps. ok is false if neither is one.
func HeaderCheckerOf(d Destination) (c HeaderChecker, ok bool) {
	if w, is := d.(*wrapped); is {
		return HeaderCheckerOf(w.to)
	}
	c, ok = d.(HeaderChecker)
	return c, ok
}

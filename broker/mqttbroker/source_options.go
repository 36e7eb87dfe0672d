package mqttbroker

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// SourceOptions set a source up. URL, Login.ClientID and Filters are required.
type SourceOptions struct {
	// URL is one URL, or several with commas between, tried in turn, as for Dial. Brokers
	// of several URLs must share their sessions.
	URL string
	// Login says who connects, and how. Login.ClientID names the session: what was not
	// acked comes again to the next source with this client id. No two sources may have
	// one at a time.
	Login Login

	// Filters are the topic filters to subscribe to, such as "orders/+". If a topic matches
	// two of them, brokers may give its messages twice. A filter that was taken out later
	// stays in the session.
	Filters []string
	// Group makes each subscription a shared one ($share/Group/filter): sources that name
	// the same group, each with a client id of its own, share the messages. There is no
	// order then. Defaults to none: the source gets every message, in sequence.
	Group string

	// QoS is 1 or 2. A message comes with the lower one of this and what its sender chose.
	// One that was sent with QoS 0 comes once at most: nobody keeps it. Defaults to 1.
	QoS int

	// SessionExpiry is for how long the broker keeps the session while the source is away:
	// its subscriptions, what comes meanwhile, and what was not acked. Whole seconds, at
	// least one. Defaults to 7 days.
	SessionExpiry time.Duration

	// MaxUnacked is how many messages the broker sends that are not acked (Receive Maximum):
	// those at work, those that were read ahead, and those whose ack waits for one before.
	// It bounds the memory, together with the size of messages. At most 65,535. Defaults to
	// 1,000. A broker may allow less.
	MaxUnacked int

	// NoRetained leaves out what the broker retained before the subscription was made.
	// Defaults to taking that in, once in a session: such a message has the header "retain"
	// with the value "true".
	NoRetained bool

	// KeepAlive is how long a connection may be silent before the broker is asked for a sign
	// of life, as for Options.KeepAlive. Defaults to 10 s.
	KeepAlive time.Duration

	// OnFault hears of what no call reports: that the broker lost the session, and with it
	// messages, or keeps it for less than SessionExpiry. It is called from goroutines of the
	// source. Do not call the source from it. Defaults to an error of the next Fetch, once,
	// which is source.ErrUnavailable.
	OnFault func(err error)
}

const (
	defaultSessionExpiry = 7 * 24 * time.Hour
	maxSessionExpiry     = (math.MaxUint32 - 1) * time.Second
	defaultMaxUnacked    = 1000

	sharePrefix = "$share/"
)

// Validate returns every fault of the options, joined, or nil.
func (o SourceOptions) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("mqttbroker: SourceOptions."+format, args...))
	}
	if err := ValidURLs(o.URL); err != nil {
		faults = append(faults, err)
	}
	if o.Login.ClientID == "" {
		fault("Login.ClientID is empty; give the source a name that stays, because the broker keeps its session under it")
	}
	if len(o.Filters) == 0 {
		fault("Filters is empty; name what is to be read, such as orders/#")
	}
	if strings.ContainsAny(o.Group, "/+#") || badText(o.Group) != "" {
		fault("Group %.64q holds one of / + #, or what MQTT cannot carry; use plain text", o.Group)
	}
	seen := map[string]bool{}
	for _, filter := range o.Filters {
		if reason := badFilter(filter); reason != "" {
			fault("Filters: %.64q %s", filter, reason)
		} else if len(sharePrefix)+len(o.Group)+1+len(filter) > maxText {
			fault("Filters: %.64q is too long with SourceOptions.Group; shorten it", filter)
		}
		if seen[filter] {
			fault("Filters: %.64q stands there twice; leave one out", filter)
		}
		seen[filter] = true
	}
	if o.QoS < 0 || o.QoS > 2 {
		fault("QoS is %d; use 1 or 2, because with 0 a message is lost with the connection", o.QoS)
	}
	if o.SessionExpiry != 0 && (o.SessionExpiry < time.Second || o.SessionExpiry > maxSessionExpiry) {
		fault("SessionExpiry is %v; use 1 s to 136 years, or zero for %v", o.SessionExpiry, defaultSessionExpiry)
	}
	if o.MaxUnacked < 0 || o.MaxUnacked > maxID {
		fault("MaxUnacked is %d; use 1 to %d, or zero for %d", o.MaxUnacked, maxID, defaultMaxUnacked)
	}
	if o.KeepAlive != 0 && (o.KeepAlive < time.Second || o.KeepAlive > maxID*time.Second) {
		fault("KeepAlive is %v; use 1 s to 18 h, or zero for 10 s", o.KeepAlive)
	}
	return errors.Join(append(faults, o.Login.validate("SourceOptions")...)...)
}

// badFilter says why a topic filter cannot be subscribed to, empty when it can (section
// 4.7.1).
func badFilter(filter string) string {
	if filter == "" {
		return "is empty; leave it out"
	}
	if strings.HasPrefix(filter, sharePrefix) {
		return "is a shared subscription; name its group in SourceOptions.Group"
	}
	if reason := badText(filter); reason != "" {
		return reason + "; use plain text"
	}
	levels := strings.Split(filter, "/")
	for i, level := range levels {
		if strings.Contains(level, "#") && (level != "#" || i < len(levels)-1) {
			return "has a # that is not its whole last level; put it there"
		}
		if strings.Contains(level, "+") && level != "+" {
			return "has a + that is not a whole level; make it one"
		}
	}
	return ""
}

// withDefaults fills what is zero.
func (o SourceOptions) withDefaults() SourceOptions {
	if o.QoS == 0 {
		o.QoS = 1
	}
	if o.SessionExpiry == 0 {
		o.SessionExpiry = defaultSessionExpiry
	}
	if o.MaxUnacked == 0 {
		o.MaxUnacked = defaultMaxUnacked
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = 10 * time.Second
	}
	return o
}

// subscribed is a filter as the broker gets it.
func (o SourceOptions) subscribed(filter string) string {
	if o.Group == "" {
		return filter
	}
	return sharePrefix + o.Group + "/" + filter
}

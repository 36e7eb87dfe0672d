package natsbroker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/source"
)

// SourceOptions set a source up. Stream, Consumer and one of URL and JetStream are
// required.
//
// AckWait, MaxUnacked and Subjects are settings of the consumer at the server, which all
// members of the group share. If the consumer exists, they must be its own, or zero.
type SourceOptions struct {
	// URL is one URL, or several of one cluster with commas between, as for Dial. The
	// source then has a connection of its own. Defaults to none.
	URL string
	// Login is for URL alone.
	Login Login
	// JetStream is over a connection of the application, which stays open. Give that
	// nats.MaxReconnects(-1). Defaults to none.
	JetStream jetstream.JetStream

	// Stream is the name of the stream, which must exist.
	Stream string
	// Consumer is the name of the durable pull consumer: the group. Sources that name the
	// same one share its messages. If it does not exist, the source makes it.
	Consumer string
	// Subjects are the subjects that the group wants, wildcards allowed. They must not
	// overlap. Defaults to those of the consumer, all of the stream if it is made.
	Subjects []string

	// Order is source.OrderNone or source.OrderStream. With OrderStream one member gets
	// all messages, and the others stand by; it needs NATS 2.14 or newer. A consumer is
	// made for one of them, and cannot be used for the other.
	Order source.Order

	// AckWait is for how long a message may be at work before it comes again, unless it is
	// extended. With OrderStream also for how long a member may neither fetch nor extend
	// before another one takes over. From 1 s up. Defaults to the consumer's own, 30 s if
	// it is made.
	AckWait time.Duration
	// MaxUnacked is how many messages are at work at a time, with all members together.
	// Defaults to the consumer's own, 1,000 if it is made.
	MaxUnacked int
	// NewOnly makes the consumer begin with messages that are stored after it. It says
	// nothing of a consumer that exists. Defaults to the earliest message of the stream.
	NewOnly bool
}

const (
	defaultAckWait    = 30 * time.Second
	defaultMaxUnacked = 1000
	minAckWait        = time.Second
)

// Validate returns every fault of the options, joined, or nil.
func (o SourceOptions) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("natsbroker: SourceOptions."+format, args...))
	}
	switch {
	case o.JetStream != nil && o.URL != "":
		fault("URL and SourceOptions.JetStream are both set; use one of them")
	case o.JetStream == nil && o.URL == "":
		fault("URL is empty; give one such as nats://host:4222, or a JetStream")
	case o.JetStream == nil:
		if err := ValidURLs(o.URL); err != nil {
			faults = append(faults, err)
		}
	}
	for field, name := range map[string]string{"Stream": o.Stream, "Consumer": o.Consumer} {
		if name == "" || strings.ContainsAny(name, " .*>/\\\t\r\n\x00") {
			fault("%s %.64q is no name; use one without spaces, dots, slashes and wildcards", field, name)
		}
	}
	for i, subject := range o.Subjects {
		if reason := badFilter(subject); reason != "" {
			fault(`Subjects has %.64q, which %s; use tokens with dots between, such as "orders.>"`, subject, reason)
		}
		if slices.Contains(o.Subjects[:i], subject) {
			fault("Subjects has %.64q twice; leave one out", subject)
		}
	}
	if o.Order != source.OrderNone && o.Order != source.OrderStream {
		fault("Order is %v; JetStream has source.OrderNone and source.OrderStream", o.Order)
	}
	if o.AckWait != 0 && o.AckWait < minAckWait {
		fault("AckWait is %v; use %v or more, or zero for the consumer's own", o.AckWait, minAckWait)
	}
	if o.MaxUnacked < 0 {
		fault("MaxUnacked is %d; use a positive number, or zero for the consumer's own", o.MaxUnacked)
	}
	return errors.Join(append(faults, o.Login.validate("SourceOptions")...)...)
}

// badFilter says why a consumer cannot have this filter, empty if it can.
func badFilter(subject string) string {
	tokens := strings.Split(subject, ".")
	for i, token := range tokens {
		if token == "*" || token == ">" && i == len(tokens)-1 {
			tokens[i] = "x"
		}
	}
	return badSubject(strings.Join(tokens, "."))
}

// priorityGroup is the one that the consumer of an ordered source has.
const priorityGroup = "postbag"

// config is what a consumer is made with.
func (o SourceOptions) config() jetstream.ConsumerConfig {
	c := jetstream.ConsumerConfig{
		Name: o.Consumer, Durable: o.Consumer,
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       o.AckWait,
		MaxDeliver:    -1,
		MaxAckPending: o.MaxUnacked,
		ReplayPolicy:  jetstream.ReplayInstantPolicy,
	}
	if c.AckWait == 0 {
		c.AckWait = defaultAckWait
	}
	if c.MaxAckPending == 0 {
		c.MaxAckPending = defaultMaxUnacked
	}
	if o.NewOnly {
		c.DeliverPolicy = jetstream.DeliverNewPolicy
	}
	if len(o.Subjects) == 1 {
		c.FilterSubject = o.Subjects[0]
	} else {
		c.FilterSubjects = slices.Clone(o.Subjects)
	}
	if o.Order == source.OrderStream {
		c.PriorityPolicy, c.PriorityGroups, c.PinnedTTL = jetstream.PriorityPolicyPinned, []string{priorityGroup}, c.AckWait
	}
	return c
}

// filters are the subjects of a consumer, sorted.
func filters(c jetstream.ConsumerConfig) []string {
	all := slices.Clone(c.FilterSubjects)
	if c.FilterSubject != "" {
		all = append(all, c.FilterSubject)
	}
	slices.Sort(all)
	return all
}

// settings returns every setting of a consumer that would make a promise of the source
// untrue, with what to do; empty if there is none.
func (o SourceOptions) settings(c jetstream.ConsumerConfig) []string {
	var faults []string
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	refuse(c.DeliverSubject != "", "it is a push consumer (deliver_subject); use a pull consumer")
	refuse(c.AckPolicy != jetstream.AckExplicitPolicy, "ack_policy is %s, so a message could be lost or acked with others; use explicit", policyName(c.AckPolicy))
	refuse(c.MaxDeliver > 0, "max_deliver is %d, so a message is lost after that; set it to -1", c.MaxDeliver)
	refuse(len(c.BackOff) > 0, "backoff is set, which replaces ack_wait; remove it")
	refuse(c.HeadersOnly, "headers_only is set, so payloads do not come; turn it off")
	refuse(c.InactiveThreshold > 0, "inactive_threshold is %v, after which the server forgets what was acked; remove it, from the stream's consumer_limits too", c.InactiveThreshold)
	refuse(c.MemoryStorage, "mem_storage is set, so what was acked is forgotten when the server restarts; turn it off")
	refuse(c.Durable == "", "it is not durable; make it with a durable name")
	switch o.Order {
	case source.OrderStream:
		refuse(c.PriorityPolicy != jetstream.PriorityPolicyPinned || !slices.Contains(c.PriorityGroups, priorityGroup),
			"it has no order: priority_policy pinned_client with the group %q is missing; let the source make another consumer, on NATS 2.14 or newer", priorityGroup)
	default:
		refuse(c.PriorityPolicy != jetstream.PriorityPolicyNone, "priority_policy is set; name another consumer, or use source.OrderStream if it was made for that")
	}
	refuse(o.AckWait != 0 && o.AckWait != c.AckWait, "ack_wait is %v, SourceOptions.AckWait is %v; change one of them, or leave the option zero", c.AckWait, o.AckWait)
	refuse(o.MaxUnacked != 0 && o.MaxUnacked != c.MaxAckPending, "max_ack_pending is %d, SourceOptions.MaxUnacked is %d; change one of them, or leave the option zero", c.MaxAckPending, o.MaxUnacked)
	if len(o.Subjects) > 0 {
		want := slices.Sorted(slices.Values(o.Subjects))
		refuse(!slices.Equal(want, filters(c)), "filter_subjects are %q, SourceOptions.Subjects are %q; change one of them, or leave the option empty", filters(c), want)
	}
	return faults
}

// policyName is what the server calls an ack policy.
func policyName(p jetstream.AckPolicy) string {
	text, err := p.MarshalJSON()
	if err != nil {
		return "unknown"
	}
	return strings.Trim(string(text), `"`)
}

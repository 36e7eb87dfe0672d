package kafkabroker

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/postbag/postbag/source"
)

// SourceOptions set a source up. Brokers, Group, and one of Topics and Pattern are
// required.
type SourceOptions struct {
	// Brokers is the address of one broker, or of several of one cluster with commas
	// between, as for Dial.
	Brokers string
	// Login says how connections are made.
	Login Login

	// Group is the consumer group. Its members share the partitions, and its position in
	// each is kept by the brokers.
	Group string
	// Topics are Kafka's topics to read.
	Topics []string
	// Pattern, in place of Topics, is a regular expression. Every topic is read whose whole
	// name matches it, also one that is made later. Topics that Kafka keeps for itself are
	// left out.
	Pattern string
	// InstanceID makes a static member: if it comes back with this name within SessionTimeout, it
	// gets its partitions back without a rebalance. No two members of a group may have one
	// name at a time. Empty: a dynamic member, whose partitions go to others at once when it
	// closes.
	InstanceID string

	// From is where a group begins in a partition for which the brokers keep no position: at
	// the first message whose timestamp is not before it. Zero: at the earliest message.
	From time.Time
	// ReadUncommitted shows messages of transactions that are not committed, and of those
	// that were aborted. Default: they are left out, and a transaction that is open holds up
	// what is behind it.
	ReadUncommitted bool
	// Reset, unless nil, lets the source go on where messages were deleted before they were
	// read: at the earliest that there is. It is called for each such partition, from a
	// goroutine of the source. Do not call the source from it. Nil: Fetch says
	// ErrMisconfigured, and the partition rests until a new source is opened.
	Reset func(r Reset)

	// SessionTimeout is how long the brokers wait for a sign of life before they give the
	// partitions of a member to others. Defaults to 45 s.
	SessionTimeout time.Duration
	// HeartbeatInterval is how often the source gives one: at most a third of
	// SessionTimeout. Defaults to 3 s, or that third if it is less.
	HeartbeatInterval time.Duration
	// RebalanceTimeout is how long the brokers wait for members in a rebalance. Defaults to
	// 60 s.
	RebalanceTimeout time.Duration
	// Refresh is how often topics and their partitions are looked up: a topic that matches
	// Pattern, or a partition, is read that much after it was made. Defaults to 30 s.
	Refresh time.Duration

	// FetchBytes is the most that one answer of a broker holds, as stored. The source keeps
	// one answer of each broker, and that much besides. A larger batch comes alone. Defaults
	// to 16 MiB.
	FetchBytes int
	// PartitionBytes is the most that an answer holds of one partition. Defaults to 1 MiB.
	PartitionBytes int
	// Window is how many messages of a partition can be delivered from the earliest that is
	// not acked on. Defaults to 10,000.
	Window int

	commitEvery time.Duration // how long acks are gathered before a position is committed
}

// maxFetch is the most that FetchBytes can be.
const maxFetch = 512 << 20

// Reset tells of messages that were deleted before they were read.
type Reset struct {
	// Topic is Kafka's, Number the partition's in it. Number is -1 if the topic was deleted
	// and made again: then every partition begins at its first message.
	Topic  string
	Number int32
	// Partition is the name of the partition in source.Message. Empty if Number is -1.
	Partition source.Partition
	// From is the offset that would have come next, To the one that comes. To is less than
	// From if the brokers lost the end of the log. Both are zero if Number is -1.
	From, To int64
}

// Validate returns every fault of the options, joined, or nil.
func (o SourceOptions) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("kafkabroker: "+format, args...)) }
	if err := ValidBrokers(o.Brokers); err != nil {
		faults = append(faults, err)
	}
	if o.Group == "" {
		fault("SourceOptions.Group is empty; name the consumer group")
	}
	if (len(o.Topics) == 0) == (o.Pattern == "") {
		fault("SourceOptions needs one of Topics and Pattern; set one of them")
	}
	for _, topic := range o.Topics {
		if reason := badTopic(topic); reason != "" {
			fault("SourceOptions.Topics has %.64q, which %s; use the name of a Kafka topic", topic, reason)
		}
	}
	if _, err := regexp.Compile(o.Pattern); err != nil {
		fault("SourceOptions.Pattern is no regular expression (%.100s); write one that Go's regexp takes", err)
	}
	faults = append(faults, o.badTimes()...)
	for name, n := range map[string]int{"FetchBytes": o.FetchBytes, "PartitionBytes": o.PartitionBytes} {
		if n != 0 && (n < 1024 || n > maxFetch) {
			fault("SourceOptions.%s is %d; choose between 1,024 and %d, or zero for the default", name, n, maxFetch)
		}
	}
	if o.Window < 0 {
		fault("SourceOptions.Window is %d; use a positive number, or zero for 10,000", o.Window)
	}
	return errors.Join(append(faults, o.Login.validate()...)...)
}

func (o SourceOptions) badTimes() []error {
	var faults []error
	for _, d := range []struct {
		name        string
		value, most time.Duration
	}{
		{"SessionTimeout", o.SessionTimeout, time.Hour},
		{"HeartbeatInterval", o.HeartbeatInterval, time.Hour},
		{"RebalanceTimeout", o.RebalanceTimeout, time.Hour},
		{"Refresh", o.Refresh, 24 * time.Hour},
	} {
		if d.value != 0 && (d.value < 100*time.Millisecond || d.value > d.most) {
			faults = append(faults, fmt.Errorf("kafkabroker: SourceOptions.%s is %v; choose between 100 ms and %v, or zero for the default", d.name, d.value, d.most))
		}
	}
	if full := o.withDefaults(); full.HeartbeatInterval > full.SessionTimeout/3 {
		faults = append(faults, fmt.Errorf("kafkabroker: SourceOptions.HeartbeatInterval is %v and SessionTimeout %v; use a third of it at most",
			full.HeartbeatInterval, full.SessionTimeout))
	}
	return faults
}

// withDefaults fills what is zero.
func (o SourceOptions) withDefaults() SourceOptions {
	fill := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	fill(&o.SessionTimeout, 45*time.Second)
	fill(&o.HeartbeatInterval, min(3*time.Second, o.SessionTimeout/3))
	fill(&o.RebalanceTimeout, time.Minute)
	fill(&o.Refresh, 30*time.Second)
	fill(&o.commitEvery, 100*time.Millisecond)
	if o.FetchBytes == 0 {
		o.FetchBytes = 16 << 20
	}
	if o.PartitionBytes == 0 {
		o.PartitionBytes = 1 << 20
	}
	if o.Login.Name == "" {
		o.Login.Name = "postbag"
	}
	return o
}

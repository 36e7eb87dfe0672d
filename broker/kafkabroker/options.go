package kafkabroker

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
)

// Options set a destination up. The zero Options send a message to the Kafka topic
// that its topic is, compressed with lz4.
type Options struct {
	// Prefix is put before the topic to make Kafka's: "events.". Defaults to
	// nothing.
	Prefix string

	// Topic makes the Kafka topic of a message, in place of Prefix and topic. It must
	// always give one message one topic, and is called from several goroutines.
	Topic func(m broker.Delivery) string

	// Compression is "none", "gzip", "snappy", "lz4" or "zstd". Defaults to "lz4".
	Compression string

	// Linger is how long a call waits for others to share its batches with. It costs
	// that much latency, and pays where many small calls are made at a time. Defaults
	// to none.
	Linger time.Duration

	// BatchBytes is the most that a batch holds, before compression; a topic whose
	// max.message.bytes is smaller has that. A larger message has a batch of its own.
	// Defaults to 1,000,000.
	BatchBytes int

	// SendTime gives records the time when they are sent in place of the time when
	// the database stored the message. Set it where old messages are replayed into a
	// topic that deletes by time.
	SendTime bool

	// Create, unless nil, says how to create a topic that is not there. Nil: such a
	// message is Misconfigured.
	Create *Create

	// Recheck is how long what was learnt of a topic is trusted: its partitions, its
	// limits, that it is there. After an answer that contradicts it is asked for at
	// once, and before a message is refused for its size if what is known is older
	// than 1 s. Defaults to 1 min.
	Recheck time.Duration

	// Transactions, unless nil, makes the destination broker.Transactional: a relay can
	// then deliver exactly once. Nil: OpenLane is Misconfigured.
	Transactions *Transactions

	// Login says how connections are made.
	Login Login
}

// Transactions says where a relay's record of a lane is kept, beside the messages
// of its transactions.
type Transactions struct {
	// Topic is a compacted topic, of as many destinations as you like. It is created
	// if it is not there. Defaults to "postbag-lanes".
	Topic string
	// Replicas of each of its partitions, when it is created. Defaults to the
	// brokers' own default.
	Replicas int
	// Timeout is how long the brokers wait for the end of a transaction before they
	// abort it, and with it how long a lane that died may hold up consumers. Defaults
	// to 15 s.
	Timeout time.Duration
}

// Create says how to create topics.
type Create struct {
	// Partitions of a new topic. Defaults to the brokers' own default.
	Partitions int
	// Replicas of each partition. Defaults to the brokers' own default.
	Replicas int
	// Config holds settings of the topic, such as "min.insync.replicas": "2".
	Config map[string]string
}

// compressions are the values of Options.Compression.
var compressions = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

// Validate returns every fault of the options, joined, or nil.
func (o Options) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("kafkabroker: "+format, args...)) }
	if reason := badTopic(o.Prefix + "topic"); reason != "" {
		fault(`Options.Prefix %.64q %s; use letters, digits, dots, dashes and underscores, such as "events."`, o.Prefix, reason)
	}
	if o.Prefix != "" && o.Topic != nil {
		fault("Options.Prefix and Options.Topic are both set; let Topic add the prefix")
	}
	if _, ok := compressions[o.Compression]; !ok && o.Compression != "" {
		fault("Options.Compression %.32q is not known; use one of %s", o.Compression,
			strings.Join(slices.Sorted(maps.Keys(compressions)), ", "))
	}
	if o.Linger < 0 || o.Linger > 10*time.Second {
		fault("Options.Linger is %v; choose between 0 and 10 s", o.Linger)
	}
	if o.BatchBytes != 0 && (o.BatchBytes < 1024 || o.BatchBytes > maxRequest) {
		fault("Options.BatchBytes is %d; choose between 1,024 and %d, or zero for 1,000,000", o.BatchBytes, maxRequest)
	}
	if o.Recheck < 0 {
		fault("Options.Recheck is %v; use a positive duration, or zero for 1 min", o.Recheck)
	}
	faults = append(faults, o.Create.validate()...)
	faults = append(faults, o.Transactions.validate()...)
	return errors.Join(append(faults, o.Login.validate()...)...)
}

func (c *Create) validate() (faults []error) {
	if c == nil {
		return nil
	}
	if c.Partitions < 0 || c.Partitions > 1_000_000 {
		faults = append(faults, fmt.Errorf("kafkabroker: Options.Create.Partitions is %d; use a positive number, or zero for the brokers' default", c.Partitions))
	}
	return append(faults, badReplicas("Create", c.Replicas)...)
}

func (x *Transactions) validate() (faults []error) {
	if x == nil {
		return nil
	}
	if reason := badTopic(x.Topic); reason != "" && x.Topic != "" {
		faults = append(faults, fmt.Errorf("kafkabroker: Options.Transactions.Topic %.64q %s; use letters, digits, dots, dashes and underscores", x.Topic, reason))
	}
	if x.Timeout != 0 && (x.Timeout < time.Second || x.Timeout > 15*time.Minute) {
		faults = append(faults, fmt.Errorf("kafkabroker: Options.Transactions.Timeout is %v; choose between 1 s and 15 min", x.Timeout))
	}
	return append(faults, badReplicas("Transactions", x.Replicas)...)
}

func badReplicas(field string, n int) []error {
	if n >= 0 && n <= 1000 {
		return nil
	}
	return []error{fmt.Errorf("kafkabroker: Options.%s.Replicas is %d; use a positive number, or zero for the brokers' default", field, n)}
}

// withDefaults fills what is zero.
func (o Options) withDefaults() Options {
	if o.Compression == "" {
		o.Compression = "lz4"
	}
	if o.BatchBytes == 0 {
		o.BatchBytes = 1_000_000
	}
	if o.Recheck == 0 {
		o.Recheck = time.Minute
	}
	if o.Login.Name == "" {
		o.Login.Name = "postbag"
	}
	if o.Transactions != nil {
		x := *o.Transactions
		if x.Topic == "" {
			x.Topic = "postbag-lanes"
		}
		if x.Timeout == 0 {
			x.Timeout = 15 * time.Second
		}
		o.Transactions = &x
	}
	return o
}

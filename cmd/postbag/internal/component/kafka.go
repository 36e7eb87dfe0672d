package component

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// KafkaConnection is how a client of Kafka reaches its brokers.
type KafkaConnection struct {
	Connection

	// How to log in: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.
	Mechanism string `yaml:"mechanism" otherwise:"SCRAM-SHA-512 if there is a user"`
	// TLS with the system's certificate authorities, where ca_file names none.
	TLS bool `yaml:"tls" default:"false"`
	// What the brokers show as the connection's name.
	ClientName string `yaml:"client_name" default:"postbag"`
}

// login fills what the settings say of who connects, and returns the brokers.
func (k *KafkaConnection) login(to *kafkabroker.Login) (brokers string, err error) {
	to.Mechanism, to.Name = k.Mechanism, k.ClientName
	url, err := k.Connection.open(&to.User, &to.Password, &to.TLS)
	if to.TLS == nil && k.TLS {
		to.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return strings.TrimSuffix(strings.TrimPrefix(url, "kafka://"), "/"), err
}

// Kafka is a destination in Apache Kafka, or what speaks its protocol.
type Kafka struct {
	KafkaConnection

	// Put before the topic of a message, such as "events.".
	Prefix string `yaml:"prefix" otherwise:"nothing"`
	// What a batch is compressed with: none, gzip, snappy, lz4 or zstd.
	Compression string `yaml:"compression" default:"lz4"`
	// How long a call waits for others to share its batches with.
	Linger time.Duration `yaml:"linger" range:"1us..10s" zero:"none" otherwise:"not at all"`
	// The most that a batch holds before compression, in bytes.
	BatchBytes int `yaml:"batch_bytes" default:"1000000"`
	// Records have the time when they are sent, not when the database stored the message.
	SendTime bool `yaml:"send_time" default:"false"`
	// Create topics that are not there, and how.
	Create *KafkaTopics `yaml:"create" otherwise:"not at all"`
	// Transactions, for subscriptions with exactly_once; {} is enough.
	Transactions *KafkaTransactions `yaml:"transactions" otherwise:"none"`
	// How long to trust what is known of a topic.
	Recheck time.Duration `yaml:"recheck" range:"1ms..24h" default:"1m"`
}

// KafkaTopics is how topics are created.
type KafkaTopics struct {
	// Partitions of a new topic.
	Partitions int `yaml:"partitions" otherwise:"the brokers' own default"`
	// Replicas of each partition.
	Replicas int `yaml:"replicas" otherwise:"the brokers' own default"`
	// Settings of the topic, such as {min.insync.replicas: 2}.
	Config map[string]string `yaml:"config"`
}

// KafkaTransactions is where the records of exactly_once are kept.
type KafkaTransactions struct {
	// A compacted topic, which is created if it is not there.
	Topic string `yaml:"topic" default:"postbag-lanes"`
	// Replicas of each of its partitions, when it is created.
	Replicas int `yaml:"replicas" otherwise:"the brokers' own default"`
	// How long brokers wait for the end of a transaction before they abort it.
	Timeout time.Duration `yaml:"timeout" default:"15s"`
}

// HasTransactions implements config.Transactional.
func (k *Kafka) HasTransactions() bool { return k.Transactions != nil }

func (k *Kafka) open(ctx context.Context, _ *terminal.Terminal, dry bool) (broker.Destination, error) {
	o := kafkabroker.Options{
		Prefix: k.Prefix, Compression: k.Compression, Linger: k.Linger, BatchBytes: k.BatchBytes, SendTime: k.SendTime, Recheck: k.Recheck,
	}
	if c := k.Create; c != nil {
		o.Create = &kafkabroker.Create{Partitions: c.Partitions, Replicas: c.Replicas, Config: c.Config}
	}
	if x := k.Transactions; x != nil {
		o.Transactions = &kafkabroker.Transactions{Topic: x.Topic, Replicas: x.Replicas, Timeout: x.Timeout}
	}
	brokers, err := k.login(&o.Login)
	if err != nil {
		return nil, err
	}
	if dry {
		return nil, errors.Join(o.Validate(), kafkabroker.ValidBrokers(brokers))
	}
	return kafkabroker.Dial(ctx, brokers, o)
}

// CheckTopic implements config.TopicChecker.
func (k *Kafka) CheckTopic(topic string) error {
	return kafkabroker.Options{Prefix: k.Prefix}.CheckTopic(topic)
}

// CheckHeaders implements config.HeaderChecker.
func (*Kafka) CheckHeaders(headers map[string]string) error { return kafkabroker.CheckHeaders(headers) }

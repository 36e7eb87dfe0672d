package config

import (
	"net/netip"
	"time"
)

// Destination says where messages go. One of url, url_env and url_file is
// required, but for stdout.
type Destination struct {
	// The kind of destination. Defaults to what the URL tells.
	Kind string `yaml:"kind"`
	// Where it is, without user, password and token.
	URL string `yaml:"url"`
	// The environment variable that holds the URL.
	URLEnv string `yaml:"url_env"`
	// The file that holds the URL.
	URLFile string `yaml:"url_file"`

	// Certificate authorities to trust, PEM; with it TLS is demanded. Defaults to
	// the system's, where the URL says TLS.
	CAFile string `yaml:"ca_file"`
	// The client's certificate, PEM, for servers that ask for one.
	CertFile string `yaml:"cert_file"`
	// The key of the client's certificate, PEM.
	KeyFile string `yaml:"key_file"`
	// What the server shows as the connection's name. Defaults to postbag.
	ClientName string `yaml:"client_name"`
	// The variable that holds the user.
	UserEnv string `yaml:"user_env"`
	// The variable that holds the password.
	PasswordEnv string `yaml:"password_env"`
	// The file that holds the password.
	PasswordFile string `yaml:"password_file"`
	// The variable that holds the token.
	TokenEnv string `yaml:"token_env"`
	// The file that holds the token.
	TokenFile string `yaml:"token_file"`
	// A credentials file (.creds).
	CredentialsFile string `yaml:"credentials_file"`
	// A file that holds an NKey seed.
	NKeyFile string `yaml:"nkey_file"`
	// Log in by the client's certificate (SASL EXTERNAL). Defaults to false.
	External bool `yaml:"external"`

	// Put before the topic to make what the server calls subject, stream or topic,
	// such as "events.". Defaults to nothing.
	Prefix string `yaml:"prefix"`
	// The stream that must store the messages. Defaults to the one that listens
	// to their subject.
	Stream string `yaml:"stream"`
	// Headers of messages that the server may obey, such as Nats-TTL. Defaults to
	// none.
	PassHeaders []string `yaml:"pass_headers"`
	// How long what was learnt of a stream or topic is trusted. Defaults to 1m.
	Recheck time.Duration `yaml:"recheck"`
	// Most messages that are sent and not yet answered. Defaults to 4096, for
	// rabbitmq to 2048.
	MaxPending int `yaml:"max_pending"`
	// The largest payload, in bytes; larger ones are rejected. Defaults to the
	// server's limit.
	MaxBytes int `yaml:"max_bytes"`

	// What a batch is compressed with: none, gzip, snappy, lz4 or zstd. Defaults to
	// lz4.
	Compression string `yaml:"compression"`
	// How long a call waits for others to share its batches with, at most 10s.
	// Defaults to not at all.
	Linger time.Duration `yaml:"linger" zero:"none"`
	// The most that a batch holds before compression, in bytes. Defaults to 1000000.
	BatchBytes int `yaml:"batch_bytes"`
	// Records have the time when they are sent, not when the database stored the
	// message. Defaults to false.
	SendTime bool `yaml:"send_time"`
	// Create topics that are not there, and how. Defaults to not at all.
	Create *CreateTopics `yaml:"create"`
	// Transactions, for subscriptions with exactly_once; {} is enough. Defaults to
	// none.
	Transactions *Transactions `yaml:"transactions"`
	// How to log in: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512. Defaults to the last
	// where there is a user.
	Mechanism string `yaml:"mechanism"`
	// TLS with the system's certificate authorities, where ca_file names none.
	// Defaults to false.
	TLS bool `yaml:"tls"`

	// Streams over which a topic is split by key, {orders:0}, {orders:1} and so on,
	// at most 4096. Defaults to 1: one stream, named as the topic.
	Shards int `yaml:"shards"`
	// Add only to streams that are there. Defaults to false: the first entry makes
	// one.
	Existing bool `yaml:"existing"`
	// A stream for each key, and ids by which a message is stored once however often
	// it is sent. Defaults to false.
	Fence bool `yaml:"fence"`
	// The first half of a fenced id's first number: raise it when an older copy of
	// the database took over. Defaults to 0.
	Epoch int `yaml:"epoch" zero:"none"`
	// Replicas that must have a message before it is accepted. Defaults to 0.
	Replicas int `yaml:"replicas" zero:"none"`
	// How long replicas may take. Defaults to 1s.
	ReplicaWait time.Duration `yaml:"replica_wait"`
	// Trim a stream to about so many entries, the oldest first, read or not. Defaults
	// to no limit.
	MaxLen int `yaml:"max_len" zero:"none"`
	// Trim entries that are older, read or not. Defaults to no limit.
	MaxAge time.Duration `yaml:"max_age" zero:"none"`
	// Trim to the very number or age. Defaults to false: to about it.
	ExactTrim bool `yaml:"exact_trim"`
	// The name under which sentinels watch the primary; the URLs are then the
	// sentinels'. Defaults to URLs of the servers themselves.
	Primary string `yaml:"primary"`
	// The variable that holds the sentinels' user.
	SentinelUserEnv string `yaml:"sentinel_user_env"`
	// The variable that holds the sentinels' password.
	SentinelPasswordEnv string `yaml:"sentinel_password_env"`
	// The file that holds the sentinels' password.
	SentinelPasswordFile string `yaml:"sentinel_password_file"`
	// A single URL is that of a cluster's node, as several always are. Defaults to
	// false.
	Cluster bool `yaml:"cluster"`

	// A template of the topic to publish to, of {topic}, {key}, {type} and {box}.
	// Defaults to {topic}.
	Topic string `yaml:"topic"`
	// 1 (at least once) or 2. Defaults to 1.
	QoS int `yaml:"qos"`
	// The broker keeps the last message of each topic for those who subscribe later.
	// Defaults to false.
	Retain bool `yaml:"retain"`
	// A message to which nobody subscribes, which the broker drops, is accepted all
	// the same. Defaults to false: the destination counts as misconfigured.
	Unheard bool `yaml:"unheard"`
	// How long a connection may be silent before the broker is asked for a sign of
	// life. Defaults to 10s.
	KeepAlive time.Duration `yaml:"keep_alive"`
	// The name of the connection at the broker, which must be one relay's alone.
	// Defaults to postbag- and random text.
	ClientID string `yaml:"client_id"`

	// The exchange: a name, or a template of {topic}, {key}, {type}, {box} and
	// {subscription}. Defaults to the default exchange, which takes a message to
	// the queue that the routing key names.
	Exchange string `yaml:"exchange"`
	// A template of the routing key. Defaults to {topic}.
	RoutingKey string `yaml:"routing_key"`
	// The virtual host. Defaults to the one in the URL, or /.
	VHost string `yaml:"vhost"`
	// Exchanges, queues and bindings to declare at each connection. Defaults to
	// none.
	Topology Topology `yaml:"topology"`
	// AMQP channels that share the work, at most 256. Defaults to 2.
	Channels int `yaml:"channels"`
	// How often a message that the server refused (a full queue) is sent again at
	// once; -1: never. Defaults to 2.
	Retries int `yaml:"retries"`
	// How often each side says that it lives. Defaults to 10s.
	Heartbeat time.Duration `yaml:"heartbeat"`

	// Variables that hold signing secrets (whsec_...); all of them sign, so that
	// one can be changed for another. One, here or in secrets_file, is required.
	SecretsEnv []string `yaml:"secrets_env"`
	// Files that hold signing secrets.
	SecretsFile []string `yaml:"secrets_file"`
	// Content type of the payloads. Defaults to application/json.
	ContentType string `yaml:"content_type"`
	// Private addresses that may be connected to, such as [10.0.0.0/8]. Defaults
	// to none.
	AllowPrivate []netip.Prefix `yaml:"allow_private"`
	// The longest wait for an answer. Defaults to 30s.
	Timeout time.Duration `yaml:"timeout"`
}

// CreateTopics is how kafka creates topics.
type CreateTopics struct {
	// Partitions of a new topic. Defaults to the brokers' own default.
	Partitions int `yaml:"partitions"`
	// Replicas of each partition. Defaults to the brokers' own default.
	Replicas int `yaml:"replicas"`
	// Settings of the topic, such as {min.insync.replicas: 2}.
	Config map[string]string `yaml:"config"`
}

// Transactions is where kafka keeps the records of exactly_once.
type Transactions struct {
	// A compacted topic, which is created if it is not there. Defaults to
	// postbag-lanes.
	Topic string `yaml:"topic"`
	// Replicas of each of its partitions, when it is created. Defaults to the
	// brokers' own default.
	Replicas int `yaml:"replicas"`
	// How long brokers wait for the end of a transaction before they abort it.
	// Defaults to 15s.
	Timeout time.Duration `yaml:"timeout"`
}

// Topology is what rabbitmq declares.
type Topology struct {
	// Exchanges to declare, all durable.
	Exchanges []Exchange `yaml:"exchanges"`
	// Queues to declare, all durable.
	Queues []Queue `yaml:"queues"`
	// What leads from exchanges to queues.
	Bindings []Binding `yaml:"bindings"`
}

// Exchange is one to declare.
type Exchange struct {
	// Its name. Required.
	Name string `yaml:"name"`
	// direct, fanout, headers, topic, or a plugin's. Defaults to topic.
	Kind string `yaml:"kind"`
	// Further arguments; numbers and true or false are sent as such.
	Arguments map[string]string `yaml:"arguments"`
}

// Queue is one to declare.
type Queue struct {
	// Its name. Required.
	Name string `yaml:"name"`
	// quorum, classic or stream. Defaults to quorum.
	Type string `yaml:"type"`
	// Further arguments, such as x-max-length; numbers and true or false are sent
	// as such.
	Arguments map[string]string `yaml:"arguments"`
}

// Binding leads messages of an exchange to a queue.
type Binding struct {
	// The exchange. Required.
	Exchange string `yaml:"exchange"`
	// The queue. Required.
	Queue string `yaml:"queue"`
	// What the exchange compares, such as orders.#. Defaults to nothing.
	RoutingKey string `yaml:"routing_key"`
	// Further arguments: those of a headers exchange.
	Arguments map[string]string `yaml:"arguments"`
}

package component

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// RedisConnection is how a client of Redis reaches one server, its sentinels or a cluster.
type RedisConnection struct {
	Connection

	// The name under which sentinels watch the primary; the URLs are then the sentinels'.
	Primary string `yaml:"primary" otherwise:"URLs of the servers themselves"`
	// The variable that holds the sentinels' user.
	SentinelUserEnv string `yaml:"sentinel_user_env"`
	// The variable that holds the sentinels' password.
	SentinelPasswordEnv string `yaml:"sentinel_password_env"`
	// The file that holds the sentinels' password.
	SentinelPasswordFile string `yaml:"sentinel_password_file"`
	// A single URL is that of a cluster's node, as several always are.
	Cluster bool `yaml:"cluster" default:"false"`
	// What the server shows as the connection's name. The user needs the right to
	// CLIENT SETNAME.
	ClientName string `yaml:"client_name" otherwise:"none"`
}

// login fills what the settings say of who connects, and returns the URL.
func (d *RedisConnection) login(to *redisbroker.Login) (url string, err error) {
	to.Primary, to.Cluster, to.Name = d.Primary, d.Cluster, d.ClientName
	url, err = d.Connection.open(&to.User, &to.Password, &to.TLS)
	errs := []error{err}
	either(d.SentinelUserEnv, "", &to.SentinelUser, &errs)
	either(d.SentinelPasswordEnv, d.SentinelPasswordFile, &to.SentinelPassword, &errs)
	return url, errors.Join(errs...)
}

// Redis is a destination in Redis Streams.
type Redis struct {
	RedisConnection

	// Put before the topic to make the stream's name, such as "events:".
	Prefix string `yaml:"prefix" otherwise:"nothing"`
	// Streams over which a topic is split by key, {orders:0}, {orders:1} and so on, at most
	// 4096. With 1 there is one stream, named as the topic.
	Shards int `yaml:"shards" default:"1"`
	// Add only to streams that are there. With false the first entry makes one.
	Existing bool `yaml:"existing" default:"false"`
	// A stream for each key, and ids by which a message is stored once however often it is
	// sent.
	Fence bool `yaml:"fence" default:"false"`
	// The first half of a fenced id's first number: raise it when an older copy of the
	// database took over.
	Epoch int `yaml:"epoch" range:"0..2147483647" zero:"none" default:"0"`
	// Replicas that must have a message before it is accepted.
	Replicas int `yaml:"replicas" zero:"none" default:"0"`
	// How long replicas may take.
	ReplicaWait time.Duration `yaml:"replica_wait" range:"1ms..1h" default:"1s"`
	// Trim a stream to about so many entries, the oldest first, read or not.
	MaxLen int `yaml:"max_len" zero:"none" otherwise:"no limit"`
	// Trim entries that are older, read or not.
	MaxAge time.Duration `yaml:"max_age" range:"1s..876000h" zero:"none" otherwise:"no limit"`
	// Trim to the very number or age. With false that is approximate.
	ExactTrim bool `yaml:"exact_trim" default:"false"`
	// The largest payload, in bytes; larger ones are rejected.
	MaxBytes int `yaml:"max_bytes" otherwise:"the server's limit"`
}

func (d *Redis) open(ctx context.Context, _ *terminal.Terminal, dry bool) (broker.Destination, error) {
	o := redisbroker.Options{
		Prefix: d.Prefix, Shards: d.Shards, Existing: d.Existing, Fence: d.Fence, Epoch: uint32(d.Epoch),
		Replicas: d.Replicas, ReplicaWait: d.ReplicaWait, MaxLen: int64(d.MaxLen), MaxAge: d.MaxAge, ExactTrim: d.ExactTrim, MaxBytes: d.MaxBytes,
	}
	url, err := d.login(&o.Login)
	if err != nil {
		return nil, err
	}
	if dry {
		return nil, errors.Join(o.Validate(), redisbroker.ValidURLs(url))
	}
	redisbroker.SilenceClients() // standard error is the log's, which has what matters
	return redisbroker.Dial(ctx, url, o)
}

package component

import (
	"context"
	"time"

	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/source"
)

// RedisSource takes messages from Redis Streams, as a consumer of a group.
type RedisSource struct {
	RedisConnection

	// The consumer group. Processes that name the same one share the messages. It is made if
	// a stream does not have it. Required.
	Group string `yaml:"group"`
	// Topics to read, from the streams that a destination with this prefix and these shards
	// makes of them. One of topics and streams is required.
	Topics []string `yaml:"topics"`
	// Names of streams to read besides.
	Streams []string `yaml:"streams"`
	// Put before the topic to make the stream's name.
	Prefix string `yaml:"prefix" otherwise:"nothing"`
	// Streams over which a topic is split, at most 4096.
	Shards int `yaml:"shards" range:"1..4096" default:"1"`
	// The name in the group, which must be one process's alone. With it what was at work
	// under that name comes first, at once.
	Consumer string `yaml:"consumer" otherwise:"random text"`
	// A group that is made begins with messages that are stored after it.
	NewOnly bool `yaml:"new_only" default:"false"`
	// Read only streams that are there. With false they are made.
	Existing bool `yaml:"existing" default:"false"`
	// For how long a message may be at work before another process takes it over. All of a
	// group must have the same.
	AckWait time.Duration `yaml:"ack_wait" range:"1s..24h" default:"1m"`
	// The field that holds the payload.
	PayloadField string `yaml:"payload_field" default:"payload"`
	// What names this Redis for ever in ids that are made of places. Give sources of
	// different servers different ones.
	Log string `yaml:"log" default:"redis"`
	// Most entries of each stream in one read.
	ReadCount int `yaml:"read_count" range:"1..100000" default:"500"`
}

// Check implements config.Settings.
func (d *RedisSource) Check(r config.Report) {
	d.RedisConnection.Check(r)
	need(r, "group", d.Group, "name the consumer group")
	if len(d.Topics)+len(d.Streams) == 0 {
		r.Atf("", "has neither topics nor streams; name what to read")
	}
}

func (d *RedisSource) openSource(ctx context.Context, onFault func(error), dry bool) (source.Source, error) {
	o := redisbroker.SourceOptions{
		Topics: d.Topics, Streams: d.Streams, Prefix: d.Prefix, Shards: d.Shards, Group: d.Group, Consumer: d.Consumer,
		NewOnly: d.NewOnly, Existing: d.Existing, AckWait: d.AckWait, PayloadField: d.PayloadField, Log: d.Log, ReadCount: d.ReadCount,
		OnFault: onFault,
	}
	var err error
	if o.URL, err = d.login(&o.Login); err != nil {
		return nil, err
	}
	if dry {
		return nil, o.Validate()
	}
	redisbroker.SilenceClients() // standard error is the log's, which has what matters
	return redisbroker.OpenSource(ctx, o)
}

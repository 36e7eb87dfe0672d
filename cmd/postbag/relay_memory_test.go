package main

import (
	"runtime/debug"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

func TestTheSoftLimitOfMemoryFollowsTheBuffers(t *testing.T) {
	t.Parallel()
	if got := memoryLimit([]config.Subscription{{Buffer: 64 << 20}}); got != 192<<20 {
		t.Errorf("one subscription: %d", got)
	}
	if got := memoryLimit([]config.Subscription{{Buffer: 64 << 20}, {Buffer: 8 << 20}}); got != 208<<20 {
		t.Errorf("two subscriptions: %d", got)
	}
}

func TestTheSoftLimitOfMemoryFollowsTheSettingsOfSources(t *testing.T) {
	t.Parallel()
	limit := func(batch, largest config.Size, from config.Settings) int64 {
		return sourcesMemory([]config.Intake{{BatchBytes: batch, MaxSize: largest, From: config.Origin{Settings: from}}})
	}
	plain := limit(4<<20, 1<<20, &component.NATSSource{})
	for name, row := range map[string]struct{ got, more int64 }{
		"batch_bytes":           {limit(5<<20, 1<<20, &component.NATSSource{}), 4 << 20},
		"max_size":              {limit(4<<20, 3<<20, &component.NATSSource{}), 2 << 20},
		"kafka fetch_bytes":     {limit(4<<20, 1<<20, &component.KafkaSource{FetchBytes: 512 << 20, PartitionBytes: 1 << 20}), 2 << 30},
		"kafka partition_bytes": {limit(4<<20, 1<<20, &component.KafkaSource{FetchBytes: 1 << 20, PartitionBytes: 2 << 20}), 8 << 20},
		"rabbitmq prefetch":     {limit(4<<20, 1<<20, &component.RabbitMQSource{Prefetch: 16}), 1 << 20},
		"redis read_count":      {limit(4<<20, 1<<20, &component.RedisSource{Topics: []string{"a", "b"}, Shards: 4, Streams: []string{"c"}, ReadCount: 16}), 9 << 20},
		"mqtt max_unacked":      {limit(4<<20, 1<<20, &component.MQTTSource{MaxUnacked: 32}), 2 << 20},
		"webhook memory":        {limit(4<<20, 1<<20, &component.WebhookSource{Memory: 1 << 30}), 1 << 30},
	} {
		if row.got-plain != row.more {
			t.Errorf("%s: the limit is %d more, not %d", name, row.got-plain, row.more)
		}
	}
}

func TestAMemoryLimitOfTheUserIsKept(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Setenv("GOMEMLIMIT", "1GiB")
	defer limitMemory(&config.File{Subscriptions: []config.Subscription{{}}})()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit went from %d to %d", before, got)
	}
}

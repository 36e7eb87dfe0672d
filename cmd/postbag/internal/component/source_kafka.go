package component

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/source"
)

// KafkaSource takes messages from topics of Kafka, as a member of a consumer group.
type KafkaSource struct {
	KafkaConnection

	// The consumer group. Its members share the partitions. Required.
	Group string `yaml:"group"`
	// Topics to read. One of topics and pattern is required.
	Topics []string `yaml:"topics"`
	// A regular expression. Every topic is read whose whole name matches it.
	Pattern string `yaml:"pattern"`
	// The name of a static member, which must be one process's alone. If it comes back within
	// session_timeout, it gets its partitions back without a rebalance.
	InstanceID string `yaml:"instance_id" otherwise:"none"`
	// Where a new group begins: at the first message that is not older than this time (RFC
	// 3339).
	Since string `yaml:"since" otherwise:"the earliest message"`
	// Show messages of transactions that are not committed, too.
	ReadUncommitted bool `yaml:"read_uncommitted" default:"false"`
	// Go on where messages were deleted before they were read, and log how many. With false
	// the partition rests.
	SkipDeleted bool `yaml:"skip_deleted" default:"false"`
	// How long the brokers wait for a sign of life before others get the partitions.
	SessionTimeout time.Duration `yaml:"session_timeout" range:"100ms..1h" default:"45s"`
	// How often a sign of life is given: at most a third of session_timeout.
	HeartbeatInterval time.Duration `yaml:"heartbeat_interval" range:"100ms..1h" otherwise:"3s, or a third of session_timeout"`
	// How long the brokers wait for members in a rebalance.
	RebalanceTimeout time.Duration `yaml:"rebalance_timeout" range:"100ms..1h" default:"1m"`
	// How often topics and partitions are looked up.
	Refresh time.Duration `yaml:"refresh" range:"100ms..24h" default:"30s"`
	// Most bytes in one answer of a broker.
	FetchBytes int `yaml:"fetch_bytes" range:"1024..536870912" default:"16777216"`
	// Most bytes of one partition in an answer.
	PartitionBytes int `yaml:"partition_bytes" range:"1024..536870912" default:"1048576"`
	// Most messages of a partition that are delivered behind one that is not done.
	Window int `yaml:"window" range:"1..1000000" default:"10000"`
}

// Check implements config.Settings.
func (k *KafkaSource) Check(r config.Report) {
	k.KafkaConnection.Check(r)
	need(r, "group", k.Group, "name the consumer group")
	if (len(k.Topics) == 0) == (k.Pattern == "") {
		r.Atf("", "needs one of topics and pattern; set one of them")
	}
	if k.Since != "" {
		if _, err := time.Parse(time.RFC3339, k.Since); err != nil {
			r.Atf("since", "is no time; write it as 2026-01-31T12:00:00Z, or leave it out")
		}
	}
}

func (k *KafkaSource) openSource(ctx context.Context, onFault func(error), dry bool) (source.Source, error) {
	o := kafkabroker.SourceOptions{
		Group: k.Group, Topics: k.Topics, Pattern: k.Pattern, InstanceID: k.InstanceID, ReadUncommitted: k.ReadUncommitted,
		SessionTimeout: k.SessionTimeout, HeartbeatInterval: k.HeartbeatInterval, RebalanceTimeout: k.RebalanceTimeout, Refresh: k.Refresh,
		FetchBytes: k.FetchBytes, PartitionBytes: k.PartitionBytes, Window: k.Window,
	}
	o.From, _ = time.Parse(time.RFC3339, k.Since) // checked when it was read; empty: the zero time
	if k.SkipDeleted {
		o.Reset = func(x kafkabroker.Reset) {
			onFault(fmt.Errorf("messages of topic %.249q were deleted before they were read: partition %d goes on at %d in place of %d", x.Topic, x.Number, x.To, x.From))
		}
	}
	var err error
	if o.Brokers, err = k.login(&o.Login); err != nil {
		return nil, err
	}
	if dry {
		return nil, o.Validate()
	}
	return kafkabroker.OpenSource(ctx, o)
}

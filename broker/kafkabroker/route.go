package kafkabroker

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
)

// topic is where m goes.
func (o Options) topic(m *broker.Delivery) (topic string, f *broker.Error) {
	switch {
	case o.Topic != nil:
		if topic, f = adapter.Ask("Options.Topic", func() string { return o.Topic(*m) }); f != nil {
			return "", f
		}
	case o.Prefix != "":
		topic = o.Prefix + m.Topic
	default:
		topic = m.Topic
	}
	if reason := badTopic(topic); reason != "" {
		return "", adapter.Failure(broker.Rejected, "the topic "+reason,
			"use letters, digits, dots, dashes and underscores, or make the Kafka topic with Options.Topic")
	}
	return topic, nil
}

// CheckTopic implements [broker.TopicChecker].
func (d *Destination) CheckTopic(topic string) error { return d.options.CheckTopic(topic) }

// CheckTopic returns an error if Kafka has no topic of the name that messages of a topic go to.
// Where Topic makes the name, it returns nil.
func (o Options) CheckTopic(topic string) error {
	if o.Topic != nil {
		return nil
	}
	if reason := badTopic(o.Prefix + topic); reason != "" {
		return adapter.Failure(broker.Rejected, "the topic "+reason, "use letters, digits, dots, dashes and underscores")
	}
	return nil
}

// badTopic says why a name is none of a topic, empty when it is one. The rules are
// those of org.apache.kafka.common.internals.Topic.
func badTopic(name string) string {
	const longest = 249
	switch {
	case name == "":
		return "is empty"
	case name == "." || name == "..":
		return "is a dot or two"
	case len(name) > longest:
		return fmt.Sprintf("has %d bytes, Kafka allows %d", len(name), longest)
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return "holds a character that Kafka allows in no name"
		}
	}
	return ""
}

// lookup finds the topics of one call's messages.
type lookup struct {
	d       *Destination
	now     time.Time
	target  *target // of the last message
	spread  int32   // the partition of messages without a key, of target
	nowhere map[string]*broker.Error
	away    *broker.Error // no broker answered: they are not asked again by this call
}

// aim makes target the topic of m.
func (l *lookup) aim(ctx context.Context, m *broker.Delivery) *broker.Error {
	name, f := l.d.options.topic(m)
	if f != nil {
		return f
	}
	if l.target != nil && l.target.name == name {
		return nil
	}
	if f := l.nowhere[name]; f != nil {
		return f
	}
	if l.away != nil {
		return l.away
	}
	f = l.d.checkTopic(ctx, name)
	var t *target
	if f == nil {
		t, f = l.d.topics.find(ctx, name, l.now, l.d.options.Recheck)
	}
	if f != nil {
		if f.Scope == broker.ScopeDestination {
			l.away = f
		} else {
			l.nowhere[name] = f
		}
		return f
	}
	l.target, l.spread = t, -1
	return nil
}

// fit says why the topic would not take a record, by what is known of the topic
// since a moment ago; for a message that was refused before, since now: somebody
// may just have raised the limit for it.
func (l *lookup) fit(ctx context.Context, r *kgo.Record, m *broker.Delivery) *broker.Error {
	f := unfit(r, l.target)
	if f == nil {
		return nil
	}
	trust := min(refusalTrust, l.d.options.Recheck)
	if m.Attempt > 1 {
		trust = 0
	}
	t, f2 := l.d.topics.find(ctx, l.target.name, time.Now(), trust)
	if f2 != nil {
		l.target = nil
		return f2
	}
	if _, named := partition(m); !named && t.partitions != l.target.partitions && m.Key != "" {
		r.Partition = partitionOf(m.Key, t.partitions)
	}
	l.target = t
	return unfit(r, t)
}

// anyPartition is that of the call's messages without a key: one, so that they
// share batches.
func (l *lookup) anyPartition() int32 {
	if l.spread < 0 {
		l.spread = l.target.anyPartition()
	}
	return l.spread
}

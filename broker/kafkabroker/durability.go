package kafkabroker

import (
	"context"
	"fmt"
	"time"
)

// Durability is what decides whether a topic keeps what it accepted.
type Durability struct {
	Topic string
	// Partitions of the topic; Replicas and InSync of the partition that has the
	// fewest of each.
	Partitions, Replicas, InSync int
	// MinInSync is min.insync.replicas; zero if it may not be asked for.
	MinInSync int
	// Unclean: a replica that lacks accepted messages may become leader.
	Unclean bool
	// Retention is retention.ms; zero: no limit, or it may not be asked for.
	Retention time.Duration
	// Compacted: of each key only the last message is sure to be kept.
	Compacted bool
	// Grade is "A" if no single broker's end loses what was accepted and leaves
	// writing possible, "B" if it loses nothing but stops writing, "C" if it may
	// lose messages, and "?" if the settings may not be asked for.
	Grade string
	// Advice says, in sentences, what keeps it from A.
	Advice []string
}

// Durability asks for a topic's settings and grades them. An error is one of
// Probe's.
func (d *Destination) Durability(ctx context.Context, topic string) (Durability, error) {
	t, f := d.topics.metadata(ctx, topic)
	if f == nil {
		f = d.topics.configure(ctx, t)
	}
	if f != nil {
		return Durability{}, f
	}
	g := Durability{
		Topic: topic, Partitions: int(t.partitions), Replicas: t.replicas, InSync: t.inSync,
		MinInSync: t.minInSync, Unclean: t.unclean, Retention: t.keeps, Compacted: t.compacted,
	}
	g.grade(t.known)
	return g, nil
}

func (g *Durability) grade(known bool) {
	advise := func(format string, args ...any) { g.Advice = append(g.Advice, fmt.Sprintf(format, args...)) }
	g.Grade = "A"
	if g.Replicas < 3 {
		g.Grade = "B"
		advise("topic %q has %d replicas: make it 3, on three machines", g.Topic, g.Replicas)
	}
	switch {
	case !known:
		g.Grade = "?"
		advise("the settings of topic %q may not be asked for: grant this user DescribeConfigs", g.Topic)
	case g.MinInSync < 2:
		g.Grade = "C"
		advise("min.insync.replicas of topic %q is %d: set it to 2, or a leader that dies alone with a message loses it", g.Topic, g.MinInSync)
	case g.MinInSync >= g.Replicas:
		g.Grade = "B"
		advise("min.insync.replicas of topic %q is as many as it has replicas: one broker down stops it", g.Topic)
	}
	if g.Unclean {
		g.Grade = "C"
		advise("topic %q elects leaders that lack messages: set unclean.leader.election.enable to false", g.Topic)
	}
	if g.InSync < g.Replicas {
		advise("a partition of topic %q has %d replicas in sync of %d: look at its brokers", g.Topic, g.InSync, g.Replicas)
	}
}

package kafkabroker

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// lookUp asks for a topic, and creates it if it is not there and may be created.
func (s *topics) lookUp(ctx context.Context, name string) (*target, *broker.Error) {
	t, f := s.metadata(ctx, name)
	if f != nil && s.create != nil && f.Outcome == broker.Misconfigured && isMissing(f) {
		if f := s.createTopic(ctx, name); f != nil {
			return nil, f
		}
		t, f = s.awaitTopic(ctx, name)
	}
	if f != nil {
		return nil, f
	}
	if f := s.configure(ctx, t); f != nil {
		return nil, f
	}
	return t, nil
}

// missing is the cause of a topic that does not exist.
type missing struct{ err error }

func (m *missing) Error() string { return m.err.Error() }

func isMissing(f *broker.Error) bool {
	_, ok := f.Err.(*missing) //nolint:errorlint // it is not wrapped
	return ok
}

// metadata asks where the topic's partitions are.
func (s *topics) metadata(ctx context.Context, name string) (*target, *broker.Error) {
	req := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &name
	req.Topics = append(req.Topics, topic)
	resp, err := s.ask.Request(ctx, req)
	if err != nil {
		return nil, unanswered(err)
	}
	m, ok := resp.(*kmsg.MetadataResponse)
	if !ok || len(m.Topics) != 1 {
		return nil, adapter.Failure(broker.Unavailable, "the broker's metadata is not that of one topic", "look at the broker's version")
	}
	got := m.Topics[0]
	switch err := kerr.ErrorForCode(got.ErrorCode); {
	case err == nil:
	case err == kerr.UnknownTopicOrPartition: //nolint:errorlint // kerr's values are its identities
		f := adapter.Failure(broker.Misconfigured, fmt.Sprintf("topic %q does not exist", name), "create it, or set Options.Create")
		return nil, &broker.Error{Outcome: f.Outcome, Scope: broker.ScopeTopic, Err: &missing{f.Err}}
	default:
		return nil, brokerkit.NotSent(translateError(err))
	}
	return newTarget(name, &got)
}

// unanswered is the fate of messages that waited for an answer to a question.
func unanswered(err error) *broker.Error {
	f := translateError(err)
	if f.Outcome == broker.Unknown {
		return adapter.Failure(broker.Unavailable, "the brokers did not answer a question about the topic ("+short(err)+")", "wait, or look whether they run")
	}
	return brokerkit.NotSent(f)
}

func newTarget(name string, m *kmsg.MetadataResponseTopic) (*target, *broker.Error) {
	if len(m.Partitions) == 0 {
		return nil, adapter.TopicFailure(broker.Unavailable, fmt.Sprintf("topic %q has no partitions yet", name), "wait")
	}
	t := &target{name: name, id: m.TopicID, partitions: int32(len(m.Partitions)), replicas: 1 << 30, inSync: 1 << 30}
	for _, p := range m.Partitions {
		t.replicas = min(t.replicas, len(p.Replicas))
		t.inSync = min(t.inSync, len(p.ISR))
		if p.Leader >= 0 {
			t.led = append(t.led, p.Partition)
			t.lead(p.Leader)
		} else {
			t.leaderless = true
		}
	}
	return t, nil
}

// configure asks for the topic's settings, and its brokers'. A user who may not ask does without.
func (s *topics) configure(ctx context.Context, t *target) *broker.Error {
	req := kmsg.NewPtrDescribeConfigsRequest()
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, t.name
	resource.ConfigNames = []string{
		"max.message.bytes", "min.insync.replicas", "cleanup.policy", "message.timestamp.type",
		"message.timestamp.before.max.ms", "message.timestamp.after.max.ms", "unclean.leader.election.enable", "retention.ms",
	}
	req.Resources = append(req.Resources, resource)
	t.askBrokers(req)
	resp, err := s.ask.Request(ctx, req)
	if err != nil {
		return unanswered(err)
	}
	answer, ok := resp.(*kmsg.DescribeConfigsResponse)
	if !ok {
		return nil
	}
	s.learnBrokers(t, answer)
	for _, r := range answer.Resources {
		if r.ResourceType != kmsg.ConfigResourceTypeTopic || r.ErrorCode != 0 {
			continue
		}
		values := map[string]string{}
		for _, c := range r.Configs {
			if c.Value != nil {
				values[c.Name] = *c.Value
			}
		}
		t.settings = readSettings(values)
	}
	return nil
}

// readSettings takes what matters from a topic's configuration.
func readSettings(values map[string]string) settings {
	number := func(name string) int64 {
		n, err := strconv.ParseInt(values[name], 10, 64)
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	// Kafka's "no limit" is the largest number there is.
	span := func(name string) time.Duration {
		n := number(name)
		if n > int64(time.Duration(1<<63-1)/time.Millisecond) {
			return 0
		}
		return time.Duration(n) * time.Millisecond
	}
	return settings{
		known:     true,
		maxBytes:  int(number("max.message.bytes")),
		minInSync: int(number("min.insync.replicas")),
		compacted: strings.Contains(values["cleanup.policy"], "compact"),
		ownTime:   values["message.timestamp.type"] == "LogAppendTime",
		before:    span("message.timestamp.before.max.ms"),
		after:     span("message.timestamp.after.max.ms"),
		unclean:   values["unclean.leader.election.enable"] == "true",
		keeps:     span("retention.ms"),
	}
}

// createTopic creates a topic. That somebody else was faster is no error.
func (s *topics) createTopic(ctx context.Context, name string) *broker.Error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(lookupTimeout / time.Millisecond)
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
	if s.create.Partitions > 0 {
		topic.NumPartitions = int32(s.create.Partitions)
	}
	if s.create.Replicas > 0 {
		topic.ReplicationFactor = int16(s.create.Replicas)
	}
	for key, value := range s.create.Config {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = key, &value
		topic.Configs = append(topic.Configs, c)
	}
	req.Topics = append(req.Topics, topic)
	resp, err := s.ask.Request(ctx, req)
	if err != nil {
		return unanswered(err)
	}
	answer, ok := resp.(*kmsg.CreateTopicsResponse)
	if !ok || len(answer.Topics) != 1 {
		return adapter.Failure(broker.Unavailable, "the broker's answer is not that of one topic", "look at the broker's version")
	}
	err = kerr.ErrorForCode(answer.Topics[0].ErrorCode)
	if err == nil || err == kerr.TopicAlreadyExists { //nolint:errorlint // kerr's values are its identities
		return nil
	}
	f := translateError(err)
	what := fmt.Sprintf("topic %q does not exist and cannot be created (%s)", name, short(err))
	if f.Outcome == broker.Misconfigured || f.Outcome == broker.Rejected {
		return adapter.TopicFailure(broker.Misconfigured, what, "check Options.Create and the user's right to create topics")
	}
	return adapter.TopicFailure(broker.Unavailable, what, "wait, or look at the brokers")
}

// awaitTopic waits until a topic that was created has leaders everywhere.
func (s *topics) awaitTopic(ctx context.Context, name string) (*target, *broker.Error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		t, f := s.metadata(ctx, name)
		if f == nil && !t.leaderless || f != nil && !isMissing(f) && f.Outcome != broker.Unavailable {
			return t, f
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, adapter.TopicFailure(broker.Unavailable, fmt.Sprintf("topic %q was created and has no leaders yet", name), "wait")
		}
	}
}

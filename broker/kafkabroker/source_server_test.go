package kafkabroker_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/source"
)

// sourceOptions are those of tests: a member that is silent is taken for dead after 3 s.
func (p place) sourceOptions() kafkabroker.SourceOptions {
	return kafkabroker.SourceOptions{
		Brokers: strings.Join(p.brokers, ","), Group: "group-of-" + p.topic, Topics: []string{p.topic},
		SessionTimeout: 3 * time.Second, HeartbeatInterval: 300 * time.Millisecond, RebalanceTimeout: 20 * time.Second, Refresh: time.Second,
	}
}

// openSource opens a source, which is closed with the test.
func openSource(t testing.TB, o kafkabroker.SourceOptions) *kafkabroker.Source {
	t.Helper()
	s, err := kafkabroker.OpenSource(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(publishtest.Timeout(t, 20*time.Second)) })
	return s
}

// producer is a client that sends to the place.
func (p place) producer(t testing.TB, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(p.brokers...), kgo.DisableClientMetrics(), kgo.DefaultProduceTopic(p.topic), kgo.ProducerLinger(0),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), kgo.MetadataMinAge(50 * time.Millisecond),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// number sends n records to a partition, with values that count from first on.
func (p place) number(t testing.TB, partition int32, first, n int) {
	t.Helper()
	client := p.producer(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Partition: partition, Value: []byte(strconv.Itoa(first + i))}
	}
	must(t, client.ProduceSync(publishtest.Timeout(t, 30*time.Second), records...).FirstErr())
}

// take fetches until there are n messages, and returns what was lost meanwhile.
func take(t testing.TB, s source.Source, n int) (msgs []source.Message, lost []source.Partition) {
	t.Helper()
	ctx := publishtest.Timeout(t, 40*time.Second)
	for len(msgs) < n {
		batch, err := s.Fetch(ctx, source.Limits{})
		if err != nil {
			if errors.Is(err, source.ErrUnavailable) && ctx.Err() == nil {
				continue
			}
			t.Fatalf("Fetch, after %d of %d messages: %v", len(msgs), n, err)
		}
		msgs, lost = append(msgs, batch.Messages...), append(lost, batch.Lost...)
	}
	return msgs, lost
}

// values are the payloads of a partition's messages, as they came.
func values(msgs []source.Message, partition source.Partition) (all []int) {
	for _, m := range msgs {
		if n, err := strconv.Atoi(string(m.Payload)); err == nil && (partition == "" || m.Partition == partition) {
			all = append(all, n)
		}
	}
	return all
}

// count returns numbers from first on.
func count(first, n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = first + i
	}
	return all
}

func wantValues(t testing.TB, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %d messages came, want %d: %v", what, len(got), len(want), got)
	}
}

func ack(t testing.TB, s source.Source, lost int, msgs ...source.Message) {
	t.Helper()
	receipts := make([]source.Receipt, len(msgs))
	for i, m := range msgs {
		receipts[i] = m.Receipt
	}
	got, err := s.Ack(publishtest.Timeout(t, 20*time.Second), receipts)
	if err != nil || got != lost {
		t.Fatalf("Ack counts %d of %d as lost, want %d: %v", got, len(msgs), lost, err)
	}
}

// groupAt returns the group's position in a partition, and its leader epoch.
func (p place) groupAt(t testing.TB, partition int32) (at int64, leader int32) {
	t.Helper()
	all, err := p.admin.FetchOffsets(publishtest.Timeout(t, 20*time.Second), p.sourceOptions().Group)
	if err != nil {
		return -1, -1
	}
	one, ok := all.Lookup(p.topic, partition)
	if !ok {
		return -1, -1
	}
	return one.At, one.LeaderEpoch
}

func (p place) awaitCommitted(t testing.TB, partition int32, want int64) {
	t.Helper()
	publishtest.Eventually(t, "position "+strconv.FormatInt(want, 10)+" is committed", func() bool {
		at, _ := p.groupAt(t, partition)
		return at == want
	})
}

// members are the ids of the group's members.
func (p place) members(t testing.TB) []string {
	t.Helper()
	group := p.sourceOptions().Group
	all, err := p.admin.DescribeGroups(publishtest.Timeout(t, 20*time.Second), group)
	if err != nil {
		return nil
	}
	var ids []string
	for _, m := range all[group].Members {
		ids = append(ids, m.MemberID)
	}
	return ids
}

// evict takes a member from the group behind its back, as if its session were over.
func (p place) evict(t testing.TB, id string) {
	t.Helper()
	client := p.producer(t)
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = p.sourceOptions().Group, id
	member := kmsg.NewLeaveGroupRequestMember()
	member.MemberID = id
	req.Members = append(req.Members, member)
	if _, err := req.RequestWith(publishtest.Timeout(t, 20*time.Second), client); err != nil {
		t.Fatal(err)
	}
}

// kill ends a source without a word, and waits until the brokers take it for dead.
func (p place) kill(t testing.TB, s *kafkabroker.Source) {
	t.Helper()
	id := s.MemberID()
	s.Crash()
	publishtest.Eventually(t, "the member is taken for dead", func() bool { return !slices.Contains(p.members(t), id) })
}

// quiet wants nothing to come.
func quiet(t testing.TB, s source.Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	for {
		batch, err := s.Fetch(ctx, source.Limits{})
		if err != nil && ctx.Err() != nil {
			return
		}
		if len(batch.Messages) > 0 {
			t.Fatalf("%d messages came, want none: %v", len(batch.Messages), values(batch.Messages, ""))
		}
	}
}

// numberOf is the number of a message's partition.
func numberOf(t testing.TB, m source.Message) int32 {
	t.Helper()
	n, err := strconv.Atoi(m.Place.Partition)
	must(t, err)
	return int32(n)
}

package kafkabroker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/source/sourcekit"
)

// assigned hears that the group has shared its partitions, and that this member has joined.
func (m *member) assigned(_ context.Context, _ *kgo.Client, _ map[string][]int32) {
	<-m.ready
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.s.joining = nil
}

// begin begins the assignments of partitions, at the positions that the brokers keep. The
// client reads nothing of them before it returns.
func (m *member) begin(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	<-m.ready
	began := map[string]map[int32]bool{}
	if err := m.startAt(ctx, offsets, began); err != nil {
		return nil, err
	}
	s := m.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.dead {
		return offsets, nil
	}
	woken := map[string][]int32{}
	for topic, partitions := range offsets {
		for number, offset := range partitions {
			at := offset.EpochOffset()
			p := s.begin(topic, number, at.Offset, at.Epoch)
			woken[topic] = append(woken[topic], number)
			if began[topic][number] && at.Offset > 0 { // commit it, so that the next member begins there too
				s.tracker.Untake([]sourcekit.Position{{Partition: p.name, Epoch: p.epoch, Next: uint64(at.Offset)}})
				signal(s.acked)
			}
		}
	}
	if len(woken) > 0 {
		m.client.ResumeFetchPartitions(woken) // a loss ends a pause
	}
	return offsets, nil
}

// startAt finds out where to begin in partitions without a position, if that is not the
// earliest message. It notes those in began.
func (m *member) startAt(ctx context.Context, offsets map[string]map[int32]kgo.Offset, began map[string]map[int32]bool) error {
	from := m.s.options.From
	var topics []string
	for topic, partitions := range offsets {
		for number, offset := range partitions {
			if offset.EpochOffset().Offset >= 0 || from.IsZero() {
				continue
			}
			if began[topic] == nil {
				began[topic] = map[int32]bool{}
				topics = append(topics, topic)
			}
			began[topic][number] = true
		}
	}
	if len(topics) == 0 {
		return nil
	}
	listed, err := m.s.admin.ListOffsetsAfterMilli(ctx, from.UnixMilli(), topics...)
	if err = errors.Join(err, listed.Error()); err != nil {
		return fmt.Errorf("kafkabroker: the offsets after SourceOptions.From cannot be listed: %w", err)
	}
	for topic, partitions := range began {
		for number := range partitions {
			found, ok := listed.Lookup(topic, number)
			if !ok {
				return fmt.Errorf("kafkabroker: partition %s has no offset after SourceOptions.From: %w", partitionName(topic, number), kerr.LeaderNotAvailable)
			}
			offsets[topic][number] = kgo.NewOffset().At(found.Offset)
		}
	}
	return nil
}

// revoked commits what is acked, and ends the assignments. The group waits for it.
func (m *member) revoked(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	if len(gone) == 0 {
		return
	}
	m.s.mu.Lock()
	for topic, numbers := range gone {
		for _, number := range numbers {
			if p := m.s.parts[partitionName(topic, number)]; p != nil {
				p.moveTo(p.reached) // nothing more of it is handed out
			}
		}
	}
	m.s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 2*commitTimeout)
	defer cancel()
	m.finish(ctx, gone, true)
}

// lost ends assignments that are others' already. What is acked there and not committed is
// lost: a commit could set back the position of the new owner.
func (m *member) lost(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*commitTimeout)
	defer cancel()
	m.finish(ctx, gone, false)
}

// finish ends assignments. A commit that is under way is waited for: afterwards the member
// may be one again, and the commit would count.
func (m *member) finish(ctx context.Context, gone map[string][]int32, commit bool) {
	<-m.ready
	s := m.s
	locked := s.lockCommits(ctx) == nil
	if locked {
		defer s.unlockCommits()
		if commit {
			once, cancel := context.WithTimeout(ctx, commitTimeout)
			defer cancel()
			_ = m.commit(once) // it comes again
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.dead || s.member != m {
		return
	}
	for topic, numbers := range gone {
		for _, number := range numbers {
			s.lose(partitionName(topic, number))
		}
	}
	s.wakeAll()
}

// observer hears of the client's connections and of its group.
type observer struct{ m *member }

var (
	_ kgo.HookBrokerConnect    = (*observer)(nil)
	_ kgo.HookBrokerRead       = (*observer)(nil)
	_ kgo.HookGroupManageError = (*observer)(nil)
)

// OnBrokerConnect implements kgo.HookBrokerConnect.
func (o *observer) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		signal(o.m.s.suspect)
	}
}

// OnBrokerRead implements kgo.HookBrokerRead.
func (o *observer) OnBrokerRead(_ kgo.BrokerMetadata, _ int16, _ int, _, _ time.Duration, err error) {
	if err != nil {
		signal(o.m.s.suspect)
	}
}

// OnGroupManageError implements kgo.HookGroupManageError: the member has lost all that it
// had, and the client joins again after a pause.
func (o *observer) OnGroupManageError(err error) {
	s := o.m.s
	failure := sourceFailure("group "+s.options.Group+" cannot be joined", err)
	if errors.Is(err, kerr.FencedInstanceID) { // it must not take the name back
		o.m.abort()
		o.m.fence(err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.IllegalGeneration) || errors.Is(err, kerr.RebalanceInProgress) {
		return // it joins again
	}
	s.joining = failure
	s.wakeAll()
}

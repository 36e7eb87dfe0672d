package kafkabroker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// commitTimeout is how long a commit may take before it is tried again. A rebalance waits
// for two of them at most.
const commitTimeout = 5 * time.Second

// Ack implements source.Source. It does no I/O: positions are committed in the background.
func (s *Source) Ack(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	lost = s.tracker.Ack(receipts)
	if lost < len(receipts) {
		signal(s.acked)
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, p := range s.parts { // the window of a partition may have been full
			if (p.full || p.rests) && !p.resting(time.Now(), s.tracker.Room(p.epoch)) {
				p.full = false
				s.wakeAll()
			}
		}
	}
	return lost, nil
}

// Release implements source.Source.
func (s *Source) Release(ctx context.Context, receipts []source.Receipt, after time.Duration) error {
	done, err := s.life.Call(ctx)
	if err != nil {
		return err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.tracker.Rewind(receipts) {
		p := s.parts[at.Partition]
		if p == nil {
			continue
		}
		s.tell(p)
		p.epoch, p.paused, p.hold = at.Epoch, false, time.Now().Add(max(after, 0))
		p.reachedPosition(int64(at.Next))
		p.stamps = nil
		p.moveTo(int64(at.Next))
	}
	s.wakeAll()
	return nil
}

// notePositions notes how far all partitions are acked, without committing it. The caller
// has the right to commit.
func (s *Source) notePositions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.tracker.Take()
	for _, at := range taken {
		if p := s.parts[at.Partition]; p != nil && p.epoch == at.Epoch {
			p.reachedPosition(int64(at.Next))
		}
	}
	s.tracker.Untake(taken)
	signal(s.acked)
}

// commitLoop commits positions until work ends.
func (m *member) commitLoop(work context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	every := m.s.options.commitEvery
	wait := every
	for {
		select {
		case <-m.s.acked:
		case <-work.Done():
			return
		}
		pause.Reset(wait)
		select {
		case <-pause.C:
		case <-work.Done():
			return
		}
		ctx, cancel := context.WithTimeout(work, commitTimeout)
		if err := m.s.lockCommits(ctx); err == nil {
			wait = every
			if err := m.commit(ctx); err != nil {
				signal(m.s.acked) // again, and not so soon
				wait = 5 * every
			}
			m.s.unlockCommits()
		}
		cancel()
	}
}

// positions takes those that have grown, in the client's form. The caller has the right to
// commit.
func (s *Source) positions() (taken []sourcekit.Position, offsets map[string]map[int32]kgo.EpochOffset) {
	s.mu.Lock()
	defer s.mu.Unlock()
	offsets = map[string]map[int32]kgo.EpochOffset{}
	for _, at := range s.tracker.Take() {
		p := s.parts[at.Partition]
		if p == nil || p.epoch != at.Epoch {
			continue
		}
		p.reachedPosition(int64(at.Next))
		if offsets[p.topic] == nil {
			offsets[p.topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[p.topic][p.number] = kgo.EpochOffset{Epoch: p.leader, Offset: p.position}
		taken = append(taken, at)
	}
	return taken, offsets
}

// commit commits the positions that have grown. The caller has the right to commit. If the
// brokers say that this member is one no more, its assignments are over.
func (m *member) commit(ctx context.Context) error {
	taken, offsets := m.s.positions()
	if len(taken) == 0 {
		return nil
	}
	var err error
	m.client.CommitOffsetsSync(ctx, offsets, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, failed error) {
		err = failed
		if failed == nil {
			err = firstRefusal(resp)
		}
	})
	if err == nil {
		return nil
	}
	if errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.IllegalGeneration) || errors.Is(err, kerr.FencedInstanceID) {
		m.fence(err)
		return nil // what was acked is lost, and comes again
	}
	m.s.tracker.Untake(taken)
	return fmt.Errorf("kafkabroker: positions cannot be committed (%w); what was acked may come again", err)
}

// firstRefusal is the first error of an answer, nil if there is none. Positions that were
// committed are committed again then, which is harmless.
func firstRefusal(resp *kmsg.OffsetCommitResponse) error {
	for _, topic := range resp.Topics {
		for _, one := range topic.Partitions {
			if err := kerr.ErrorForCode(one.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}

package kafkabroker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/postbag/postbag/source"
)

// watch asks the brokers for a sign of life when something looks wrong, and until one comes.
// Every while it looks whether the topics are there, and it looks into losses of data.
func (s *Source) watch(work context.Context) {
	const again = 250 * time.Millisecond
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.suspect:
		case <-timer.C:
		case <-work.Done():
			return
		}
		timer.Reset(s.options.Refresh)
		ctx, cancel := context.WithTimeout(work, lookupTimeout)
		err := s.seen.ping(ctx, s.control)
		if err == nil {
			s.setDown(nil)
			s.lookAtTopics(ctx)
			if !s.hold(ctx) {
				timer.Reset(again)
			}
			s.retry(time.Now())
		} else if work.Err() == nil {
			s.setDown(sourceFailure("no broker answers", err))
			timer.Reset(again)
		}
		cancel()
	}
}

func (s *Source) setDown(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.down != nil {
		s.down = err
		s.wakeAll()
	}
}

// lookAtTopics notes which of the topics cannot be read.
func (s *Source) lookAtTopics(ctx context.Context) {
	names := s.options.Topics
	if len(names) == 0 {
		return // those of a pattern come and go
	}
	found, err := s.findTopics(ctx, names...)
	if err != nil {
		return // the next ping tells why
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for _, name := range names {
		err := kerr.ErrorForCode(found[name].ErrorCode)
		if err == nil || kerr.IsRetriable(err) && !errors.Is(err, kerr.UnknownTopicOrPartition) {
			delete(s.topics, name)
			continue
		}
		if s.topics[name] == nil {
			s.topics[name] = &fault{}
			changed = true
		}
		s.topics[name].err = topicFailure(name, err)
	}
	if changed {
		s.wakeAll()
	}
}

// findTopics asks what the brokers know of topics, each of which has a code.
func (s *Source) findTopics(ctx context.Context, names ...string) (map[string]kmsg.MetadataResponseTopic, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, s.control)
	if err != nil {
		return nil, err
	}
	found := map[string]kmsg.MetadataResponseTopic{}
	for _, topic := range resp.Topics {
		if topic.Topic != nil {
			found[*topic.Topic] = topic
		}
	}
	return found, nil
}

// topicFailure says why a topic cannot be read.
func topicFailure(name string, err error) error {
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return misconfigured(fmt.Sprintf("topic %q does not exist", name), "create it, or grant this user the right to describe it")
	}
	return sourceFailure(fmt.Sprintf("topic %q cannot be read", name), err)
}

// retry has partitions read again that could not be read.
func (s *Source) retry(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		if p.broken != nil && !p.broken.retry.IsZero() && now.After(p.broken.retry) {
			p.broken = nil
			p.moveTo(max(p.reached, p.position, 0))
			s.wakeAll()
		}
	}
}

// lossCheck is a loss of messages that were not read, to be looked into.
type lossCheck struct {
	partition source.Partition
	topic     string
	number    int32
	epoch     uint64
	from, to  int64 // to is negative if it is not known
	remade    bool  // the topic may have been deleted
}

// checkLoss has the watcher look into a loss. The partition rests until it has. The caller
// holds the lock.
func (s *Source) checkLoss(p *part, q lossCheck) {
	q.partition, q.topic, q.number, q.epoch = p.name, p.topic, p.number, p.epoch
	var err error
	if q.remade {
		err = unavailable(fmt.Sprintf("topic %q is not what it was", p.topic), "wait until it was looked up")
	} else {
		err = unavailable(fmt.Sprintf("partition %s does not have offset %d any more", p.name, q.from), "wait until it was looked up")
	}
	p.breaks(err, time.Time{})
	p.broken.told = time.Now() // soon it is known what to say
	s.inquests = append(s.inquests, q)
	signal(s.suspect)
}

// hold looks into all losses. It says whether it could.
func (s *Source) hold(ctx context.Context) bool {
	s.mu.Lock()
	all := s.inquests
	s.inquests = nil
	s.mu.Unlock()
	remade := map[string]bool{}
	for i, q := range all {
		var err error
		switch {
		case q.remade && !remade[q.topic]:
			remade[q.topic] = true
			err = s.findTopic(ctx, q)
		case !q.remade:
			err = s.findStart(ctx, q)
		}
		if err != nil {
			s.mu.Lock()
			s.inquests = append(s.inquests, all[i:]...)
			s.mu.Unlock()
			return false
		}
	}
	return true
}

// findStart decides about a partition that lost the offset to read next.
func (s *Source) findStart(ctx context.Context, q lossCheck) error {
	starts, err := s.admin.ListStartOffsets(ctx, q.topic)
	ends := kadm.ListedOffsets{}
	if err == nil {
		ends, err = s.admin.ListEndOffsets(ctx, q.topic)
	}
	start, ok := starts.Lookup(q.topic, q.number)
	end, ok2 := ends.Lookup(q.topic, q.number)
	if err != nil || !ok || !ok2 || start.Err != nil || end.Err != nil {
		return errors.Join(err, start.Err, end.Err, ctx.Err(), errNotListed)
	}
	to := q.to
	if to < 0 {
		to = start.Offset
	}
	s.mu.Lock()
	p := s.parts[q.partition]
	current := p != nil && p.epoch == q.epoch && p.broken != nil
	if current && s.options.Reset == nil {
		p.broken.err = misconfigured(
			fmt.Sprintf("partition %s does not have offset %d any more, it holds %d to %d: messages were deleted before they were read", q.partition, q.from, start.Offset, end.Offset),
			"set SourceOptions.Reset, or move the group's position, and open a new source")
		p.broken.told = time.Time{}
	} else if current {
		s.restart(p, to)
	}
	s.wakeAll()
	s.mu.Unlock()
	if current && s.options.Reset != nil {
		s.options.Reset(Reset{Topic: q.topic, Number: q.number, Partition: q.partition, From: q.from, To: to})
	}
	return nil
}

var errNotListed = errors.New("kafkabroker: the brokers did not list the offsets; try again")

// findTopic decides about a topic that is not what it was.
func (s *Source) findTopic(ctx context.Context, q lossCheck) error {
	found, err := s.findTopics(ctx, q.topic)
	if err != nil {
		return err
	}
	wrong := kerr.ErrorForCode(found[q.topic].ErrorCode)
	s.mu.Lock()
	again := wrong == nil
	for _, name := range s.names() {
		p := s.parts[name]
		if p.topic != q.topic {
			continue
		}
		switch {
		case wrong != nil:
			p.breaks(topicFailure(q.topic, wrong), time.Now().Add(s.options.Refresh))
		case p.log == logName(q.topic, found[q.topic].TopicID):
			p.breaks(unavailable(fmt.Sprintf("topic %q is not known to all brokers", q.topic), "wait"), time.Now())
			p.broken.told = time.Now()
			again = false
		default:
			p.breaks(misconfigured(fmt.Sprintf("topic %q was deleted and made again: what was not read is gone", q.topic),
				"set SourceOptions.Reset, or open a new source"), time.Time{})
		}
	}
	m := s.member
	s.wakeAll()
	s.mu.Unlock()
	if again && s.options.Reset != nil && m != nil {
		s.options.Reset(Reset{Topic: q.topic, Number: -1})
		m.renew(ctx)
	}
	return nil
}

// renew has another member take this one's place, which looks everything up again.
func (m *member) renew(ctx context.Context) {
	if m.s.lockCommits(ctx) != nil {
		return
	}
	_ = m.commit(ctx)
	m.fence(errRenewed)
	m.s.unlockCommits()
}

var errRenewed = errors.New("kafkabroker: the topic was made again")

func text(n int64) string { return strconv.FormatInt(n, 10) }

package kafkabroker

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/postbag/postbag/source"
)

// pollRecords is how many records the member takes from the client at a time, and how many
// it keeps ready for Fetch.
const pollRecords = 500

// fetchWait is how long a broker waits for messages before it answers. A partition that no
// longer rests is read after that time at the latest.
const fetchWait = 500 * time.Millisecond

// member is one membership in the group, with a client of its own. A source has one after
// the other: a member that the brokers do not know any more is replaced.
type member struct {
	s       *Source
	client  *kgo.Client
	abort   context.CancelFunc // ends every request of the client
	ready   chan struct{}      // closed when client is set: the client calls back before that
	over    chan struct{}      // closed when the brokers do not know it any more
	end     sync.Once
	drained chan struct{} // Fetch has taken something

	// The source's lock guards the rest.
	dead      bool   // it has no partitions any more, and gets none
	interrupt func() // ends a wait for records
}

// run has one member after the other read, until work ends. The last one is left to Close.
func (s *Source) run(work context.Context, m *member) {
	for {
		m.work(work)
		if work.Err() != nil {
			return
		}
		m.abandon(work)
		s.mu.Lock()
		usurped := s.usurped != nil
		s.mu.Unlock()
		if usurped {
			<-work.Done()
			return
		}
		next, err := s.newMember()
		if err != nil { // the options were good before
			s.mu.Lock()
			s.usurped = misconfigured("no client can be made ("+short(err)+")", "open a new source")
			s.wakeAll()
			s.mu.Unlock()
			<-work.Done()
			return
		}
		m = next
	}
}

// newMember makes a client, which joins the group in the background.
func (s *Source) newMember() (*member, error) {
	base, abort := context.WithCancel(context.Background())
	m := &member{s: s, abort: abort, ready: make(chan struct{}), over: make(chan struct{}), drained: make(chan struct{}, 1)}
	client, err := kgo.NewClient(m.options(base)...)
	if err != nil {
		abort()
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.client, s.member = client, m
	close(m.ready)
	return m, nil
}

// options are those of the client. What it hears of the group comes by callbacks, while no
// record is on its way from the client to the queues.
func (m *member) options(base context.Context) []kgo.Opt {
	o := m.s.options
	isolation := kgo.ReadCommitted()
	if o.ReadUncommitted {
		isolation = kgo.ReadUncommitted()
	}
	options := append(Options{Login: o.Login}.clientOptions(m.s.seeds, m.s.seen),
		kgo.WithContext(base), kgo.WithHooks(&observer{m}),
		kgo.ConsumerGroup(o.Group), kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.SessionTimeout(o.SessionTimeout), kgo.HeartbeatInterval(o.HeartbeatInterval), kgo.RebalanceTimeout(o.RebalanceTimeout),
		kgo.MetadataMaxAge(o.Refresh), kgo.FetchMaxWait(fetchWait),
		kgo.FetchIsolationLevel(isolation), kgo.KeepControlRecords(), kgo.WithDecompressor(tolerant{kgo.DefaultDecompressor()}),
		kgo.FetchMaxBytes(int32(o.FetchBytes)), kgo.FetchMaxPartitionBytes(int32(min(o.PartitionBytes, o.FetchBytes))),
		kgo.BrokerMaxReadBytes(int32(min(max(2*o.FetchBytes, 100<<20), 1<<30))),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()), kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.OnPartitionsAssigned(m.assigned), kgo.AdjustFetchOffsetsFn(m.begin),
		kgo.OnPartitionsRevoked(m.revoked), kgo.OnPartitionsLost(m.lost),
	)
	if o.InstanceID != "" {
		options = append(options, kgo.InstanceID(o.InstanceID))
	}
	if o.Pattern != "" {
		return append(options, kgo.ConsumeRegex(), kgo.ConsumeTopics("^(?:"+o.Pattern+")$"))
	}
	return append(options, kgo.ConsumeTopics(o.Topics...))
}

// work reads and commits until work ends, or the brokers do not know the member any more.
func (m *member) work(work context.Context) {
	work, cancel := context.WithCancel(work)
	defer cancel()
	var committer sync.WaitGroup
	committer.Go(func() { m.commitLoop(work) })
	stop := context.AfterFunc(work, m.wake)
	defer stop()
	for work.Err() == nil && !m.isOver() {
		poll, ready := m.prepare(work)
		if ready {
			m.file(m.client.PollRecords(poll, pollRecords))
			m.client.AllowRebalance()
		}
	}
	cancel()
	committer.Wait()
}

func (m *member) isOver() bool {
	select {
	case <-m.over:
		return true
	default:
		return false
	}
}

func (m *member) wake() {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.s.wakeAll()
}

// prepare tells the client which partitions rest, and returns the context to poll with. It
// is over already if the client has to be moved: then the poll keeps rebalances away and
// returns at once. If enough is ready for Fetch, prepare waits until it is taken, and there
// is nothing to poll.
func (m *member) prepare(work context.Context) (poll context.Context, ready bool) {
	now := time.Now()
	m.s.mu.Lock()
	if m.dead {
		m.s.mu.Unlock()
		return nil, false
	}
	rest, wake, until, records, bytes, seeks := m.inspect(now)
	poll, cancel := context.WithDeadline(work, until)
	m.interrupt = cancel
	full := !seeks && (records >= pollRecords || bytes >= m.s.options.FetchBytes)
	m.s.mu.Unlock()
	if len(rest) > 0 {
		m.client.PauseFetchPartitions(rest)
	}
	if len(wake) > 0 {
		m.client.ResumeFetchPartitions(wake)
	}
	if full {
		select {
		case <-m.drained:
		case <-poll.Done():
		}
		cancel()
		return nil, false
	}
	if seeks {
		cancel()
	}
	return poll, true
}

// pause has the client read nothing more of the partition. A partition that rests is read
// ahead for a while: to ask for it again takes longer than most rests last.
func (p *part) pause(rest map[string][]int32) {
	if !p.rests {
		p.rests = true
		rest[p.topic] = append(rest[p.topic], p.number)
	}
}

// inspect looks at all partitions: which begin to rest, which end to, when to look again, how many records Fetch can have, how many bytes are kept, and whether the client
// must be moved somewhere. The caller holds the lock.
func (m *member) inspect(now time.Time) (rest, wake map[string][]int32, until time.Time, records, bytes int, seeks bool) {
	rest, wake, until = map[string][]int32{}, map[string][]int32{}, now.Add(time.Hour)
	var resting []*part
	for _, p := range m.s.parts {
		rests := p.resting(now, m.s.tracker.Room(p.epoch))
		if rests && (p.broken != nil || len(p.queue) >= pollRecords || p.bytes >= m.s.options.FetchBytes/4) {
			p.pause(rest)
		} else if !rests && p.rests {
			wake[p.topic] = append(wake[p.topic], p.number)
			p.rests = false
		}
		if p.hold.After(now) && p.hold.Before(until) {
			until = p.hold
		}
		bytes += p.bytes
		if rests {
			resting = append(resting, p)
		} else {
			records += len(p.queue)
		}
		seeks = seeks || p.seek
	}
	// What rests must not fill the memory: it is read again later.
	for _, p := range resting {
		if bytes < m.s.options.FetchBytes {
			break
		}
		if len(p.queue) > 0 {
			bytes -= p.bytes
			p.moveTo(p.queue[0].Offset)
			p.pause(rest)
			seeks = true
		}
	}
	return rest, wake, until, records, bytes, seeks
}

// file puts what was polled into the queues, and moves the client where it must be moved.
// Unless nothing was polled, no rebalance can begin meanwhile.
func (m *member) file(fetches kgo.Fetches) {
	s := m.s
	s.mu.Lock()
	for i := range fetches {
		for t := range fetches[i].Topics {
			topic := &fetches[i].Topics[t]
			for j := range topic.Partitions {
				m.fail(topic.Topic, &topic.Partitions[j])
			}
		}
	}
	for i := range fetches {
		for t := range fetches[i].Topics {
			topic := &fetches[i].Topics[t]
			for j := range topic.Partitions {
				m.keep(topic, &topic.Partitions[j])
			}
		}
	}
	seeks := map[string]map[int32]kgo.EpochOffset{}
	moved := map[*part]int64{}
	for _, p := range s.parts {
		if p.seek && len(fetches) > 0 {
			if seeks[p.topic] == nil {
				seeks[p.topic] = map[int32]kgo.EpochOffset{}
			}
			seeks[p.topic][p.number] = kgo.EpochOffset{Epoch: -1, Offset: p.target}
			moved[p] = p.target
		}
	}
	s.wakeAll()
	s.mu.Unlock()
	if len(seeks) == 0 {
		return
	}
	m.client.SetOffsets(seeks)
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, target := range moved {
		if p.target == target { // or it was released again meanwhile, to where the client must go yet
			p.seek = false
		}
	}
}

// keep puts the records of a partition into its queue. The caller holds the lock.
func (m *member) keep(topic *kgo.FetchTopic, got *kgo.FetchPartition) {
	p := m.s.parts[partitionName(topic.Topic, got.Partition)]
	if p == nil || p.seek || p.broken != nil || len(got.Records) == 0 {
		return // what is not kept is read again
	}
	p.log = logName(topic.Topic, topic.TopicID)
	for _, r := range got.Records {
		p.queue = append(p.queue, r)
		p.bytes += recordBytes(r)
	}
	delete(m.s.topics, p.topic)
}

// fail notes what is wrong with a partition. The caller holds the lock.
func (m *member) fail(topic string, got *kgo.FetchPartition) {
	err := got.Err
	p := m.s.parts[partitionName(topic, got.Partition)]
	if err == nil || p == nil || p.broken != nil {
		return // the observer hears of what concerns the whole group
	}
	lost, isLoss := errors.AsType[*kgo.ErrDataLoss](err)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, kgo.ErrClientClosed):
		return
	case isLoss:
		m.s.checkLoss(p, lossCheck{from: lost.ConsumedTo, to: lost.ResetTo})
	case errors.Is(err, kerr.OffsetOutOfRange):
		m.s.checkLoss(p, lossCheck{from: max(p.reached, p.position), to: -1})
	case errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.UnknownTopicOrPartition):
		m.s.checkLoss(p, lossCheck{remade: true})
	case kerr.IsRetriable(err):
		return
	default:
		about := "partition " + string(p.name) + " cannot be read at offset " + text(max(p.reached, p.position))
		p.breaks(damage(about, err), time.Now().Add(toldEvery))
	}
}

// damage is the error of a partition that cannot be read.
func damage(about string, err error) error {
	if errors.Is(err, kgo.ErrMaxDecompress) {
		return misconfigured(about+" ("+short(err)+")", "look at who sent the batch, and move the group's position behind it")
	}
	if _, answered := errors.AsType[*kerr.Error](err); answered {
		return sourceFailure(about, err)
	}
	return misconfigured(about+" ("+short(err)+")", "look at the broker's disk, or move the group's position")
}

// breaks notes that the partition cannot be read until then. Zero: until it is assigned again.
func (p *part) breaks(err error, retry time.Time) {
	p.drop()
	p.broken = &fault{err: err, retry: retry}
}

// fence ends what the member has, as the brokers do not know it any more. The caller has the
// right to commit.
func (m *member) fence(err error) {
	s := m.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.dead {
		return
	}
	m.loseAll()
	m.dead = true
	if errors.Is(err, kerr.FencedInstanceID) {
		s.usurped = sourceFailure("group "+s.options.Group, err)
	}
	m.end.Do(func() { close(m.over) })
	s.wakeAll()
}

// loseAll ends every assignment. The caller holds the lock.
func (m *member) loseAll() {
	if m.s.member != m || m.dead {
		return
	}
	for _, name := range m.s.names() {
		m.s.lose(name)
	}
}

// abandon closes the client of a member that is over. If the brokers know it after all, they
// are told.
func (m *member) abandon(work context.Context) {
	m.s.mu.Lock()
	m.s.member = nil
	m.s.mu.Unlock()
	ctx, cancel := context.WithTimeout(work, commitTimeout)
	defer cancel()
	m.client.AllowRebalance()
	_ = m.depart(ctx) // without it the group waits for SessionTimeout
	m.abort()
	m.client.CloseAllowingRebalance()
}

// leave commits what is acked, leaves the group and closes the client, within ctx.
func (m *member) leave(ctx context.Context) error {
	stop := context.AfterFunc(ctx, m.abort) // it ends every request
	defer stop()
	err := m.s.lockCommits(ctx)
	if err == nil {
		err = m.commit(ctx)
		m.s.unlockCommits()
	}
	m.client.AllowRebalance()
	if failed := m.depart(ctx); failed != nil && err == nil && !m.isOver() {
		err = failed
	}
	m.client.CloseAllowingRebalance()
	m.abort()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &closeError{err}
}

// departWait is how long the client may take to leave the group before the brokers are asked
// to let it go.
const departWait = time.Second

// depart leaves the group. The client first waits for the answer to its JoinGroup. While the
// group waits for a member that died, that comes when the dead one's session has timed out.
// So the brokers are told beside the client, and its requests end.
func (m *member) depart(ctx context.Context) error {
	told := make(chan error, 1)
	late := time.AfterFunc(departWait, func() {
		told <- m.withdraw(ctx)
		m.abort()
	})
	err := m.client.LeaveGroupContext(ctx)
	if !late.Stop() {
		return <-told
	}
	return err
}

// withdraw tells the brokers that the member leaves. One that they do not know has left. A
// static member does not leave.
func (m *member) withdraw(ctx context.Context) error {
	id, _ := m.client.GroupMetadata()
	if id == "" || m.s.options.InstanceID != "" {
		return nil
	}
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = m.s.options.Group, id
	one := kmsg.NewLeaveGroupRequestMember()
	one.MemberID = id
	req.Members = append(req.Members, one)
	resp, err := req.RequestWith(ctx, m.s.control)
	if err != nil {
		return err
	}
	err = kerr.ErrorForCode(resp.ErrorCode)
	for _, one := range resp.Members {
		err = cmp.Or(err, kerr.ErrorForCode(one.ErrorCode))
	}
	if errors.Is(err, kerr.UnknownMemberID) {
		return nil
	}
	return err
}

// closeError says that a Close was not clean.
type closeError struct{ err error }

func (e *closeError) Error() string {
	return "kafkabroker: the source was closed, and the brokers may not know it (" + short(e.err) +
		"); what was acked may come again, and what was not comes after SessionTimeout"
}

func (e *closeError) Unwrap() []error { return []error{e.err, source.ErrUnavailable} }

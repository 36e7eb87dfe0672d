package kafkabroker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Source takes messages from Kafka, as a member of a consumer group. It is safe for
// concurrent use; one goroutine fetches.
type Source struct {
	options SourceOptions
	seeds   []string
	seen    *trouble
	control *kgo.Client // asks, and reads nothing
	admin   *kadm.Client
	life    sourcekit.Life
	tracker *sourcekit.Tracker
	// committing is held while positions are committed, from Take to the answer, and while
	// assignments end. So no position of an assignment that is over is ever committed.
	committing chan struct{}

	stop    context.CancelFunc // ends the goroutines
	running sync.WaitGroup     // of run and watch
	suspect chan struct{}      // something looks wrong: ask the brokers
	acked   chan struct{}      // there may be positions to commit

	mu       sync.Mutex
	member   *member // nil between two
	parts    map[source.Partition]*part
	turn     int                // which partition is first in the next batch
	lost     []source.Partition // what the next Fetch says
	change   chan struct{}      // closed when there may be something for Fetch, or for the member
	down     error              // no broker can be used
	joining  error              // why the group cannot be joined
	topics   map[string]*fault  // what is wrong with topics
	usurped  error              // another member has this one's InstanceID: the end
	inquests []lossCheck        // losses of data that the watcher looks into
}

var (
	_ source.Source = (*Source)(nil)
	_ source.Pauser = (*Source)(nil)
	_ source.Lagger = (*Source)(nil)
)

// fault is something wrong with a topic or a partition. Others go on beside it.
type fault struct {
	err   error
	told  time.Time // when Fetch said so last
	retry time.Time // when the partition is tried again; zero for not before it is assigned again
}

// toldEvery is how often Fetch says what is wrong with a topic while others go on.
const toldEvery = 30 * time.Second

// OpenSource makes a source, and joins the group in the background. Close it.
//
// A broker that is not there is no error: Fetch is unavailable until it is. So are a topic
// that does not exist and a login that is refused, as misconfigured. An error means that
// the options cannot be used, or that ctx is over. ctx does not matter afterwards.
func OpenSource(ctx context.Context, o SourceOptions) (*Source, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	seeds, err := addresses(o.Brokers)
	if err != nil {
		return nil, err
	}
	s := &Source{
		options: o.withDefaults(), seeds: seeds, seen: new(trouble), tracker: &sourcekit.Tracker{Window: o.Window},
		committing: make(chan struct{}, 1), suspect: make(chan struct{}, 1), acked: make(chan struct{}, 1),
		parts: map[source.Partition]*part{}, change: make(chan struct{}), topics: map[string]*fault{},
	}
	if s.control, err = kgo.NewClient(Options{Login: s.options.Login}.controlOptions(seeds, s.seen)...); err != nil {
		return nil, fmt.Errorf("kafkabroker: the client refuses the options: %w; check them", err)
	}
	s.admin = kadm.NewClient(s.control)
	first, err := s.newMember()
	if err != nil {
		s.control.Close()
		return nil, fmt.Errorf("kafkabroker: the client refuses the options: %w; check them", err)
	}
	work, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.running.Go(func() { s.run(work, first) })
	s.running.Go(func() { s.watch(work) })
	return s, nil
}

// Features implements source.Source.
func (s *Source) Features() source.Features {
	return source.Features{Order: source.OrderPartition, Places: true, Cumulative: true, Binding: broker.BindingKafka}
}

// Close implements source.Source. A static member stays in the group for SessionTimeout.
func (s *Source) Close(ctx context.Context) error {
	return s.life.Close(ctx, func(ctx context.Context) error {
		s.stop()
		s.await(ctx)
		var err error
		if s.member != nil { // nobody else is there any more
			err = s.member.leave(ctx)
		}
		s.control.Close()
		return err
	})
}

// await waits until the goroutines have ended. When ctx ends, so does all that they wait for.
func (s *Source) await(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.member != nil {
			s.member.abort()
		}
	})
	defer stop()
	s.running.Wait()
}

// wakeAll wakes Fetch and the member. The caller holds the lock.
func (s *Source) wakeAll() {
	close(s.change)
	s.change = make(chan struct{})
	if s.member != nil && s.member.interrupt != nil {
		s.member.interrupt()
	}
}

// lockCommits waits until nobody commits, but no longer than ctx.
func (s *Source) lockCommits(ctx context.Context) error {
	select {
	case s.committing <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.committing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Source) unlockCommits() { <-s.committing }

// signal notes something in a channel that holds one note.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Pause implements source.Pauser.
func (s *Source) Pause(partitions ...source.Partition) { s.setPaused(partitions, true) }

// Resume implements source.Pauser.
func (s *Source) Resume(partitions ...source.Partition) { s.setPaused(partitions, false) }

func (s *Source) setPaused(partitions []source.Partition, paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for _, name := range partitions {
		if p := s.parts[name]; p != nil && p.paused != paused {
			p.paused = paused
			changed = true
		}
	}
	if changed {
		s.wakeAll()
	}
}

// Lag implements source.Lagger. Messages counts offsets: those of markers of transactions,
// and of messages that compaction removed, are among them until the source has passed them.
func (s *Source) Lag(ctx context.Context) ([]source.Lag, error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := s.lockCommits(ctx); err != nil {
		return nil, err
	}
	s.notePositions()
	s.unlockCommits()
	topics := s.topicsHeld()
	if len(topics) == 0 {
		return nil, nil
	}
	starts, err := s.admin.ListStartOffsets(ctx, topics...)
	ends := kadm.ListedOffsets{}
	if err == nil {
		ends, err = s.listEnds(ctx, topics...)
	}
	if err = errors.Join(err, starts.Error(), ends.Error()); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, sourceFailure("the offsets of the topics cannot be listed", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []source.Lag
	for _, name := range s.names() {
		p := s.parts[name]
		start, found := starts.Lookup(p.topic, p.number)
		end, found2 := ends.Lookup(p.topic, p.number)
		if found && found2 {
			all = append(all, p.lag(start.Offset, end.Offset, time.Now()))
		}
	}
	return all, nil
}

// listEnds returns where what a reader may see ends.
func (s *Source) listEnds(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	if s.options.ReadUncommitted {
		return s.admin.ListEndOffsets(ctx, topics...)
	}
	return s.admin.ListCommittedOffsets(ctx, topics...)
}

func (s *Source) topicsHeld() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]bool{}
	var all []string
	for _, name := range s.names() {
		if topic := s.parts[name].topic; !seen[topic] {
			seen[topic] = true
			all = append(all, topic)
		}
	}
	return all
}

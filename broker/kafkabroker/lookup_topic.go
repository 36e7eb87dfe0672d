package kafkabroker

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/postbag/postbag/broker"
)

// target is what is known of a topic.
type target struct {
	name       string
	id         [16]byte
	partitions int32
	led        []int32 // partitions that had a leader
	leaders    []int32 // brokers that led one
	request    int     // the largest that they take, zero if it is not known
	replicas   int     // of the partition that has the fewest
	inSync     int     // of the partition that has the fewest
	leaderless bool    // some partition has no leader
	settings
	checked time.Time
}

// settings are those of a topic that decide what it takes and keeps. The zero value
// of a limit is not known, or none.
type settings struct {
	known     bool // they could be asked for
	maxBytes  int  // of a batch
	minInSync int
	compacted bool
	ownTime   bool // the broker puts its own time in place of the record's
	before    time.Duration
	after     time.Duration
	unclean   bool // a replica that is behind may become leader
	keeps     time.Duration
}

// defaultMaxBytes is max.message.bytes where it could not be asked for: Kafka's
// default.
const defaultMaxBytes = 1_048_588

// limit is the largest batch that the topic takes, and its brokers in a request.
func (t *target) limit() int {
	most := defaultMaxBytes
	if t.maxBytes > 0 {
		most = min(t.maxBytes, maxRequest)
	}
	if t.request > 0 {
		most = min(most, max(t.request-requestFrame, batchFrame))
	}
	return most
}

// anyPartition is one for a message without a key, with a leader if one has.
func (t *target) anyPartition() int32 {
	if len(t.led) > 0 {
		return t.led[rand.IntN(len(t.led))]
	}
	return rand.Int32N(t.partitions)
}

// timestamp is at, unless the topic would refuse it now.
func (t *target) timestamp(at, now time.Time) time.Time {
	const margin = time.Minute
	switch {
	case at.IsZero(), t.ownTime:
		return now
	case t.after > 0 && at.Sub(now) > max(t.after-margin, 0), t.before > 0 && now.Sub(at) > max(t.before-margin, 0):
		return now
	}
	return at
}

// topics remembers what is known of topics. It is safe for concurrent use.
type topics struct {
	ask     asker
	create  *Create
	recheck time.Duration
	renew   func() // producers' knowledge of topics is out of date

	asking sync.Mutex // one question at a time

	mu       sync.Mutex
	known    map[string]*target
	old      map[string]*target // what was forgotten, to compare with
	suspects map[string]bool    // topics whose messages were not answered
	requests requests           // what brokers take
}

// asker sends a request to whichever broker can answer it.
type asker interface {
	Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error)
}

const (
	// refusalTrust is how long a topic's limit is trusted when a message is to be
	// refused for it: an operator who raised it need not wait before a retry.
	refusalTrust = time.Second
	// maxTopics bounds what is remembered.
	maxTopics = 10_000
)

// find returns the topic, from memory not older than trust, or by asking. The error
// is an answer for every message of the topic.
func (s *topics) find(ctx context.Context, name string, now time.Time, trust time.Duration) (*target, *broker.Error) {
	if t := s.recall(name, now, trust); t != nil {
		return t, nil
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	if t := s.recall(name, now, trust); t != nil { // somebody else has asked since
		return t, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	t, f := s.lookUp(ctx, name)
	if f != nil && f.Outcome == broker.Unavailable {
		if old := s.recall(name, now, 24*time.Hour); old != nil { // the question failed, which need not hold up a topic that was there
			t, f = old, nil
		}
	}
	if f != nil {
		return nil, f
	}
	s.remember(t)
	return t, nil
}

func (s *topics) recall(name string, now time.Time, trust time.Duration) *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.known[name]; t != nil && now.Sub(t.checked) < trust {
		return t
	}
	return nil
}

func (s *topics) remember(t *target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known, s.old = map[string]*target{}, map[string]*target{}
	}
	if len(s.known) >= maxTopics {
		clear(s.known)
		clear(s.old)
	}
	before := s.known[t.name]
	if before == nil {
		before = s.old[t.name]
	}
	if before != nil && (before.partitions != t.partitions || before.id != t.id) {
		s.renew()
	}
	fresh := *t
	fresh.checked = time.Now()
	s.known[t.name] = &fresh
	delete(s.old, t.name)
}

// forget makes the next find ask again: an answer contradicted what is known.
func (s *topics) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.known[name]; t != nil {
		s.old[name] = t
		delete(s.known, name)
	}
}

// suspect notes a topic whose messages were not answered: the next ones are not sent
// before it was looked at.
func (s *topics) suspect(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suspects == nil || len(s.suspects) > 100 {
		s.suspects = map[string]bool{}
	}
	s.suspects[name] = true
}

// suspected says whether a topic is noted.
func (s *topics) suspected(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.suspects[name]
}

// clear ends a suspicion.
func (s *topics) clear(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.suspects, name)
}

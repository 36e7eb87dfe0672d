package natsbroker

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
)

// target is what is known of the stream that takes a subject.
type target struct {
	name     string // empty: not known, the API may not be asked
	subjects []string
	maxBytes int           // headers and payload of a message; zero: no limit known
	fault    *broker.Error // the stream cannot take messages at all
	mapped   bool          // it stores messages at other subjects
	checked  time.Time
}

// limit is the largest message, headers and payload, that the stream takes by way
// of a server with this max_payload. Zero, of either, is not known.
func (t *target) limit(maxPayload int) int {
	if t.maxBytes > 0 && (maxPayload == 0 || t.maxBytes < maxPayload) {
		return t.maxBytes
	}
	return maxPayload
}

// takes says whether subject is one of the stream's.
func (t *target) takes(subject string) bool {
	return slices.ContainsFunc(t.subjects, func(filter string) bool { return matches(filter, subject) })
}

// streams remembers which stream takes which subject. It is safe for concurrent
// use.
type streams struct {
	js      jetstream.JetStream
	named   string // Options.Stream
	recheck time.Duration

	asking sync.Mutex // one question at a time

	mu        sync.Mutex
	known     []*target
	bySubject map[string]*target
}

const (
	// lookupTimeout is how long the API may take to answer.
	lookupTimeout = 5 * time.Second
	// refusalTrust is how long a stream's limit is trusted when a message is to be
	// refused for it: an operator who raised it need not wait before a retry.
	refusalTrust = time.Second
	// maxSubjects bounds what is remembered of subjects.
	maxSubjects = 10_000
)

// find returns the stream that takes subject, from memory or by asking. The
// error is an answer for every message of the subject.
func (s *streams) find(ctx context.Context, subject string, now time.Time) (*target, *broker.Error) {
	return s.findWithin(ctx, subject, now, s.recheck)
}

// findWithin is find that trusts memory for so long.
func (s *streams) findWithin(ctx context.Context, subject string, now time.Time, trust time.Duration) (*target, *broker.Error) {
	if t := s.recall(subject, now, trust); t != nil {
		return t, t.fault
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	if t := s.recall(subject, now, trust); t != nil { // somebody else has asked since
		return t, t.fault
	}
	old := s.stale(subject)
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	t, failed := s.ask(ctx, subject)
	switch {
	case failed == nil:
	case failed.Outcome == broker.Misconfigured || old == nil:
		return nil, failed
	default: // the API is away, which need not hold up a stream that was there
		t = old
	}
	s.remember(subject, t)
	return t, t.fault
}

// recall returns what is known and fresh.
func (s *streams) recall(subject string, now time.Time, trust time.Duration) *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := func(t *target) bool { return now.Sub(t.checked) < trust }
	if t := s.bySubject[subject]; t != nil && fresh(t) {
		return t
	}
	for _, t := range s.known {
		if fresh(t) && (s.named != "" || t.takes(subject)) {
			s.link(subject, t)
			return t
		}
	}
	return nil
}

// stale returns what was known of subject before it grew old.
func (s *streams) stale(subject string) *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bySubject[subject]
}

func (s *streams) link(subject string, t *target) {
	if len(s.bySubject) >= maxSubjects {
		clear(s.bySubject)
	}
	s.bySubject[subject] = t
}

func (s *streams) remember(subject string, t *target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := *t
	fresh.checked = time.Now()
	s.known = append(slices.DeleteFunc(s.known, func(k *target) bool { return k.name == t.name }), &fresh)
	s.link(subject, &fresh)
}

// mapped says whether a message may be stored at another subject than the one that it
// was sent to: the stream maps it, or perhaps the account.
func (s *streams) mapped(subject string) bool {
	t := s.stale(subject)
	return s.named != "" || t != nil && t.mapped
}

// theNamed returns what is known of Options.Stream, nil when that is nothing.
func (s *streams) theNamed() *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named == "" || len(s.known) == 0 || s.known[0].fault != nil {
		return nil
	}
	return s.known[0]
}

// check asks for the stream of a subject whatever is known of it; any subject
// will do where a stream is named.
func (s *streams) check(ctx context.Context, subject string) (*target, *broker.Error) {
	s.forget()
	return s.find(ctx, subject, time.Now())
}

// forget makes the next find ask again: an answer contradicted what is known.
func (s *streams) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = nil
	clear(s.bySubject)
}

// newTarget takes what matters from a stream's configuration.
func newTarget(c jetstream.StreamConfig) *target {
	t := &target{name: c.Name, subjects: c.Subjects, mapped: c.SubjectTransform != nil}
	if c.MaxMsgSize > 0 {
		t.maxBytes = int(c.MaxMsgSize)
	}
	var reason, fix string
	switch {
	case c.NoAck:
		reason, fix = "acknowledges nothing (no_ack)", "turn acknowledgements on"
	case c.Sealed:
		reason, fix = "is sealed", "use another"
	case c.AllowMsgCounter:
		reason, fix = "counts, and takes no other messages (allow_msg_counter)", "use another"
	default:
		return t
	}
	t.fault = adapter.TopicFailure(broker.Misconfigured, fmt.Sprintf("stream %q %s", c.Name, reason), fix)
	return t
}

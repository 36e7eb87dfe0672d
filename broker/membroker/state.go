package membroker

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// state is the broker itself, which its clients share.
type state struct {
	options Options

	mu      sync.Mutex
	topics  []string
	failing map[string]broker.Outcome // topics that fail, and how
	down    bool
	mute    bool
	hold    chan struct{} // nil: nothing is held
	calls   int
	tries   map[postbag.ID]int
	ids     map[postbag.ID][]int // the records of an id
	records []Record
	answers []Answer
	lanes   map[broker.LaneName]*laneState
	change  chan struct{} // closed and renewed when a record is added
}

func newState(o Options) *state {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &state{
		options: o, topics: slices.Clone(o.Topics), failing: map[string]broker.Outcome{},
		tries: map[postbag.ID]int{}, ids: map[postbag.ID][]int{}, lanes: map[broker.LaneName]*laneState{}, change: make(chan struct{}),
	}
}

func (s *state) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// begin counts a call.
func (s *state) begin() (call int) {
	s.locked(func() {
		s.calls++
		call = s.calls
	})
	return call
}

// decide counts a try of m and asks what to do with it.
func (s *state) decide(m broker.Delivery) (Act, int) {
	var try int
	var hold chan struct{}
	var mute bool
	s.locked(func() {
		s.tries[m.ID]++
		try, hold, mute = s.tries[m.ID], s.hold, s.mute
	})
	var act Act
	if s.options.Decide != nil {
		act = s.options.Decide(m, try)
	}
	if hold != nil && act.Hold == nil {
		act.Hold = hold
	}
	if mute {
		act.Silence = make(chan struct{})
	}
	return act, try
}

// take stores m, or says why not.
func (s *state) take(m broker.Delivery, act Act, call int) broker.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refusal(m); err != nil {
		return broker.Result{Outcome: err.Outcome, Scope: err.Scope, Err: err}
	}
	if act.Err != nil && !act.Store {
		return broker.Result{Outcome: broker.OutcomeOf(act.Err), Scope: broker.ScopeOf(act.Err), Err: act.Err, After: act.After, Note: act.Note}
	}
	result := broker.Result{Outcome: broker.Accepted, After: act.After, Note: act.Note}
	if s.options.Fence && s.has(m) {
		result.Note = "duplicate"
	} else {
		s.store(m, call)
	}
	if act.Err != nil {
		result.Outcome, result.Err = broker.OutcomeOf(act.Err), act.Err
	}
	return result
}

// has says whether m is stored as it is now: another subscription may have sent it to
// another topic, or with another encoder. The caller holds s.mu.
func (s *state) has(m broker.Delivery) bool {
	return slices.ContainsFunc(s.ids[m.ID], func(i int) bool { return s.records[i].holds(m) })
}

// store keeps m. The caller holds s.mu.
func (s *state) store(m broker.Delivery, call int) {
	s.ids[m.ID] = append(s.ids[m.ID], len(s.records))
	s.records = append(s.records, record(m, s.options.Now(), call))
	close(s.change)
	s.change = make(chan struct{})
}

// refusal says why the broker does not take m whatever was decided.
func (s *state) refusal(m broker.Delivery) *broker.Error {
	switch limit := s.options.MaxBytes; {
	case s.down:
		return &broker.Error{Outcome: broker.Unavailable, Err: errDown}
	case len(s.topics) > 0 && !slices.Contains(s.topics, m.Topic):
		return &broker.Error{Outcome: broker.Misconfigured, Scope: broker.ScopeTopic, Err: errNoTopic}
	case s.failing[m.Topic] != broker.Unknown:
		return &broker.Error{Outcome: s.failing[m.Topic], Scope: broker.ScopeTopic, Err: errTopic}
	case limit > 0 && len(m.Payload) > limit:
		return &broker.Error{Outcome: broker.Rejected, Err: fmt.Errorf(
			"membroker: the payload has %d bytes, %d are allowed; send less, or raise Options.MaxBytes", len(m.Payload), limit)}
	}
	return nil
}

// answered keeps what a sender is told.
func (s *state) answered(m broker.Delivery, try int, r broker.Result) {
	s.locked(func() {
		s.answers = append(s.answers, Answer{Result: r, ID: m.ID, Try: try, Given: s.options.Now()})
	})
}

var (
	errDown    = errors.New("membroker: the broker is down; bring it up with SetDown(false)")
	errNoTopic = errors.New("membroker: no such topic; name it in Options.Topics, or make it with AddTopic")
	errTopic   = errors.New("membroker: the topic fails; end that with RestoreTopic")
	errNoReply = errors.New("membroker: no answer came before the context ended; send the message again")
	errLate    = errors.New("membroker: the context ended before the message was sent; send it again")
	errBlocked = errors.New("membroker: an earlier message of the key was not accepted; send this one after it")
)

package brokertest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/suitetest"
)

// short bounds a wait that is meant to end with its context.
const short = 500 * time.Millisecond

// scene is one case at work: its fixture, its source of messages, and what
// every call must keep whatever the case is about.
type scene struct {
	*testing.T

	h      Harness
	f      Fixture
	random *rand.Rand
	made   int
	// warm is what openMute sent.
	warm []broker.Delivery
	// canaries are texts that no error of this case may contain.
	canaries []string
}

// newScene makes a scene without a fixture; its messages are the same in every
// run of the same case.
func newScene(t *testing.T, h Harness) *scene {
	t.Helper()
	return &scene{
		T: t, h: h,
		random:   suitetest.Random(t),
		canaries: append(slices.Clone(h.Secrets), canaryKey, canaryValue, canaryPayload),
	}
}

// open gives the scene its plain fixture.
func (s *scene) open() *scene {
	s.Helper()
	return s.use(s.h.Open(s.T))
}

// use gives the scene a fixture and closes its destination with the case.
func (s *scene) use(f Fixture) *scene {
	s.Helper()
	if f.Destination == nil || f.Stored == nil || f.Topic == "" {
		s.Fatal("brokertest: the harness opened a fixture without Destination, Topic or Stored")
	}
	if (f.Wired == nil) == s.h.has(PartWire) {
		s.Fatal("brokertest: a fixture has Wired, or else Harness.Lacks[PartWire] says why not; keep to one of them")
	}
	s.f = f
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.h.patience())
		defer cancel()
		if err := f.Destination.Close(ctx); err != nil {
			s.Errorf("Close at the end of the case: %v", err)
		}
	})
	return s
}

// patient is the context of what should succeed.
func (s *scene) patient() context.Context { return s.within(s.h.patience()) }

func (s *scene) within(d time.Duration) context.Context { return suitetest.Within(s.T, d) }

// publish sends msgs as one call, or in as many as MaxBatch asks for, and holds
// what every call must hold: results for all, errors for all but the accepted,
// no secret in an error, the messages as they were.
func (s *scene) publish(ctx context.Context, msgs ...broker.Delivery) []broker.Result {
	s.Helper()
	results := make([]broker.Result, len(msgs))
	before := clone(msgs)
	s.send(ctx, msgs, results)
	for i := range msgs {
		if d := difference(before[i], received(msgs[i])); d != "" {
			s.Errorf("Publish changed message %d: %s", i, d)
		}
	}
	s.sane(results)
	return results
}

// send makes the calls. Where a call may hold only some of the messages they go
// side by side, unless a key would then be in two calls at a time.
func (s *scene) send(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
	s.Helper()
	size := s.f.Destination.Features().MaxBatch
	if size <= 0 || len(msgs) <= size {
		s.call(ctx, msgs, results)
		return
	}
	width := 16
	if repeatsKey(msgs) {
		width = 1
	}
	var calls sync.WaitGroup
	slots := make(chan struct{}, width)
	for at := 0; at < len(msgs); at += size {
		end := min(at+size, len(msgs))
		slots <- struct{}{}
		calls.Go(func() {
			s.call(ctx, msgs[at:end:end], results[at:end:end])
			<-slots
		})
	}
	calls.Wait()
}

// call is one Publish, whose reports become results.
func (s *scene) call(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
	s.Helper()
	r := reports{scene: s, results: results, told: make([]bool, len(results))}
	s.f.Destination.Publish(ctx, msgs, r.report)
	r.end()
}

// reports collects what a Publish says.
type reports struct {
	*scene

	mu      sync.Mutex
	results []broker.Result
	told    []bool
	over    bool
}

func (r *reports) report(i int, result broker.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over:
		r.Errorf("a report came after Publish had returned: message %d is %v", i, result.Outcome)
	case i < 0 || i >= len(r.told):
		r.Errorf("message %d was reported in a call of %d", i, len(r.told))
	case r.told[i]:
		r.Errorf("message %d was reported twice, now as %v", i, result.Outcome)
	default:
		r.told[i], r.results[i] = true, result
	}
}

func (r *reports) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// sane checks what holds for any results.
func (s *scene) sane(results []broker.Result) {
	s.Helper()
	for i, r := range results {
		if r.Outcome < broker.Unknown || r.Outcome > broker.NotSent {
			s.Errorf("result %d: outcome %d is none of package broker's", i, int(r.Outcome))
		}
		unreported := r == broker.Result{}
		if !unreported && (r.Outcome == broker.Accepted) != (r.Err == nil) {
			s.Errorf("result %d: %v with error %v; an error belongs to every outcome but accepted", i, r.Outcome, r.Err)
		}
		if r.Err != nil {
			s.discreet(r.Err)
		}
		if e, ok := errors.AsType[*broker.Error](r.Err); ok && held(r.Outcome) && e.Scope != r.Scope {
			s.Errorf("result %d has the scope %v, its error %v", i, r.Scope, e.Scope)
		}
		if r.Scope != broker.ScopeDestination && (r.Scope != broker.ScopeTopic || !held(r.Outcome)) {
			s.Errorf("result %d: %v has the scope %v; only misconfigured and unavailable have one", i, r.Outcome, r.Scope)
		}
		if r.After < 0 {
			s.Errorf("result %d asks to wait %v", i, r.After)
		}
	}
}

// held says whether what is in the scope of an outcome waits.
func held(o broker.Outcome) bool { return o == broker.Misconfigured || o == broker.Unavailable }

// discreet fails when an error says what must not be said, or nothing at all.
func (s *scene) discreet(err error) {
	s.Helper()
	suitetest.Discreet(s.T, err, s.canaries)
}

// accept publishes msgs and wants each accepted.
func (s *scene) accept(msgs ...broker.Delivery) {
	s.Helper()
	s.all(broker.Accepted, s.publish(s.patient(), msgs...))
}

// all wants every result to be one of outcome.
func (s *scene) all(outcome broker.Outcome, results []broker.Result) {
	s.Helper()
	s.among(results, outcome)
}

// among wants every result to be one of outcomes.
func (s *scene) among(results []broker.Result, outcomes ...broker.Outcome) {
	s.Helper()
	for i, r := range results {
		if !slices.Contains(outcomes, r.Outcome) {
			s.Fatalf("message %d of %d is %v (%v), want %v", i, len(results), r.Outcome, r.Err, outcomes)
		}
	}
}

// until repeats try until it says true, and fails after the harness's patience.
func (s *scene) until(what string, try func() bool) {
	s.Helper()
	suitetest.Until(s.T, s.h.patience(), what, try)
}

// elapsed says whether d has passed since it was made.
func (s *scene) elapsed(d time.Duration) func() bool {
	began := time.Now()
	return func() bool { return time.Since(began) >= d }
}

// recover publishes msgs, again and again those that were not accepted, as a
// relay would: nothing of a key before the earlier ones are accepted.
func (s *scene) recover(msgs ...broker.Delivery) {
	s.Helper()
	rest := msgs
	s.until("accepted after the fault ended", func() bool {
		results := s.publish(s.within(2*time.Second), rest...)
		var again []broker.Delivery
		for i, r := range results {
			if r.Outcome != broker.Accepted {
				again = append(again, rest[i])
			}
		}
		rest = again
		return len(rest) == 0
	})
}

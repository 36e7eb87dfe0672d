package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/suitetest"
	"github.com/postbag/postbag/source"
)

// What messages of the suite hold in the places that no error may quote.
const (
	canaryKey     = "canarykey"
	canaryValue   = "canaryvalue"
	canaryPayload = "canarypayload"
)

// header carries the number of a message of the suite.
const header = "sourcetest-number"

// scene is one case at work: its fixture, its messages, and what every call must keep
// whatever the case is about.
type scene struct {
	*testing.T

	h        Harness
	f        Fixture
	random   *rand.Rand
	canaries []string
	sent     []source.Message // by number

	mu       sync.Mutex
	receipts map[source.Source]map[source.Receipt]bool
	lost     map[source.Source][]source.Partition
	places   map[source.Place]int
}

// newScene makes a scene without a fixture; its messages are the same in every run of the
// same case.
func newScene(t *testing.T, h Harness) *scene {
	t.Helper()
	return &scene{
		T: t, h: h,
		random:   suitetest.Random(t),
		canaries: append(slices.Clone(h.Secrets), canaryKey, canaryValue, canaryPayload),
		receipts: map[source.Source]map[source.Receipt]bool{},
		lost:     map[source.Source][]source.Partition{},
		places:   map[source.Place]int{},
	}
}

// open gives the scene its plain fixture.
func (s *scene) open() *scene {
	s.Helper()
	return s.use(s.h.Open(s.T))
}

func (s *scene) use(f Fixture) *scene {
	s.Helper()
	if faults := f.validate(s.h); len(faults) > 0 {
		s.Fatalf("sourcetest: the harness opened %s", strings.Join(faults, "; "))
	}
	s.f = f
	return s
}

// join makes a member, which is closed with the case.
func (s *scene) join() source.Source {
	s.Helper()
	src := s.f.Join(s.T)
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.h.patience())
		defer cancel()
		_ = src.Close(ctx)
	})
	return src
}

func (s *scene) within(d time.Duration) context.Context { return suitetest.Within(s.T, d) }

func (s *scene) patient() context.Context { return s.within(s.h.patience()) }

// message makes one, with a number.
func (s *scene) message() source.Message {
	n := len(s.sent)
	m := source.Message{
		Key:     fmt.Sprintf("%s-%d", canaryKey, n%3),
		Headers: source.Headers{{Name: header, Value: strconv.Itoa(n)}, {Name: "made", Value: fmt.Sprintf("%s-%d", canaryValue, n)}},
		Payload: fmt.Appendf(nil, `{"%s":%d}`, canaryPayload, n),
	}
	s.sent = append(s.sent, m)
	return m
}

// send sends n messages of three keys.
func (s *scene) send(n int) {
	s.Helper()
	msgs := make([]source.Message, n)
	for i := range msgs {
		msgs[i] = s.message()
	}
	s.f.Send(s.T, msgs...)
}

// sendWith sends a message that is changed first.
func (s *scene) sendWith(change func(m *source.Message)) {
	s.Helper()
	m := s.message()
	change(&m)
	s.sent[len(s.sent)-1] = m
	s.f.Send(s.T, m)
}

func (s *scene) bytes(n int) []byte { return suitetest.Bytes(s.random, n) }

// number returns which message it is.
func (s *scene) number(m source.Message) int {
	s.Helper()
	text, _ := m.Headers.Get(header)
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= len(s.sent) {
		s.Fatalf("a message came that was not sent: its number is %q", text)
	}
	return n
}

func (s *scene) numbers(msgs []source.Message) []int {
	s.Helper()
	all := make([]int, len(msgs))
	for i, m := range msgs {
		all[i] = s.number(m)
	}
	return all
}

// call is one Fetch, and holds what each must hold.
func (s *scene) call(ctx context.Context, src source.Source, limits source.Limits) (source.Batch, error) {
	s.Helper()
	batch, err := src.Fetch(ctx, limits)
	if err != nil {
		s.discreet(err)
		if len(batch.Messages) > 0 || len(batch.Lost) > 0 {
			s.Errorf("Fetch returned a batch and an error: %v", err)
		}
		return batch, err
	}
	if len(batch.Messages) == 0 && len(batch.Lost) == 0 {
		s.Error("Fetch returned nothing, and no error")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range batch.Lost {
		if slices.Contains(batch.Lost[:i], p) {
			s.Errorf("a batch names the lost partition %q twice", p)
		}
	}
	s.lost[src] = append(s.lost[src], batch.Lost...)
	for _, m := range batch.Messages {
		s.sane(src, m)
	}
	return batch, nil
}

// sane checks what holds for any message.
func (s *scene) sane(src source.Source, m source.Message) {
	s.Helper()
	features := s.h.Features
	if m.Receipt == (source.Receipt{}) || s.receipts[src][m.Receipt] {
		s.Errorf("a receipt is zero, or names two deliveries: %+v", m.Receipt)
	}
	if s.receipts[src] == nil {
		s.receipts[src] = map[source.Receipt]bool{}
	}
	s.receipts[src][m.Receipt] = true
	if m.Place.IsZero() == features.Places {
		s.Errorf("a message has the place %v, and Features.Places is %v", m.Place, features.Places)
	}
	if (m.Deliveries > 0) != features.Counts || m.Deliveries < 0 {
		s.Errorf("a message has %d deliveries, and Features.Counts is %v", m.Deliveries, features.Counts)
	}
	if m.Time.IsZero() && !s.h.NoTimes && m.Err == nil {
		s.Error("a message has no time")
	}
	s.saneFault(m)
	if errors.Is(m.Err, source.ErrUndecodable) {
		return
	}
	if n := s.number(m); features.Places {
		if other, there := s.places[m.Place]; there && other != n {
			s.Errorf("messages %d and %d have one place, %v", other, n, m.Place)
		}
		for place, other := range s.places {
			if other == n && place != m.Place {
				s.Errorf("message %d has the places %v and %v", n, place, m.Place)
			}
		}
		s.places[m.Place] = n
	}
}

// saneFault checks what holds for the error of any message.
func (s *scene) saneFault(m source.Message) {
	s.Helper()
	if m.Err == nil {
		return
	}
	tooLarge := errors.Is(m.Err, source.ErrTooLarge)
	if !tooLarge && !errors.Is(m.Err, source.ErrUndecodable) {
		s.Errorf("a message has an error that is neither ErrTooLarge nor ErrUndecodable: %v", m.Err)
	}
	s.discreet(m.Err)
	if tooLarge && len(m.Payload) > 0 {
		s.Errorf("a message that is too large has %d bytes of its payload", len(m.Payload))
	}
}

// discreet fails when an error says what must not be said, or nothing at all.
func (s *scene) discreet(err error) {
	s.Helper()
	suitetest.Discreet(s.T, err, s.canaries)
}

// fetch returns messages until there are n, in calls of any size.
func (s *scene) fetch(src source.Source, n int) []source.Message {
	s.Helper()
	return s.fetchWithin(src, n, source.Limits{})
}

func (s *scene) fetchWithin(src source.Source, n int, limits source.Limits) []source.Message {
	s.Helper()
	ctx := s.patient()
	var msgs []source.Message
	for len(msgs) < n {
		batch, err := s.call(ctx, src, limits)
		if err != nil {
			s.Fatalf("Fetch, after %d of %d messages: %v", len(msgs), n, err)
		}
		msgs = append(msgs, batch.Messages...)
	}
	if len(msgs) > n {
		s.Fatalf("%d messages came, want %d: %v", len(msgs), n, s.numbers(msgs))
	}
	return msgs
}

// rest returns the messages that come until nothing comes any more. It waits with patience
// for the first n.
func (s *scene) rest(src source.Source, n int) []source.Message {
	s.Helper()
	patient := s.patient()
	var msgs []source.Message
	for {
		ctx := patient
		if len(msgs) >= n {
			ctx = s.within(s.h.quiet())
		}
		batch, err := s.call(ctx, src, source.Limits{})
		switch {
		case err == nil && len(batch.Messages) == 0 && len(batch.Lost) == 0: // call has said that this is wrong, and it may go on for ever
			return msgs
		case err == nil:
			msgs = append(msgs, batch.Messages...)
		case len(msgs) >= n && errors.Is(err, context.DeadlineExceeded):
			return msgs
		default:
			s.Fatalf("Fetch, after %d messages: %v", len(msgs), err)
		}
	}
}

// nothing wants no message to come.
func (s *scene) nothing(src source.Source) {
	s.Helper()
	if msgs := s.rest(src, 0); len(msgs) > 0 {
		s.Fatalf("%d messages came, want none: %v", len(msgs), s.numbers(msgs))
	}
}

func receipts(msgs []source.Message) []source.Receipt {
	all := make([]source.Receipt, len(msgs))
	for i, m := range msgs {
		all[i] = m.Receipt
	}
	return all
}

// ack acks messages, of which this many must be lost.
func (s *scene) ack(src source.Source, lost int, msgs ...source.Message) {
	s.Helper()
	got, err := src.Ack(s.patient(), receipts(msgs))
	if err != nil {
		s.Fatalf("Ack of %d messages: %v", len(msgs), err)
	}
	if got != lost {
		s.Errorf("Ack counts %d of %d as lost, want %d", got, len(msgs), lost)
	}
}

func (s *scene) release(src source.Source, after time.Duration, msgs ...source.Message) {
	s.Helper()
	if err := src.Release(s.patient(), receipts(msgs), after); err != nil {
		s.Fatalf("Release of %d messages: %v", len(msgs), err)
	}
}

// close closes a source, which must succeed.
func (s *scene) close(src source.Source) {
	s.Helper()
	if err := src.Close(s.patient()); err != nil {
		s.Fatalf("Close: %v", err)
	}
}

// only returns the messages with these numbers; except returns the others.
func (s *scene) only(msgs []source.Message, keep func(n int) bool) (kept, others []source.Message) {
	s.Helper()
	for _, m := range msgs {
		if keep(s.number(m)) {
			kept = append(kept, m)
		} else {
			others = append(others, m)
		}
	}
	return kept, others
}

// all wants each of these numbers to have come, and others only if they may.
func (s *scene) all(msgs []source.Message, must, may func(n int) bool) {
	s.Helper()
	came := map[int]int{}
	for _, n := range s.numbers(msgs) {
		came[n]++
	}
	for n := range s.sent {
		switch {
		case must(n) && came[n] == 0:
			s.Errorf("message %d did not come", n)
		case came[n] > 0 && !must(n) && !may(n):
			s.Errorf("message %d came, and must not", n)
		case came[n] > 1:
			s.Errorf("message %d came %d times", n, came[n])
		}
	}
}

func every(int) bool { return true }
func none(int) bool  { return false }

// inOrder wants the messages of each partition in the order in which they were sent.
func (s *scene) inOrder(msgs []source.Message) {
	s.Helper()
	if s.h.Features.Order == source.OrderNone {
		return
	}
	last := map[source.Partition]int{}
	for _, m := range msgs {
		n := s.number(m)
		if before, there := last[m.Partition]; there && n <= before {
			s.Errorf("message %d came after message %d of its partition", n, before)
		}
		last[m.Partition] = n
	}
}

// partitions returns those of messages, each once.
func partitions(msgs []source.Message) []source.Partition {
	var all []source.Partition
	for _, m := range msgs {
		if !slices.Contains(all, m.Partition) {
			all = append(all, m.Partition)
		}
	}
	return all
}

// together runs functions side by side and waits for them.
func together(run ...func()) {
	var group sync.WaitGroup
	for _, f := range run {
		group.Go(f)
	}
	group.Wait()
}

package redisbroker_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/source"
)

// heard collects what a source tells beside its calls.
type heard struct {
	mu   sync.Mutex
	errs []error
}

func (h *heard) fault(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.errs = append(h.errs, err)
}

func (h *heard) said(words string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.errs, func(err error) bool { return strings.Contains(err.Error(), words) })
}

func TestTwoMembersShareTheMessages(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	a, b := openSource(t, p.taking(server)), openSource(t, p.taking(server))
	p.store(t, 0, 100)
	came := map[string]int{}
	for range 5 {
		for _, s := range []*redisbroker.Source{a, b} {
			batch, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{Messages: 10})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range batch.Messages {
				came[string(m.Payload)]++
			}
			ack(t, s, 0, batch.Messages...)
		}
	}
	if len(came) != 100 {
		t.Errorf("%d messages came of 100", len(came))
	}
	nothing(t, a, 200*time.Millisecond)
	nothing(t, b, 200*time.Millisecond)
}

func TestNewOnlyLeavesOutWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	p.store(t, 0, 3)
	o := p.taking(server)
	o.NewOnly = true
	s := openSource(t, o)
	p.store(t, 3, 2)
	msgs, _ := take(t, s, 2)
	wantNumbers(t, msgs, 3, 5)
}

func TestAStreamThatMustExistIsMisconfiguredForASourceUntilItDoes(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	o := p.taking(server)
	o.Existing = true
	_, err := redisbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), o)
	if !saysThat(err, source.ErrMisconfigured, "does not exist; create it") {
		t.Errorf("OpenSource: %v", err)
	}
	p.store(t, 0, 2)
	s := openSource(t, o)
	msgs, _ := take(t, s, 2)
	if err := p.client.Del(t.Context(), p.topic).Err(); err != nil {
		t.Fatal(err)
	}
	saysUntil(t, s, source.ErrMisconfigured, "does not exist; create it")
	p.store(t, 2, 2)
	more, _ := take(t, s, 2)
	wantNumbers(t, more, 2, 4)
	ack(t, s, 2, msgs...)
}

// Whether a Fetch waits meanwhile, or none does, nothing of the new stream is left out. The group was made for new messages,
// and all are.
func TestAStreamThatWasDeletedCostsNoMessageOfTheNextOne(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]bool{"while a Fetch waits": true, "between two calls": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, nil)
			p := newPlace(admin(t, server))
			o, told := p.taking(server), new(heard)
			o.NewOnly, o.OnFault = true, told.fault
			s := openSource(t, o)
			p.store(t, 0, 5)
			before, _ := take(t, s, 5)
			ack(t, s, 0, before[:2]...)
			var waiting sync.WaitGroup
			if waits {
				waiting.Go(func() { do(t, server, "FLUSHALL") })
				nothingBut(t, s, 2*time.Second)
			} else {
				do(t, server, "FLUSHALL")
				p.store(t, 5, 1) // the stream is there again before anybody looks
			}
			waiting.Wait()
			p.store(t, 6, 4)
			from := 5
			if waits {
				from = 6
			}
			after, lost := take(t, s, 10-from)
			wantNumbers(t, after, from, 10)
			if !waits && !slices.Equal(lost, []source.Partition{source.Partition(p.topic)}) {
				t.Errorf("Fetch named the lost partitions %q", lost)
			}
			ack(t, s, 3, before[2:]...)
			ack(t, s, 0, after...)
			if !told.said("was deleted, and with it the group") {
				t.Errorf("the source told %v", told.errs)
			}
		})
	}
}

// nothingBut wants no message to come for a while; losses may be told.
func nothingBut(t testing.TB, s *redisbroker.Source, within time.Duration) {
	t.Helper()
	for began := time.Now(); time.Since(began) < within; {
		batch, err := s.Fetch(publishtest.Timeout(t, within/4), source.Limits{})
		if len(batch.Messages) > 0 || err != nil && errors.Is(err, source.ErrMisconfigured) {
			t.Fatalf("the messages %q came, %v", payloads(batch.Messages), err)
		}
	}
}

func TestAGroupThatWasDeletedAloneIsNotMadeAgainSilently(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	s := openSource(t, p.taking(server))
	p.store(t, 0, 3)
	msgs, _ := take(t, s, 3)
	ack(t, s, 0, msgs...)
	if err := p.client.XGroupDestroy(t.Context(), p.topic, "readers").Err(); err != nil {
		t.Fatal(err)
	}
	saysUntil(t, s, source.ErrMisconfigured, "the group was deleted from stream")
	again, _ := take(t, openSource(t, p.taking(server)), 3) // makes it again
	wantNumbers(t, again, 0, 3)
	nothingBut(t, s, time.Second)
}

func TestMessagesThatWereTrimmedAtWorkAreCountedAndDoNotComeForEver(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	for name, named := range map[string]string{"found by the ack wait": "", "found in the history": "worker"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(admin(t, server))
			o, told := p.taking(server), new(heard)
			o.AckWait, o.Consumer, o.OnFault = shortWait, named, told.fault
			if named != "" {
				o.AckWait = time.Hour
			}
			s := openSource(t, o)
			p.store(t, 0, 7)
			take(t, s, 7)
			if err := p.client.XTrimMaxLen(t.Context(), p.topic, 2).Err(); err != nil {
				t.Fatal(err)
			}
			if named != "" {
				s = openSource(t, o) // as after a crash
			}
			again, _ := take(t, s, 2)
			wantNumbers(t, again, 5, 7)
			ack(t, s, 0, again...)
			publishtest.Eventually(t, "what was trimmed is counted", func() bool {
				_, _ = s.Fetch(publishtest.Timeout(t, 100*time.Millisecond), source.Limits{})
				return s.Deleted() == 5
			})
			if n := p.pending(t, ""); n > 0 || !told.said("5 messages were deleted or trimmed") {
				t.Errorf("%d messages are not acked, and the source told %v", n, told.errs)
			}
			nothing(t, s, 300*time.Millisecond)
		})
	}
}

func TestAKeyOfAnotherTypeIsMisconfiguredForASource(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	do(t, server, "SET", p.topic, "x")
	_, err := redisbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), p.taking(server))
	if !saysThat(err, source.ErrMisconfigured, "WRONGTYPE") {
		t.Errorf("OpenSource: %v", err)
	}
}

// rights are those that the page docs/reference/redis.md lists.
func rights() []string {
	return []string{"+xreadgroup", "+xack", "+xautoclaim", "+xclaim", "+xpending", "+xinfo", "+xgroup|create", "+xgroup|delconsumer", "+xrange"}
}

func TestASourceNeedsNoMoreRightsThanThePageLists(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	p := newPlace(admin(t, server))
	do(t, server, append([]string{"ACL", "SETUSER", "reader", "on", ">" + password, "~" + p.topic}, rights()...)...)
	o := p.taking(server)
	o.Login = redisbroker.Login{User: "reader", Password: password}
	s := openSource(t, o)
	p.store(t, 0, 3)
	msgs, _ := take(t, s, 3)
	if _, err := s.Extend(t.Context(), receiptsOf(msgs)); err != nil {
		t.Errorf("Extend: %v", err)
	}
	if err := s.Release(t.Context(), receiptsOf(msgs[1:]), 0); err != nil {
		t.Errorf("Release: %v", err)
	}
	ack(t, s, 0, msgs[0])
	again, _ := take(t, s, 2)
	ack(t, s, 0, again...)
	p.store(t, 3, 1)
	if lag, err := s.Lag(t.Context()); err != nil || lag[0].Messages != 1 || lag[0].Age <= 0 {
		t.Errorf("the lag is %+v, %v", lag, err)
	}
	closeSource(t, s)
	if denied := do(t, server, "ACL", "LOG"); strings.Contains(denied, "reader") {
		t.Errorf("the server refused: %s", denied)
	}
}

func TestARightThatASourceLacksIsMisconfiguredUntilItIsGranted(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	for _, right := range []string{"+xreadgroup", "+xack", "+xautoclaim", "+xinfo", "+xgroup|create"} {
		p := newPlace(admin(t, server))
		user := "no" + strings.Trim(strings.ReplaceAll(right, "|", ""), "+")
		grant := func(more ...string) {
			do(t, server, append([]string{"ACL", "SETUSER", user, "on", ">" + password, "~" + p.topic}, more...)...)
		}
		grant(slices.DeleteFunc(rights(), func(one string) bool { return one == right })...)
		p.store(t, 0, 1)
		o := p.taking(server)
		o.Login = redisbroker.Login{User: user, Password: password}
		const words = "forbids this user a command"
		s, err := redisbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), o)
		if err != nil {
			if !saysThat(err, source.ErrMisconfigured, words) {
				t.Errorf("without %s, OpenSource: %v", right, err)
			}
			grant(right)
			s = openSource(t, o)
		} else if right != "+xack" {
			saysUntil(t, s, source.ErrMisconfigured, words)
			grant(right)
		}
		msgs, _ := take(t, s, 1)
		if right == "+xack" {
			if _, err := s.Ack(t.Context(), receiptsOf(msgs)); !saysThat(err, source.ErrMisconfigured, words) {
				t.Errorf("Ack without the right: %v", err)
			}
			grant(right)
		}
		ack(t, s, 0, msgs...)
		closeSource(t, s)
	}
}

package redisbroker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/source"
)

// shortWait is an ack wait for tests that let it run out.
const shortWait = time.Second

// taking are the options of a source of p, with a client of its own.
func (p place) taking(s *testserver.Redis) redisbroker.SourceOptions {
	return redisbroker.SourceOptions{
		URL: "redis://" + s.Addr(), Login: redisbroker.Login{Password: password}, Streams: []string{p.topic}, Group: "readers",
	}
}

// openSource opens a source that the test closes.
func openSource(t testing.TB, o redisbroker.SourceOptions) *redisbroker.Source {
	t.Helper()
	s, err := redisbroker.OpenSource(publishtest.Timeout(t, 20*time.Second), o)
	if err != nil {
		t.Fatalf("OpenSource: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.Close(ctx)
	})
	return s
}

// store puts n messages into the stream; their payloads are numbers that begin with from.
func (p place) store(t testing.TB, from, n int) {
	t.Helper()
	for i := range n {
		p.add(t, "*", "payload", fmt.Sprint(from+i))
	}
}

// add stores an entry under an id.
func (p place) add(t testing.TB, id string, fields ...string) (given string) {
	t.Helper()
	given, err := p.client.XAdd(publishtest.Timeout(t, 20*time.Second), &redis.XAddArgs{Stream: p.topic, ID: id, Values: fields}).Result()
	if err != nil {
		t.Fatalf("an entry cannot be stored: %v", err)
	}
	return given
}

// pending is how many messages the group has delivered and not acked, of one consumer, or of all.
func (p place) pending(t testing.TB, consumer string) int {
	t.Helper()
	all, err := p.client.XPendingExt(t.Context(), &redis.XPendingExtArgs{Stream: p.topic, Group: "readers", Start: "-", End: "+", Count: 100_000, Consumer: consumer}).Result()
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// consumers are the names in the group.
func (p place) consumers(t testing.TB) (names []string) {
	t.Helper()
	all, err := p.client.XInfoConsumers(t.Context(), p.topic, "readers").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		names = append(names, c.Name)
	}
	return names
}

// take returns n messages, or more if a batch has more.
func take(t testing.TB, s *redisbroker.Source, n int) (msgs []source.Message, lost []source.Partition) {
	t.Helper()
	ctx := publishtest.Timeout(t, 30*time.Second)
	for len(msgs) < n {
		batch, err := s.Fetch(ctx, source.Limits{})
		if err != nil {
			t.Fatalf("Fetch, after %d of %d messages: %v", len(msgs), n, err)
		}
		msgs, lost = append(msgs, batch.Messages...), append(lost, batch.Lost...)
	}
	return msgs, lost
}

// nothing wants no message to come for a while.
func nothing(t testing.TB, s *redisbroker.Source, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if batch, err := s.Fetch(ctx, source.Limits{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the messages %q came (%v), want none", payloads(batch.Messages), err)
	}
}

// saysUntil fetches until it says an error of a class with these words.
func saysUntil(t testing.TB, s *redisbroker.Source, class error, words string) {
	t.Helper()
	publishtest.Eventually(t, "Fetch says "+words, func() bool {
		_, err := s.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
		return saysThat(err, class, words)
	})
}

func receiptsOf(msgs []source.Message) (all []source.Receipt) {
	for _, m := range msgs {
		all = append(all, m.Receipt)
	}
	return all
}

func ack(t testing.TB, s *redisbroker.Source, lost int, msgs ...source.Message) {
	t.Helper()
	got, err := s.Ack(publishtest.Timeout(t, 20*time.Second), receiptsOf(msgs))
	if err != nil || got != lost {
		t.Fatalf("Ack of %d messages: %d lost, %v; want %d lost", len(msgs), got, err, lost)
	}
}

func closeSource(t testing.TB, s *redisbroker.Source) {
	t.Helper()
	if err := s.Close(publishtest.Timeout(t, 20*time.Second)); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func payloads(msgs []source.Message) (all []string) {
	for _, m := range msgs {
		all = append(all, string(m.Payload))
	}
	return all
}

// wantNumbers wants the payloads from a up to but without b, in any sequence.
func wantNumbers(t testing.TB, msgs []source.Message, a, b int) {
	t.Helper()
	var want []string
	for i := a; i < b; i++ {
		want = append(want, fmt.Sprint(i))
	}
	got := payloads(msgs)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("the messages %q came, want %q", got, want)
	}
}

// saysThat says whether an error is of a class, and has these words.
func saysThat(err, class error, words string) bool {
	return errors.Is(err, class) && strings.Contains(err.Error(), words) && !strings.Contains(err.Error(), password)
}

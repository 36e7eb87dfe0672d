package mqttbroker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/source"
)

// taking are the options of a source as the user reader.
func taking(addr, id string, filters ...string) mqttbroker.SourceOptions {
	return mqttbroker.SourceOptions{
		URL: "mqtt://" + addr, Login: mqttbroker.Login{User: "reader", Password: password, ClientID: id}, Filters: filters,
	}
}

// opened is a source that the test closes.
func opened(t testing.TB, o mqttbroker.SourceOptions) *mqttbroker.Source {
	t.Helper()
	s, err := mqttbroker.OpenSource(t.Context(), o)
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

// subscribed waits until a broker has the subscriptions of a source: it drops what comes before.
func subscribed(t testing.TB, server *testserver.Mosquitto, o mqttbroker.SourceOptions) {
	t.Helper()
	line := "Sending SUBACK to " + o.Login.ClientID
	publishtest.Eventually(t, "subscribed", func() bool {
		return slices.Contains(endsOf(server.LogTail(1<<20), len(line)), line)
	})
}

// endsOf are the last bytes of each line.
func endsOf(text string, n int) (all []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		all = append(all, line[max(0, len(line)-n):])
	}
	return all
}

// reader is a source with a client id and a topic of its own, which the broker has subscribed.
func reader(t testing.TB, server *testserver.Mosquitto, change func(o *mqttbroker.SourceOptions)) (s *mqttbroker.Source, o mqttbroker.SourceOptions, topic string) {
	t.Helper()
	name := fmt.Sprintf("r%d", placeCount.Add(1))
	o = taking(server.Addr(), name, name+"/#")
	if change != nil {
		change(&o)
	}
	s = opened(t, o)
	subscribed(t, server, o)
	return s, o, name + "/made"
}

// numbered are n messages whose payloads are numbers that begin with from.
func numbered(topic string, from, n int) (all []*packets.Publish) {
	for i := range n {
		all = append(all, &packets.Publish{Topic: topic, Payload: fmt.Append(nil, from+i), Properties: &packets.Properties{}})
	}
	return all
}

// fetched returns n messages, or more if a batch has more.
func fetched(t testing.TB, s *mqttbroker.Source, n int) (msgs []source.Message, lost []source.Partition) {
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
func nothing(t testing.TB, s *mqttbroker.Source, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if batch, err := s.Fetch(ctx, source.Limits{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%d messages came (%v), want none", len(batch.Messages), err)
	}
}

func receiptsOf(msgs []source.Message) (all []source.Receipt) {
	for _, m := range msgs {
		all = append(all, m.Receipt)
	}
	return all
}

func acked(t testing.TB, s *mqttbroker.Source, lost int, msgs ...source.Message) {
	t.Helper()
	got, err := s.Ack(publishtest.Timeout(t, 20*time.Second), receiptsOf(msgs))
	if err != nil || got != lost {
		t.Fatalf("Ack of %d messages: %d lost, %v; want %d lost", len(msgs), got, err, lost)
	}
}

func closed(t testing.TB, s *mqttbroker.Source) {
	t.Helper()
	if err := s.Close(publishtest.Timeout(t, 20*time.Second)); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// numbers are those from a up to but without b, as payloads.
func numbers(a, b int) (all []string) {
	for i := a; i < b; i++ {
		all = append(all, fmt.Sprint(i))
	}
	return all
}

func wantPayloads(t testing.TB, msgs []source.Message, want []string) {
	t.Helper()
	var got []string
	for _, m := range msgs {
		got = append(got, string(m.Payload))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the messages %q came, want %q", got, want)
	}
}

// says waits until Fetch returns an error of a class with some words, and wants no secret in it.
func says(t testing.TB, s *mqttbroker.Source, class error, words string) {
	t.Helper()
	var last error
	publishtest.Eventually(t, "Fetch says "+words, func() bool {
		_, err := s.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
		if err != nil && strings.Contains(err.Error(), password) {
			t.Fatalf("an error holds a password: %v", err)
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && (last == nil || last.Error() != err.Error()) {
			last = err
			t.Logf("Fetch says: %v", err)
		}
		return errors.Is(err, class) && strings.Contains(err.Error(), words)
	})
}

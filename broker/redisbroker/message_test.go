package redisbroker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func TestAConsumerGetsTheMessageThatWasPublished(t *testing.T) {
	t.Parallel()
	p := newPlace(admin(t, sharedServer(t)))
	for name, o := range map[string]redisbroker.Options{"plain": {}, "sharded": {Shards: 3}, "fenced": {Fence: true}} {
		d := dial(t, "redis://"+sharedServer(t).Addr(), o)
		m := publishtest.Messages(p.topic, 1)[0]
		m.Key, m.Type, m.At = "a:b{c}%\x00\xff", "größe", time.Date(2026, 3, 14, 15, 9, 26, 535_897_000, time.UTC)
		m.Payload = []byte("\x00\xff\r\n")
		m.Headers = map[string]string{"": "no name", "payload": "p", "header:x": "h", "Postbag-Id": "forged", "Postbag-New": "later", "größe": "\xff"}
		before := len(p.entries(t))
		wants(t, publishtest.Publish(t, d, 10*time.Second, m), broker.Accepted, "")
		held := p.entries(t)
		if len(held) != before+1 {
			t.Fatalf("%s: %d entries, want %d", name, len(held), before+1)
		}
		found := false
		for _, x := range held {
			got, err := redisbroker.Message(x)
			if err != nil {
				t.Fatal(err)
			}
			found = found || got.Equal(m.Message) && got.At.Equal(m.At) && got.Attempt == 1
		}
		if !found {
			t.Errorf("%s: no entry is the message: %+v", name, held)
		}
	}
}

func TestAnEntryOfAnotherProducerIsErrForeign(t *testing.T) {
	t.Parallel()
	if _, err := redisbroker.Message(redis.XMessage{ID: "1-1", Values: map[string]any{"a": "b"}}); !errors.Is(err, redisbroker.ErrForeign) {
		t.Errorf("%v, want ErrForeign", err)
	}
	id := publishtest.Messages("t", 1)[0].ID.String()
	for name, values := range map[string]map[string]any{
		"an invalid id":   {"Postbag-Id": "x"},
		"an invalid time": {"Postbag-Id": id, "Postbag-Time": "yesterday"},
	} {
		if _, err := redisbroker.Message(redis.XMessage{Values: values}); err == nil || errors.Is(err, redisbroker.ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

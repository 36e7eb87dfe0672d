package redisbroker

import (
	"fmt"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

func delivery(topic, key string) *broker.Delivery {
	return &broker.Delivery{Message: postbag.Message{ID: postbag.NewID(), Topic: topic, Key: key}}
}

func TestStreamsAreNamedByTopicShardOrKey(t *testing.T) {
	t.Parallel()
	m := delivery("orders", "k:1{%}")
	for want, o := range map[string]Options{
		"orders":                         {},
		"events:orders":                  {Prefix: "events:"},
		"{events:orders:0}":              {Prefix: "events:", Shards: 2},
		"{orders:k%3A1%7B%25%7D}":        {Fence: true},
		"{events:orders:k%3A1%7B%25%7D}": {Prefix: "events:", Fence: true},
		"mine":                           {Stream: func(broker.Delivery) string { return "mine" }},
	} {
		got, f := o.withDefaults().stream(m)
		if f != nil || got != want {
			t.Errorf("the stream is %q (%v), want %q", got, f, want)
		}
	}
	for name, c := range map[string]struct {
		o Options
		m *broker.Delivery
	}{
		"no topic":           {Options{Prefix: "p:"}, delivery("", "k")},
		"a function's empty": {Options{Stream: func(broker.Delivery) string { return "" }}, m},
	} {
		if got, f := c.o.withDefaults().stream(c.m); f == nil || f.Outcome != broker.Rejected {
			t.Errorf("%s: %q, %v", name, got, f)
		}
	}
}

// What consumers in other languages compute: the first twelve bits of SHA-256.
func TestAShardIsTheSlotOfTheKeyModuloTheirNumber(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{maxShards: 0xba7, 7: 0xba7 % 7, 1: 0} { // SHA-256 of abc begins with ba7816bf
		if got := shardOf(delivery("t", "abc"), n); got != want {
			t.Errorf("abc is in shard %d of %d, want %d", got, n, want)
		}
	}
	counts := map[int]int{}
	for i := range 8000 {
		counts[shardOf(delivery("t", fmt.Sprint(i)), 8)]++
		counts[8+shardOf(delivery("t", ""), 8)]++
	}
	for shard, n := range counts {
		if n < 800 || n > 1200 {
			t.Errorf("shard %d of 16 has %d of 16000 messages", shard, n)
		}
	}
}

func FuzzEscapeKey(f *testing.F) {
	f.Add("a", "b:c", "a:b", "c")
	f.Add("a%3A", "", "a", "%3A")
	f.Fuzz(func(t *testing.T, topic1, key1, topic2, key2 string) {
		if topic1 == "" || topic2 == "" {
			return
		}
		o := Options{Fence: true}.withDefaults()
		one, _ := o.stream(delivery(topic1, key1))
		two, _ := o.stream(delivery(topic2, key2))
		if (one == two) != (topic1 == topic2 && key1 == key2) {
			t.Errorf("%q, %q and %q, %q make %q and %q", topic1, key1, topic2, key2, one, two)
		}
	})
}

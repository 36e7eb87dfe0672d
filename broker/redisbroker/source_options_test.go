package redisbroker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker/redisbroker"
)

func TestSourceOptionsNameEveryFault(t *testing.T) {
	t.Parallel()
	good := redisbroker.SourceOptions{URL: "redis://host", Topics: []string{"orders"}, Group: "g"}
	if err := good.Validate(); err != nil {
		t.Errorf("good options: %v", err)
	}
	client := redis.NewClient(&redis.Options{Addr: "host:6379"})
	t.Cleanup(func() { _ = client.Close() })
	timeless := redis.NewClient(&redis.Options{Addr: "host:6379", ReadTimeout: -1})
	t.Cleanup(func() { _ = timeless.Close() })
	replicas := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"host:6379"}, ReadOnly: true})
	t.Cleanup(func() { _ = replicas.Close() })
	for _, c := range []struct {
		o    redisbroker.SourceOptions
		want []string
	}{
		{redisbroker.SourceOptions{}, []string{"SourceOptions.URL is empty", "both empty", "SourceOptions.Group is empty"}},
		{redisbroker.SourceOptions{
			URL: "http://u:" + password + "@host", Topics: []string{"a", ""}, Streams: []string{"p{:a"}, Prefix: "p{:", Group: "g", Consumer: "postbag-released",
			AckWait: time.Millisecond, ReadCount: -1, Login: redisbroker.Login{User: "u"},
		}, []string{"SourceOptions.Prefix", "an empty name", `"p{:a" twice`, "SourceOptions.Consumer", "SourceOptions.AckWait is 1ms", "SourceOptions.ReadCount is -1", "SourceOptions.Login.User", "redisbroker:"}},
		{redisbroker.SourceOptions{URL: "redis://host/1,redis://other/1", Shards: 5000, Topics: []string{"a"}, Group: "g"}, []string{"name a database", "SourceOptions.Shards is 5000"}},
		{redisbroker.SourceOptions{URL: "redis://host", Client: client, Topics: []string{"a"}, Group: "g"}, []string{"both set"}},
		{redisbroker.SourceOptions{Client: timeless, Topics: []string{"a"}, Group: "g"}, []string{"no ReadTimeout"}},
		{redisbroker.SourceOptions{Client: replicas, Topics: []string{"a"}, Group: "g"}, []string{"reads from replicas"}},
		{redisbroker.SourceOptions{Client: redis.NewRing(&redis.RingOptions{}), Topics: []string{"a"}, Group: "g"}, []string{"OpenSource was given a ring"}},
	} {
		err := c.o.Validate()
		if err == nil {
			t.Errorf("%+v has no fault", c.o)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("no fault says %q: %v", want, err)
			}
		}
		if strings.Contains(err.Error(), password) {
			t.Error("a fault quotes the password")
		}
		if _, err := redisbroker.OpenSource(t.Context(), c.o); err == nil {
			t.Error("OpenSource takes them")
		}
	}
}

package redisbroker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
)

func TestOptionsNameAllTheirFaultsAtOnce(t *testing.T) {
	t.Parallel()
	o := redisbroker.Options{
		Prefix: "{x}", Shards: 5000, Stream: func(broker.Delivery) string { return "x" }, Fence: true, MaxAge: time.Hour, MaxLen: 1, MaxBytes: -1,
		Replicas: -1, ReplicaWait: time.Microsecond,
		Login: redisbroker.Login{User: "u", SentinelUser: "s", Name: "two words"},
	}
	err := o.Validate()
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	for _, word := range []string{
		"Options.Prefix", "Options.Shards is", "Options.Stream and", "Fence and Options.Shards", "Fence and Options.MaxAge", "MaxLen and Options.MaxAge",
		"Options.MaxBytes", "Options.Replicas is", "Options.ReplicaWait", "Login.User", "Login.SentinelUser", "Login.Name",
	} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s is not named in %q", word, err)
		}
	}
	for name, o := range map[string]redisbroker.Options{
		"an epoch without a fence": {Epoch: 1}, "a negative length": {MaxLen: -1},
		"sentinels of a cluster": {Login: redisbroker.Login{Primary: "p", Cluster: true}},
	} {
		if o.Validate() == nil {
			t.Errorf("%s passes", name)
		}
	}
	if err := (redisbroker.Options{Fence: true, Epoch: 1, MaxLen: 5, Prefix: "events:", Login: redisbroker.Login{Password: "x"}}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestOptionsAndClientsThatCannotBeUsedAreAnErrorOfNew(t *testing.T) {
	t.Parallel()
	c := redis.NewClient(&redis.Options{})
	t.Cleanup(func() { _ = c.Close() })
	for words, made := range map[string]func() (*redisbroker.Destination, error){
		"Options.MaxLen": func() (*redisbroker.Destination, error) { return redisbroker.New(c, redisbroker.Options{MaxLen: -1}) },
		"no client":      func() (*redisbroker.Destination, error) { return redisbroker.New(nil, redisbroker.Options{}) },
		"a ring": func() (*redisbroker.Destination, error) {
			return redisbroker.New(redis.NewRing(&redis.RingOptions{}), redisbroker.Options{})
		},
		"no ReadTimeout": func() (*redisbroker.Destination, error) {
			return redisbroker.New(redis.NewClient(&redis.Options{ReadTimeout: -1}), redisbroker.Options{})
		},
		"reads no longer": func() (*redisbroker.Destination, error) {
			return redisbroker.New(c, redisbroker.Options{Replicas: 1, ReplicaWait: 10 * time.Second})
		},
	} {
		if d, err := made(); d != nil || err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: New says %v", words, err)
		}
	}
}

func TestURLsAreReadAndNeverQuoted(t *testing.T) {
	t.Parallel()
	for _, urls := range []string{
		"redis://host", "host:7000", "rediss://u:p@host:7000/3", "redis://a, redis://b", "redis://u:p@a,redis://u:p@b", "redis://[::1]:7000",
	} {
		if err := redisbroker.ValidURLs(urls); err != nil {
			t.Errorf("%s: %v", urls, err)
		}
	}
	for name, urls := range map[string]string{
		"none": "", "spaces": "redis://u:" + password + " @host", "another scheme": "http://u:" + password + "@host",
		"no host": "redis://u:" + password + "@", "no port": "redis://u:" + password + "@host:99999", "a wrong path": "redis://u:" + password + "@host/x",
		"settings": "redis://u:" + password + "@host?db=1", "two logins": "redis://u:" + password + "@a,redis://b", "an empty one": "redis://a,",
		"two schemes": "redis://a,rediss://b", "a cluster's database": "redis://a/1,redis://b/1",
	} {
		_, err := redisbroker.Dial(t.Context(), urls, redisbroker.Options{})
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v, want an error without the password", name, err)
		}
	}
}

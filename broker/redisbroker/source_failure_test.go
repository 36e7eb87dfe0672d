package redisbroker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/source"
)

// answered is an error as a server answers it.
type answered string

func (e answered) Error() string { return string(e) }
func (answered) RedisError()     {}

var _ redis.Error = answered("")

func TestEveryAnswerOfAServerHasItsClassForASource(t *testing.T) {
	t.Parallel()
	s := &Source{options: SourceOptions{Group: "readers"}, at: "host:6379"}
	for text, want := range map[string]error{
		"OOM command not allowed when used memory > 'maxmemory'.":                          source.ErrUnavailable,
		"READONLY You can't write against a read only replica.":                            source.ErrUnavailable,
		"LOADING Redis is loading the dataset in memory":                                   source.ErrUnavailable,
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.": source.ErrUnavailable,
		"CLUSTERDOWN Hash slot not served":                                                 source.ErrUnavailable,
		"MOVED 3999 127.0.0.1:6381":                                                        source.ErrUnavailable,
		"NOGROUP No such key 'orders' or consumer group 'secret'":                          source.ErrUnavailable,
		"UNBLOCKED the stream key no longer exists":                                        source.ErrUnavailable,
		"SOMETHING that servers will invent":                                               source.ErrUnavailable,
		"NOAUTH Authentication required.":                                                  source.ErrMisconfigured,
		"WRONGPASS invalid username-password pair or user is disabled.":                    source.ErrMisconfigured,
		"NOPERM this user has no permissions to run the 'xreadgroup' command":              source.ErrMisconfigured,
		"WRONGTYPE Operation against a key holding the wrong kind of value":                source.ErrMisconfigured,
		"CROSSSLOT Keys in request don't hash to the same slot":                            source.ErrMisconfigured,
		"ERR unknown command 'XAUTOCLAIM', with args beginning with: 'secret'":             source.ErrMisconfigured,
		"ERR syntax error": source.ErrMisconfigured,
	} {
		err := s.translate("fetch", fmt.Errorf("wrapped: %w", answered(text)))
		if !errors.Is(err, want) || strings.Contains(err.Error(), "secret") || !strings.HasPrefix(err.Error(), `redisbroker: fetch, group "readers", at host:6379: `) || !strings.Contains(err.Error(), "; ") {
			t.Errorf("%s: %v", text, err)
		}
		if again := s.translate("close", err); again.Error() != err.Error() {
			t.Errorf("an error with a class is changed: %v", again)
		}
	}
	for _, err := range []error{io.EOF, context.DeadlineExceeded, redis.ErrClosed, redis.ErrPoolTimeout, errAnswer} {
		if got := s.translate("fetch", err); !errors.Is(got, source.ErrUnavailable) {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// Redis 6.2 answers without the ids that were deleted.
func TestAServerThatIsTooOldForASourceIsMisconfigured(t *testing.T) {
	t.Parallel()
	s := &Source{cursors: []string{firstCursor}}
	a := newAsk(t.Context(), "xautoclaim")
	a.SetVal([]any{"0-0", []any{nil}})
	if _, _, err := s.claimed(0, a, nil); !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), "use Redis 7") {
		t.Errorf("the error is %v", err)
	}
}

// Protocol 3 has tables where protocol 2 has lists of names and values.
func TestAnswersOfBothProtocolsAreRead(t *testing.T) {
	t.Parallel()
	entries := []any{[]any{"1-1", []any{"b", "1", "a", "2", "b", "3"}}, []any{"1-2", nil}}
	for name, answer := range map[string]any{
		"protocol 2": []any{[]any{"orders", entries}},
		"protocol 3": map[any]any{"orders": entries},
	} {
		found, err := readStreams(answer)
		if err != nil || len(found["orders"]) != 2 || fmt.Sprint(found["orders"][0].fields) != "[b 1 a 2 b 3]" || !found["orders"][1].gone {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	for _, bad := range []any{"text", []any{"text"}, []any{[]any{"orders", "text"}}, []any{[]any{"orders", []any{[]any{"1-1"}}}}} {
		if _, err := readStreams(bad); !errors.Is(err, errAnswer) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	for _, answer := range []any{[]any{"name", "readers", "lag", int64(3)}, map[any]any{"name": "readers", "lag": int64(3)}} {
		if facts, err := table(answer); err != nil || facts["name"] != "readers" || facts["lag"] != int64(3) {
			t.Errorf("%v: %v, %v", answer, facts, err)
		}
	}
}

func TestStreamsOfOneHashTagShareASlot(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"orders": "orders", "{orders:1}": "orders:1", "a{b}c{d}": "b", "{}x": "{}x", "a{b": "a{b", "}a{": "}a{", "{a}b}": "a",
	} {
		if got := hashTag(name); got != want {
			t.Errorf("the tag of %q is %q, want %q", name, got, want)
		}
	}
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"host:6379"}})
	t.Cleanup(func() { _ = cluster.Close() })
	for names, want := range map[string]bool{"a": true, "a b": false, "{x}a {x}b": true, "{a:0} {a:1}": false} {
		s := &Source{client: cluster, streams: SourceOptions{Streams: strings.Fields(names)}.streams()}
		if got := s.oneNode(); got != want {
			t.Errorf("%q share a slot: %v", names, got)
		}
	}
}

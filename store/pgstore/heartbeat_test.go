package pgstore_test

import (
	"strconv"
	"testing"

	"github.com/postbag/postbag/store"
)

// A filter may have a hundred thousand names, and a subscription 4,096 shards.
func TestAViewReadsAFilterOnceAndNotWithEachShard(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	wide := store.Ref{Box: outbox.Box, Subscription: "wide"}
	var topics []string
	for i := range 200 {
		topics = append(topics, "topic"+strconv.Itoa(i))
	}
	s.Declare(store.Spec{Ref: wide, Types: []string{"a"}, Where: store.Where{Topics: topics}, Shards: 64})
	bytes, err := s.ShardTexts(t.Context(), wide)
	s.Must(err)
	if len(bytes) != 64 || bytes[0] < 1000 {
		t.Fatalf("by shard so many bytes are read: %v", bytes)
	}
	for i, n := range bytes[1:] {
		if n > 0 {
			t.Fatalf("with shard %d %d bytes of the filter are read again", i+1, n)
		}
	}
}

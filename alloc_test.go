//go:build !race

// The race detector makes allocations of its own.

package postbag

import (
	"strings"
	"testing"
)

//nolint:paralleltest // testing.AllocsPerRun counts those of the whole process
func TestNewIDAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(1000, func() { NewID() }); n != 0 {
		t.Errorf("NewID allocates %v times, want 0", n)
	}
}

// TestPublishAllocates holds the publisher to its copy of the messages, and to
// one map where headers are merged.
//
//nolint:paralleltest // as above
func TestPublishAllocates(t *testing.T) {
	box := map[string]string{"content-type": "application/json"}
	plain := make([]Message, 100)
	for i := range plain {
		plain[i] = Message{Key: strings.Repeat("k", i), Payload: []byte("payload")}
	}
	withHeaders := []Message{{Headers: map[string]string{"a": "own"}}}
	for _, tc := range []struct {
		name    string
		options PublisherOptions
		msgs    []Message
		most    float64
	}{
		{"one message", PublisherOptions{}, plain[:1], 1},
		{"a hundred messages", PublisherOptions{}, plain, 1},
		{"a hundred messages with the box's headers", PublisherOptions{Headers: box}, plain, 1},
		{"a hundred messages with a trace", PublisherOptions{Headers: box, Context: tracing}, plain, 3},
		{"headers of its own", PublisherOptions{}, withHeaders, 1},
		{"headers of its own and the box's", PublisherOptions{Headers: box}, withHeaders, 3},
	} {
		p, err := NewPublisher(nothing{}, tc.options)
		if err != nil {
			t.Fatal(err)
		}
		ctx, tx := traced(t, "t"), &testTx{}
		n := testing.AllocsPerRun(200, func() {
			if err := p.Publish(ctx, tx, tc.msgs...); err != nil {
				t.Fatal(err)
			}
		})
		if n > tc.most {
			t.Errorf("%s: %v allocations, want at most %v", tc.name, n, tc.most)
		}
	}
}

package postbag

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

// testTx is a kind of transaction of its own.
type testTx struct{}

// recording is an Appender that keeps what it was called with, and answers as it
// was told to.
type recording struct {
	mu       sync.Mutex
	calls    []string    // in order: "lock", "append", "cancel", "wake outbox", ...
	appended [][]Message // of each Append
	locked   [][]string  // of each Lock
	canceled []ID

	lockErr, appendErr, commitErr error
	found                         bool // what Cancel answers
}

func (r *recording) called(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, what)
}

func (r *recording) Append(_ context.Context, _ *testTx, box string, msgs []Message) error {
	r.called("append " + box)
	if r.appendErr != nil {
		return r.appendErr
	}
	kept := make([]Message, len(msgs))
	for i, m := range msgs {
		kept[i] = m.Clone()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.appended = append(r.appended, kept)
	return nil
}

func (r *recording) Lock(_ context.Context, _ *testTx, box string, keys []string) error {
	r.called("lock " + box)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.locked = append(r.locked, slices.Clone(keys))
	return r.lockErr
}

func (r *recording) Cancel(_ context.Context, _ *testTx, box string, id ID) (bool, error) {
	r.called("cancel " + box)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.canceled = append(r.canceled, id)
	return r.found, nil
}

func (r *recording) InTx(ctx context.Context, fn func(context.Context, *testTx) error) error {
	r.called("begin")
	if err := fn(ctx, &testTx{}); err != nil {
		r.called("rollback")
		return err
	}
	r.called("commit")
	return r.commitErr
}

func (r *recording) Wake(box string) { r.called("wake " + box) }

// only returns the messages of the only Append.
func (r *recording) only(tb testing.TB) []Message {
	tb.Helper()
	if len(r.appended) != 1 {
		tb.Fatalf("appended %d times, want once", len(r.appended))
	}
	return r.appended[0]
}

// newTestPublisher returns a publisher over a new recording.
func newTestPublisher(tb testing.TB, o PublisherOptions) (*Publisher[*testTx], *recording) {
	tb.Helper()
	r := &recording{}
	p, err := NewPublisher(r, o)
	if err != nil {
		tb.Fatal(err)
	}
	return p, r
}

// messageErrors returns all message errors that err is or joins, and fails if
// another kind is among them, but for the closing count.
func messageErrors(tb testing.TB, err error) []*MessageError {
	tb.Helper()
	if err == nil {
		return nil
	}
	leaves := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		leaves = joined.Unwrap()
	}
	var all []*MessageError
	for i, leaf := range leaves {
		var m *MessageError
		switch {
		case errors.As(leaf, &m):
			all = append(all, m)
		case i == maxFaults:
		default:
			tb.Fatalf("%v is no *MessageError", leaf)
		}
	}
	return all
}

package postbag

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

type traceKey struct{}

// tracing writes the trace of ctx into headers, as a trace library does.
func tracing(ctx context.Context, headers map[string]string) {
	if trace, ok := ctx.Value(traceKey{}).(string); ok {
		headers["trace"] = trace
	}
}

func traced(t *testing.T, trace string) context.Context {
	t.Helper()
	return context.WithValue(t.Context(), traceKey{}, trace)
}

func TestPublishFillsInWhatIsMissing(t *testing.T) {
	t.Parallel()
	own := ID{15: 9}
	p, r := newTestPublisher(t, PublisherOptions{Box: "events"})
	if err := p.Publish(t.Context(), &testTx{}, Message{Key: "k"}, Message{ID: own, Topic: "mine", Type: "t"}); err != nil {
		t.Fatal(err)
	}
	got := r.only(t)
	if got[0].ID.IsZero() || got[0].ID[6]>>4 != 7 || got[0].Topic != "events" || got[0].Headers != nil {
		t.Errorf("first message is %+v", got[0])
	}
	if got[1].ID != own || got[1].Topic != "mine" || got[1].Type != "t" {
		t.Errorf("second message is %+v", got[1])
	}
}

func TestHeadersAreAddedWhereMissing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name               string
		box, message, want map[string]string
		trace              string
	}{
		{name: "none at all"},
		{name: "the box's alone", box: map[string]string{"a": "box"}, want: map[string]string{"a": "box"}},
		{name: "the message's alone", message: map[string]string{"a": "own"}, want: map[string]string{"a": "own"}},
		{name: "the context's alone", trace: "t1", want: map[string]string{"trace": "t1"}},
		{
			name: "the message wins over the box", box: map[string]string{"a": "box", "b": "box"},
			message: map[string]string{"a": "own", "c": "own"}, want: map[string]string{"a": "own", "b": "box", "c": "own"},
		},
		{
			name: "the context wins over the box", box: map[string]string{"trace": "box", "b": "box"}, trace: "t1",
			want: map[string]string{"trace": "t1", "b": "box"},
		},
		{
			name: "the message wins over the context", message: map[string]string{"trace": "own"}, trace: "t1",
			want: map[string]string{"trace": "own"},
		},
		{
			name: "the message wins with an empty value", box: map[string]string{"a": "box"},
			message: map[string]string{"a": ""}, want: map[string]string{"a": ""},
		},
		{
			name: "names are compared as they are written", box: map[string]string{"A": "box"},
			message: map[string]string{"a": "own"}, want: map[string]string{"A": "box", "a": "own"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			if tc.trace != "" {
				ctx = traced(t, tc.trace)
			}
			p, r := newTestPublisher(t, PublisherOptions{Headers: tc.box, Context: tracing})
			if err := p.Publish(ctx, &testTx{}, Message{Headers: tc.message}, Message{Headers: tc.message}); err != nil {
				t.Fatal(err)
			}
			for i, m := range r.only(t) {
				if !maps.Equal(m.Headers, tc.want) {
					t.Errorf("headers of message %d are %v, want %v", i, m.Headers, tc.want)
				}
			}
		})
	}
}

func TestTheContextHookIsCalledOnceACallAndSeesTheBoxHeaders(t *testing.T) {
	t.Parallel()
	calls := 0
	p, r := newTestPublisher(t, PublisherOptions{
		Headers: map[string]string{"a": "box"},
		Context: func(_ context.Context, headers map[string]string) {
			calls++
			headers["seen"] = headers["a"]
			delete(headers, "a")
		},
	})
	for range 2 {
		if err := p.Publish(t.Context(), &testTx{}, Message{}, Message{}, Message{}); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 2 {
		t.Errorf("called %d times for two calls", calls)
	}
	for _, m := range slices.Concat(r.appended...) {
		if !maps.Equal(m.Headers, map[string]string{"seen": "box"}) {
			t.Errorf("headers are %v", m.Headers)
		}
	}
}

func TestAHeaderOfTheContextHookIsCheckedToo(t *testing.T) {
	t.Parallel()
	p, _ := newTestPublisher(t, PublisherOptions{Context: func(_ context.Context, headers map[string]string) {
		headers["Postbag-Trace"] = "x"
	}})
	got := messageErrors(t, p.Publish(t.Context(), &testTx{}, Message{}))
	if len(got) != 1 || got[0].Header != "Postbag-Trace" {
		t.Errorf("faults are %v", got)
	}
}

func TestAWrapperSeesWholeMessagesAndMayChangeDropAndAdd(t *testing.T) {
	t.Parallel()
	own := ID{15: 9}
	p, r := newTestPublisher(t, PublisherOptions{
		Headers: map[string]string{"a": "box"},
		Wrap: func(next PublishFunc) PublishFunc {
			return func(ctx context.Context, msgs []Message) error {
				for _, m := range msgs {
					if m.ID.IsZero() || m.Topic == "" || m.Headers["a"] != "box" {
						t.Errorf("the wrapper got %+v", m)
					}
				}
				msgs[0].Payload = []byte("changed")
				msgs[0].Headers["wrapped"] = "yes"
				return next(ctx, []Message{msgs[0], {Key: "added"}, {ID: own, Topic: "named"}})
			}
		},
	})
	if err := p.Publish(t.Context(), &testTx{}, Message{Key: "first"}, Message{Key: "dropped"}); err != nil {
		t.Fatal(err)
	}
	got := r.only(t)
	if len(got) != 3 {
		t.Fatalf("stored %d messages, want 3", len(got))
	}
	if string(got[0].Payload) != "changed" || !maps.Equal(got[0].Headers, map[string]string{"a": "box", "wrapped": "yes"}) {
		t.Errorf("the changed message is %+v", got[0])
	}
	if got[1].ID.IsZero() || got[1].Topic != "outbox" || got[1].Headers != nil {
		t.Errorf("the added message is %+v", got[1])
	}
	if got[2].ID != own || got[2].Topic != "named" {
		t.Errorf("the added message with an id is %+v", got[2])
	}
}

func TestMessagesThatAWrapperPassesOnAreNotModified(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]Message{
		"no id":    {Topic: "t"},
		"no topic": {ID: ID{15: 1}},
	} {
		added := []Message{own}
		p, r := newTestPublisher(t, PublisherOptions{Wrap: func(next PublishFunc) PublishFunc {
			return func(ctx context.Context, _ []Message) error { return next(ctx, added) }
		}})
		if err := p.Publish(t.Context(), &testTx{}, Message{}); err != nil {
			t.Fatal(err)
		}
		if !added[0].Equal(own) {
			t.Errorf("%s: the wrapper's message became %+v", name, added[0])
		}
		if got := r.only(t)[0]; got.ID.IsZero() || got.Topic == "" {
			t.Errorf("%s: stored %+v", name, got)
		}
	}
}

func TestAWrapperRunsForEachCallAndItsHeadersAreItsOwn(t *testing.T) {
	t.Parallel()
	shared := map[string]string{"h": "v"}
	wraps := 0
	p, r := newTestPublisher(t, PublisherOptions{Wrap: func(next PublishFunc) PublishFunc {
		wraps++
		return func(ctx context.Context, msgs []Message) error {
			for i := range msgs {
				msgs[i].Headers["n"] = string(rune('a' + i))
			}
			return next(ctx, msgs)
		}
	}})
	for range 2 {
		if err := p.Publish(t.Context(), &testTx{}, Message{Headers: shared}, Message{Headers: shared}, Message{}); err != nil {
			t.Fatal(err)
		}
	}
	if wraps != 2 || len(shared) != 1 {
		t.Errorf("wrapped %d times for 2 calls; the caller's headers are %v", wraps, shared)
	}
	for _, msgs := range r.appended {
		if msgs[0].Headers["n"] != "a" || msgs[1].Headers["n"] != "b" || msgs[2].Headers["n"] != "c" {
			t.Errorf("messages share headers: %v", msgs)
		}
	}
}

func TestMessagesThatAWrapperPassesOnAreChecked(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{Wrap: func(next PublishFunc) PublishFunc {
		return func(ctx context.Context, msgs []Message) error {
			return next(ctx, append(msgs, Message{ID: msgs[0].ID, Key: "\xff"}))
		}
	}})
	got := messageErrors(t, p.Publish(t.Context(), &testTx{}, Message{}))
	if len(got) != 2 || got[0].Index != 1 || got[0].Field != "Key" || got[1].Field != "ID" || len(r.calls) > 0 {
		t.Errorf("faults are %v, calls %v", got, r.calls)
	}
}

func TestAWrapperMayMakeALargeMessageSmall(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{MaxSize: 4, Wrap: func(next PublishFunc) PublishFunc {
		return func(ctx context.Context, msgs []Message) error {
			msgs[0].Payload = []byte("ref")
			return next(ctx, msgs)
		}
	}})
	if err := p.Publish(t.Context(), &testTx{}, Message{Payload: []byte("much too large")}); err != nil {
		t.Fatal(err)
	}
	if got := r.only(t)[0].Payload; string(got) != "ref" {
		t.Errorf("payload is %q", got)
	}
}

func TestAWrapperMayRefuseOrPassNothingOn(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for _, tc := range []struct {
		name string
		wrap func(next PublishFunc) PublishFunc
		want error
		says string
	}{
		{"refuse", func(PublishFunc) PublishFunc {
			return func(context.Context, []Message) error { return refused }
		}, refused, "refused"},
		{"swallow", func(PublishFunc) PublishFunc {
			return func(context.Context, []Message) error { return nil }
		}, nil, ""},
		{"pass nothing on", func(next PublishFunc) PublishFunc {
			return func(ctx context.Context, _ []Message) error { return next(ctx, nil) }
		}, nil, ""},
		{"return nil", func(PublishFunc) PublishFunc { return nil }, nil, "Wrap returned nil; return a function, or next"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, r := newTestPublisher(t, PublisherOptions{Wrap: tc.wrap})
			err := p.Publish(t.Context(), &testTx{}, Message{})
			if tc.want != nil && !errors.Is(err, tc.want) || (tc.says != "") != (err != nil) {
				t.Errorf("error is %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %q lacks %q", err, tc.says)
			}
			if len(r.calls) != 0 {
				t.Errorf("the store was called: %v", r.calls)
			}
		})
	}
}

// TestPublishNeverChangesWhatItIsGiven publishes thousands of random calls, good
// and bad, through a hook and a wrapper that write wherever they may.
func TestPublishNeverChangesWhatItIsGiven(t *testing.T) {
	t.Parallel()
	scribble := func(next PublishFunc) PublishFunc {
		return func(ctx context.Context, msgs []Message) error {
			for i := range msgs {
				msgs[i].Key += "x"
				msgs[i].Headers["scribbled"] = "yes"
				msgs[i].Payload = append([]byte("x"), msgs[i].Payload...)
			}
			return next(ctx, slices.Insert(msgs, 0, Message{}))
		}
	}
	box := map[string]string{"a": "box", "b": "box"}
	for i, o := range []PublisherOptions{
		{},
		{Headers: box, Context: tracing},
		{Headers: box, Context: tracing, Wrap: scribble},
	} {
		p, _ := newTestPublisher(t, o)
		r := rand.New(rand.NewPCG(uint64(i), 42))
		taken := 0
		for range 1000 {
			msgs := make([]Message, r.IntN(5))
			for j := range msgs {
				msgs[j] = randomMessage(r)
			}
			before := make([]Message, len(msgs))
			for j, m := range msgs {
				before[j] = m.Clone()
			}
			publish := p.Publish
			if r.IntN(2) == 0 {
				publish = p.PublishOrdered
			}
			err := publish(traced(t, "t"), &testTx{}, msgs...)
			if !slices.EqualFunc(msgs, before, sameBits) {
				t.Fatalf("options %d: messages became %+v\nfrom %+v\n(error %v)", i, msgs, before, err)
			}
			if err == nil {
				taken++
			}
		}
		if taken < 200 || taken > 800 {
			t.Errorf("options %d: %d of 1000 calls were taken; both kinds should be many", i, taken)
		}
	}
	if len(box) != 2 {
		t.Errorf("the options' headers became %v", box)
	}
}

// sameBits is stricter than Equal: nil and empty differ, and so do time zones.
func sameBits(a, b Message) bool {
	return a.Equal(b) && a.NotBefore.Location() == b.NotBefore.Location() &&
		(a.Headers == nil) == (b.Headers == nil) && (a.Payload == nil) == (b.Payload == nil)
}

func randomMessage(r *rand.Rand) Message {
	text := func() string {
		if r.IntN(30) == 0 {
			return "\xff"
		}
		return []string{"", "a", "b", "é"}[r.IntN(4)]
	}
	m := Message{Topic: text(), Key: text(), Type: text()}
	if r.IntN(3) == 0 {
		m.ID = ID{15: byte(r.IntN(3))}
	}
	if r.IntN(3) == 0 {
		m.ShardKey = text()
	}
	if r.IntN(2) == 0 {
		m.Headers = map[string]string{"a": text(), "trace": text(), text(): "v"}
	}
	if r.IntN(2) == 0 {
		m.Payload = make([]byte, r.IntN(20), 64)
	}
	if r.IntN(4) == 0 {
		m.NotBefore = time.Unix(r.Int64N(1<<40)-1000, 0)
	}
	return m
}

func TestAPublisherComputesShardKeysFromKeys(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{ShardKey: func(key string) (string, error) { return strings.TrimPrefix(key, "customer-"), nil }})
	msgs := []Message{{Key: "customer-7"}, {Key: "customer-7", ShardKey: "9"}, {}, {ShardKey: "8"}}
	err := p.Publish(t.Context(), &testTx{}, msgs[0], msgs[2], msgs[3])
	if err == nil {
		err = p.Publish(t.Context(), &testTx{}, msgs[1])
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, call := range r.appended {
		for _, m := range call {
			got = append(got, m.Key+"/"+m.ShardKey)
		}
	}
	if want := []string{"customer-7/7", "/", "/8", "customer-7/9"}; !slices.Equal(got, want) {
		t.Errorf("keys and shard keys are %q, not %q", got, want)
	}
	if msgs[0].ShardKey != "" {
		t.Error("the caller's message was changed")
	}
}

func TestAShardKeyThatCannotBeComputedFailsPublish(t *testing.T) {
	t.Parallel()
	cause := errors.New("the key has another form; give customer-NUMBER")
	p, r := newTestPublisher(t, PublisherOptions{ShardKey: func(key string) (string, error) {
		if key == "bad" {
			return "", cause
		}
		return strings.Repeat("1", len(key)), nil
	}})
	err := p.Publish(t.Context(), &testTx{}, Message{Key: "good"}, Message{Key: "bad"})
	fault, ok := errors.AsType[*MessageError](err)
	if !ok || fault.Index != 1 || fault.Field != "ShardKey" || !errors.Is(err, cause) || len(r.appended) != 0 {
		t.Errorf("%v, with %d calls of Append", err, len(r.appended))
	}
}

func TestMessagesOfAWrapperGetShardKeys(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{
		ShardKey: func(string) (string, error) { return "5", nil },
		Wrap: func(next PublishFunc) PublishFunc {
			return func(ctx context.Context, msgs []Message) error { return next(ctx, append(msgs, Message{Key: "added"})) }
		},
	})
	if err := p.Publish(t.Context(), &testTx{}, Message{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	if got := r.only(t); len(got) != 2 || got[0].ShardKey != "5" || got[1].ShardKey != "5" {
		t.Errorf("%+v", got)
	}
}

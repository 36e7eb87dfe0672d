package stdout_test

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/stdout"
)

func message(n byte, payload string) broker.Delivery {
	return broker.Delivery{
		Message: postbag.Message{ID: postbag.ID{15: n}, Topic: "orders", Key: "k", Payload: []byte(payload)},
		Seq:     int64(n),
	}
}

func opened(t *testing.T, w io.Writer) *stdout.Destination {
	t.Helper()
	d, err := stdout.New(w)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestANilWriterIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := stdout.New(nil); err == nil || !strings.Contains(err.Error(), "the writer is nil") {
		t.Errorf("the error is %v", err)
	}
}

func publish(d *stdout.Destination, msgs ...broker.Delivery) []broker.Outcome {
	results := broker.Publish(context.Background(), d, msgs)
	var all []broker.Outcome
	for _, r := range results {
		all = append(all, r.Outcome)
	}
	return all
}

func TestALineHoldsTheMessageAsJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		m    broker.Delivery
		want string
	}{
		"everything": {
			broker.Delivery{
				Message: postbag.Message{
					ID: postbag.ID{0: 1, 15: 2}, Topic: "orders", Key: "42", Type: "order.created",
					Headers: map[string]string{"b": "2", "a": "<1>"}, Payload: []byte("{\"a\":1}\n"),
				},
				Box: "outbox", Subscription: "default", Seq: 7, Attempt: 3,
				At: time.Date(2026, 3, 14, 15, 9, 26, 535_897_932, time.FixedZone("", 3600)),
			},
			`{"id":"01000000-0000-0000-0000-000000000002","seq":7,"topic":"orders","key":"42","type":"order.created",` +
				`"time":"2026-03-14T14:09:26.535897Z","headers":{"a":"<1>","b":"2"},"payload":"{\"a\":1}\n"}`,
		},
		"bytes that are no text": {
			message(1, "\xff\x00"),
			`{"id":"00000000-0000-0000-0000-000000000001","seq":1,"topic":"orders","key":"k","payload_base64":"/wA="}`,
		},
		"nothing": {
			broker.Delivery{},
			`{"id":"00000000-0000-0000-0000-000000000000","seq":0,"topic":"","payload":""}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if got := publish(opened(t, &out), c.m); got[0] != broker.Accepted {
				t.Fatalf("the message is %v", got)
			}
			if out.String() != c.want+"\n" {
				t.Errorf("written\n%swant\n%s", out.String(), c.want)
			}
		})
	}
}

// cutter takes so many bytes of its next writes, and then all again.
type cutter struct {
	strings.Builder

	take []int
}

func (c *cutter) Write(b []byte) (int, error) {
	if len(c.take) == 0 {
		return c.Builder.Write(b)
	}
	n := min(c.take[0], len(b))
	c.take = c.take[1:]
	n, _ = c.Builder.Write(b[:n])
	return n, errors.New("disk full")
}

func TestAWriterThatFailsHalfWayAcceptsTheWholeLinesOnly(t *testing.T) {
	t.Parallel()
	var size strings.Builder
	publish(opened(t, &size), message(1, "one"))
	line := size.Len()
	unavailable, accepted, unknown := broker.Unavailable, broker.Accepted, broker.Unknown
	for name, c := range map[string]struct {
		take  []int
		want  []broker.Outcome
		lines int // whole ones, after three more were written
	}{
		"before the first":     {[]int{0}, []broker.Outcome{unavailable, unavailable, unavailable}, 3},
		"in the first":         {[]int{5}, []broker.Outcome{unavailable, unavailable, unavailable}, 3},
		"before a line's end":  {[]int{line - 1}, []broker.Outcome{unknown, unavailable, unavailable}, 4},
		"after the first":      {[]int{line}, []broker.Outcome{accepted, unavailable, unavailable}, 4},
		"in the second":        {[]int{line + 9}, []broker.Outcome{accepted, unavailable, unavailable}, 4},
		"at the very end":      {[]int{3*line - 1}, []broker.Outcome{accepted, accepted, unknown}, 6},
		"with all taken":       {[]int{3 * line}, []broker.Outcome{accepted, accepted, accepted}, 6},
		"and again in the fix": {[]int{5, 0, 1, 0}, []broker.Outcome{unavailable, unavailable, unavailable}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := &cutter{take: c.take}
			d := opened(t, out)
			if got := publish(d, message(1, "one"), message(2, "two"), message(3, "3..")); !slices.Equal(got, c.want) {
				t.Errorf("outcomes %v, want %v", got, c.want)
			}
			for len(out.take) > 0 {
				publish(d, message(9, "xxx"))
			}
			publish(d, message(4, "four"), message(5, "five"), message(6, "six"))
			whole := 0
			for text := range strings.Lines(out.String()) {
				if _, err := parse(text); err == nil {
					whole++
				}
			}
			if whole != c.lines {
				t.Errorf("%d lines are whole, want %d:\n%s", whole, c.lines, out.String())
			}
		})
	}
}

func TestAWriterThatTakesLessWithoutAnErrorIsUnavailable(t *testing.T) {
	t.Parallel()
	d := opened(t, short{})
	results := broker.Publish(t.Context(), d, []broker.Delivery{message(1, "one")})
	if results[0].Outcome != broker.Unavailable || !errors.Is(results[0].Err, io.ErrShortWrite) {
		t.Errorf("the message is %v (%v)", results[0].Outcome, results[0].Err)
	}
}

type short struct{}

func (short) Write(b []byte) (int, error) { return len(b) / 2, nil }

func TestACallToAFullPipeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d := opened(t, w)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		_, _ = r.Read(make([]byte, 1)) // the writing has begun, and will not end
	}()
	results := broker.Publish(ctx, d, []broker.Delivery{message(1, strings.Repeat("x", 1<<20))})
	if results[0].Outcome != broker.Unknown {
		t.Errorf("a line that is half in the pipe is %v (%v), want unknown", results[0].Outcome, results[0].Err)
	}
	soon, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	results = broker.Publish(soon, d, []broker.Delivery{message(2, "behind")})
	if results[0].Outcome != broker.NotSent {
		t.Errorf("a line that waits behind it is %v (%v), want not sent", results[0].Outcome, results[0].Err)
	}
	if err := d.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close while the pipe is full: %v, want the context's error", err)
	}
	if err := r.Close(); err != nil { // the writer fails then
		t.Fatal(err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Errorf("Close once the pipe is broken: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

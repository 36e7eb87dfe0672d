package relay

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestEventsThatWaitForHooksAreBoundedAndTheRestIsCounted(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	told := 0
	q := newHookQueue([]Hooks{{Message: func(MessageEvent) { told++ }}}, slog.New(slog.NewTextHandler(&log, nil)))
	batch := make([]MessageEvent, 1000)
	for range mostWaiting/len(batch) + 7 {
		put(q, "Message", q.message, batch...)
	}
	q.start()
	q.end(time.Minute)
	if dropped, _ := q.counts(); dropped != 7000 || told != mostWaiting {
		t.Errorf("%d events were dropped and %d given, want 7000 and %d", dropped, told, mostWaiting)
	}
	if n := strings.Count(log.String(), "hooks are too slow"); n != 1 {
		t.Errorf("%d lines say so, want one a minute:\n%s", n, &log)
	}
}

func TestBatchesThatWaitForHooksAreBounded(t *testing.T) {
	t.Parallel()
	told := 0
	q := newHookQueue([]Hooks{{Lease: func(LeaseEvent) { told++ }}}, slog.New(slog.DiscardHandler))
	for range roomForBatches + 5 {
		put(q, "Lease", q.lease, LeaseEvent{})
	}
	q.start()
	q.end(time.Minute)
	if dropped, _ := q.counts(); dropped != 5 || told != roomForBatches {
		t.Errorf("%d events were dropped and %d given, want 5 and %d", dropped, told, roomForBatches)
	}
}

func TestAHookThatHangsHoldsUpTheEndOnlyForTheGrace(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	told := 0
	q := newHookQueue([]Hooks{{Lease: func(LeaseEvent) { told++; <-hang }}}, slog.New(slog.DiscardHandler))
	put(q, "Lease", q.lease, make([]LeaseEvent, 10)...)
	q.start()
	q.end(10 * time.Millisecond)
	if dropped, _ := q.counts(); dropped != 10 {
		t.Errorf("%d events count as dropped, want 10", dropped)
	}
	close(hang)
	<-q.ended
	if told != 1 {
		t.Errorf("a hook was called %d times, want once: nothing is given up to it after the end", told)
	}
}

func TestNoHooksAreNoQueue(t *testing.T) {
	t.Parallel()
	if q := newHookQueue([]Hooks{{}, {}}, nil); q != nil {
		t.Error("hooks without a function have a queue")
	}
}

func TestClocksThatMayAgreeAreTakenToAgree(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.UnixMilli(int64(1_000_000 + ms)) }
	for name, c := range map[string]struct{ sent, now, shown, stored, asked, age int }{
		"within the round trip":   {0, 20, 3, 0, 5, 5},
		"behind ours":             {0, 20, -1000, -2000, 10, 1000},
		"ahead of ours":           {0, 20, 1010, 1000, 40, 40},
		"set back after the fact": {0, 20, -1000, 500, 10, 0},
	} {
		var clock storeClock
		clock.heard(at(c.sent), at(c.now), at(c.shown))
		if got := clock.age(at(c.stored), at(c.asked)); got != time.Duration(c.age)*time.Millisecond {
			t.Errorf("%s: the age is %v, want %d ms", name, got, c.age)
		}
	}
	var clock storeClock
	clock.heard(at(0), at(5), time.Time{})
	if clock != (storeClock{}) || clock.age(time.Time{}, at(0)) != 0 {
		t.Error("a store that does not tell its time, or that of a message, changes something")
	}
}

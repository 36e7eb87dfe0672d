package pgstore_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// Rows from before there was a constraint: JSON that the server takes and no reader goes through.
func TestAnUnreadableMessageDelaysNoOther(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec("ALTER DOMAIN postbag.headers DROP CONSTRAINT headers_are_flat")
	const deep = "(('{\"a\":' || repeat('[', 11000) || repeat(']', 11000) || '}')::json)"
	s.publish(boxtest.Messages(2, "a", "b")...)
	s.exec("INSERT INTO postbag.outbox (topic, key, headers, payload) VALUES ('orders', 'deep', " + deep + ", 'x')")
	s.exec("INSERT INTO postbag.outbox__scheduled (due, key, headers) VALUES (now() + interval '1 hour', 'deep', " + deep + ")")
	s.publish(boxtest.Messages(2, "a", "b")...)
	told := func(what string, r *store.Record) {
		t.Helper()
		if r.Err == nil || strings.Contains(r.Err.Error(), "[[") || r.Key != "deep" || r.Headers != nil {
			t.Errorf("%s: key %q, headers %v, error %v", what, r.Key, r.Headers, r.Err)
		}
	}
	r := s.Read()
	if len(r) != 5 {
		t.Fatalf("%d messages come, not 5", len(r))
	}
	for i := range r {
		switch {
		case i == 2:
			told("Turn", &r[i])
			if string(r[i].Payload) != "x" {
				t.Errorf("its payload is %q", r[i].Payload)
			}
		case r[i].Err != nil || r[i].Headers["n"] == "":
			t.Errorf("message %d has headers %v, error %v", i, r[i].Headers, r[i].Err)
		}
	}
	s.Settle(&s.Lease, store.Settlement{
		To: s.At, Park: []store.Park{{Seq: r[2].Seq, Slot: r[2].Slot, Hash: r[2].Hash, State: store.ParkRetrying, Blocking: true, Reason: r[2].Err.Error()}},
		Tally: append(boxtest.Tally(store.TallyParked, r[2]), boxtest.Tally(store.TallyDelivered, r[0], r[1], r[3], r[4])...),
	})
	due, err := s.Due(t.Context(), store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20})
	s.Must(err)
	if len(due) != 1 {
		t.Fatalf("%d messages are due, not 1", len(due))
	}
	told("Due", &due[0].Record)
	items, _, err := s.List(t.Context(), store.Query{Ref: outbox})
	s.Must(err)
	if len(items) != 5 {
		t.Fatalf("%d messages are listed, not 5", len(items))
	}
	told("List", &items[2].Record)
	shown, err := s.Show(t.Context(), "outbox", r[2].ID)
	s.Must(err)
	if len(shown) != 1 {
		t.Fatalf("%d copies are shown, not 1", len(shown))
	}
	told("Show", &shown[0].Record)
	later, _, err := s.List(t.Context(), store.Query{Ref: store.Ref{Box: "outbox"}, State: store.StateScheduled})
	s.Must(err)
	if len(later) != 1 {
		t.Fatalf("%d messages are scheduled, not 1", len(later))
	}
	told("List of what is scheduled", &later[0].Record)
}

// Headers count as the payload does, so that no page holds much more than it was asked for: of 20 messages with a megabyte of
// headers each a page of a megabyte has one or two, whichever way it is read.
func TestAPageIsBoundedByAllBytesOfItsRows(t *testing.T) {
	t.Parallel()
	const n, large, bytes = 20, 1 << 20, 1 << 20
	s := newTestBox(t)
	s.exec("ALTER DOMAIN postbag.headers DROP CONSTRAINT headers_are_small")
	s.exec("INSERT INTO postbag.outbox (key, type, headers) SELECT 'k' || g, 't', json_build_object('a', repeat('x', $1)) FROM generate_series(1, $2) g", large, n)
	s.Declare(store.Spec{Ref: store.Ref{Box: "outbox", Subscription: "typed"}, Types: []string{"t"}, Shards: 1})
	for _, r := range []store.Ref{outbox, {Box: "outbox", Subscription: "typed"}} {
		q := boxtest.Request(r, "", 1000)
		q.Bytes = bytes
		come := 0
		var rows []store.Record
		for more := true; more; {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{q}})
			s.Must(err)
			b := &res.Batches[0]
			s.Must(b.Err)
			runtime.ReadMemStats(&after)
			if len(b.Records) > 2 {
				t.Fatalf("%s: a page of %d bytes has %d messages with %d each", r, bytes, len(b.Records), large)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 { // other tests run at the same time
				t.Errorf("%s: a page took %d bytes of memory", r, used)
			}
			rows = append(rows, b.Records...)
			come, q.From, more = come+len(b.Records), b.Next, b.More
		}
		if come != n {
			t.Errorf("%s: %d of %d messages come", r, come, n)
		}
		if r == outbox {
			s.parked(t, rows, q.From, bytes)
		}
	}
	items, cursor, err := s.List(t.Context(), store.Query{Ref: outbox, Limit: 1000})
	s.Must(err)
	if len(items) == 0 || len(items) == n || cursor == "" {
		t.Errorf("%d of %d messages are listed at once", len(items), n)
	}
}

// parked parks rows and looks how many are due at a time.
func (s *testBox) parked(t *testing.T, rows []store.Record, to store.Position, bytes int) {
	t.Helper()
	st := store.Settlement{To: to, Tally: boxtest.Tally(store.TallyParked, rows...)}
	for i := range rows {
		st.Park = append(st.Park, store.Park{Seq: rows[i].Seq, Slot: rows[i].Slot, Hash: rows[i].Hash, State: store.ParkRetrying})
	}
	s.Settle(&s.Lease, st)
	due, err := s.Due(t.Context(), store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: 1000, Bytes: bytes})
	s.Must(err)
	if len(due) == 0 || len(due) > 2 {
		t.Errorf("%d messages are due at once", len(due))
	}
}

// Rows of just the size at which one of the two sides could end a page and the other not.
func TestPagesOfAnySizeBringEveryRowOnce(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec(`INSERT INTO postbag.outbox (key, shard_key, type, topic, headers, payload) SELECT repeat('k', g % 7), NULLIF(repeat('s', g % 3), ''), CASE WHEN g % 2 = 0 THEN 't' END,
		'topic', CASE WHEN g % 3 = 0 THEN json_build_object('a', repeat('h', g % 50)) END, convert_to(repeat('p', g % 90), 'UTF8') FROM generate_series(1, 120) g`)
	typed := store.Ref{Box: "outbox", Subscription: "typed"}
	s.Declare(store.Spec{Ref: typed, Types: []string{"t"}, Shards: 1})
	for _, r := range []store.Ref{outbox, typed} {
		for _, bytes := range []int{1, 113, 1000} {
			q := boxtest.Request(r, "", 50)
			q.Bytes = bytes
			seen := map[int64]bool{}
			for more := true; more; {
				res, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{q}})
				s.Must(err)
				s.Must(res.Batches[0].Err)
				for _, m := range res.Batches[0].Records {
					if seen[m.Seq] {
						t.Fatalf("%s, %d bytes: message %d comes twice", r, bytes, m.Seq)
					}
					seen[m.Seq] = true
				}
				q.From, more = res.Batches[0].Next, res.Batches[0].More
			}
			if len(seen) != 120 {
				t.Errorf("%s, %d bytes: %d of 120 messages come", r, bytes, len(seen))
			}
		}
	}
}

func TestAFilterOfALaterVersionStopsItsOwnSubscriptionAlone(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	boxtest.UnreadableFilter(t, s.Store, func() {
		s.exec("UPDATE postbag._subscriptions SET takes = $1 WHERE name = 'default'", boxtest.LaterFilter)
	}, func() { s.publish(boxtest.Messages(1, "a")...) })
}

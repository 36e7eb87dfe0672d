package pgstore_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/store/pgstore"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// listAll returns all that a query finds, page after page, and how many pages.
func (s *testBox) listAll(q store.Query) (out []store.Item, pages int) {
	s.Helper()
	if q.Ref == (store.Ref{}) {
		q.Ref = outbox
	}
	for {
		items, next, err := s.List(s.Context(), q)
		s.Must(err)
		out = append(out, items...)
		if pages++; next == "" {
			return out, pages
		}
		if q.Cursor == next {
			s.Fatalf("a listing stays at %s", next)
		}
		q.Cursor = next
	}
}

// Headers are up to 64 KiB a row.
func TestAListingThatReadsHeadersHasFewRowsInMemory(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	one := store.Ref{Box: outbox.Box, Subscription: "one"}
	s.Declare(store.Spec{Ref: one, Shards: 1, Where: store.Where{Headers: []string{"n"}}})
	msgs := boxtest.Messages(2000, "a")
	for i := range msgs {
		msgs[i].Headers = nil
	}
	msgs[3].Headers = map[string]string{"n": "3"}
	s.publish(msgs...)
	rows, err := s.ListedAtOnce(t.Context(), outbox.Box)
	if s.Must(err); rows > 500 {
		t.Errorf("%d rows with headers are in memory", rows)
	}
	for state, want := range map[store.State]int{store.StateFiltered: 1999, store.StatePending: 1} {
		for _, oldest := range []bool{false, true} {
			if got, _ := s.listAll(store.Query{Ref: one, State: state, Oldest: oldest, Limit: 1000}); len(got) != want {
				t.Errorf("%d messages are listed as %s, not %d", len(got), state, want)
			}
		}
	}
}

// In Turkish the small letter of I is none of ASCII.
func TestASearchByErrorKnowsTheSmallLettersOfASCIIInEveryLocale(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec(`ALTER TABLE postbag._parked ALTER reason TYPE text COLLATE "tr-x-icu"`)
	s.exec(`ALTER TABLE postbag._past ALTER reason TYPE text COLLATE "tr-x-icu"`)
	s.publish(boxtest.Messages(2, "a", "b")...)
	var ps []store.Park
	records := s.Read()
	for _, r := range records {
		ps = append(ps, store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: store.ParkDead, Attempts: 1, Reason: "INVALID"})
	}
	s.Settle(&s.Lease, store.Settlement{To: s.At, Park: ps})
	s.Settle(&s.Lease, store.Settlement{Resolve: []store.Resolved{{Seq: records[1].Seq, Hash: records[1].Hash}}})
	for _, q := range []store.Query{{State: store.StateDead}, {State: store.StateDead, Key: "a"}, {State: store.StateDelivered}} {
		q.Error = "invalid"
		if got, _ := s.listAll(q); len(got) != 1 {
			t.Errorf("of state %q and key %q, %d messages with the error are found, not 1", q.State, q.Key, len(got))
		}
	}
}

// many is a box with 20,000 messages in four partitions, some delivered, some
// parked, some to come.
func many(tb testing.TB) (*testBox, []postbag.Message) {
	tb.Helper()
	s := newTestBox(tb)
	s.Keep = time.Hour
	var msgs []postbag.Message
	for i := range 4 {
		batch := boxtest.Messages(5000, "a", "b", "c", "", fmt.Sprint("part", i))
		for k := range batch {
			if k%100 == 0 {
				batch[k].Type = "order.cancelled"
			}
		}
		msgs = append(msgs, s.publish(batch...)...)
		s.burn()
	}
	return s, msgs
}

func TestTwentyThousandMessagesArePagedWholeAndWithoutRepeats(t *testing.T) {
	t.Parallel()
	s, msgs := many(t)
	records := s.Read()
	st := store.Settlement{To: s.At}
	for i := 0; i < len(records)-3000; i += 10 {
		p := store.Park{Seq: records[i].Seq, Slot: records[i].Slot, Hash: records[i].Hash, State: store.ParkDead, Reason: fmt.Sprint("reason ", i%7)}
		st.Park = append(st.Park, p)
	}
	s.Settle(&s.Lease, st)
	for _, q := range []struct {
		name string
		store.Query
		want func(i int, m *postbag.Message) bool
	}{
		{"everything", store.Query{Limit: 1000}, func(int, *postbag.Message) bool { return true }},
		{"everything, page by page", store.Query{Limit: 333, Oldest: true}, func(int, *postbag.Message) bool { return true }},
		{"one key", store.Query{Limit: 77, Key: "b"}, func(_ int, m *postbag.Message) bool { return m.Key == "b" }},
		{"a rare key", store.Query{Key: "part2"}, func(_ int, m *postbag.Message) bool { return m.Key == "part2" }},
		{"a type", store.Query{Limit: 100, Type: "order.cancelled", Oldest: true}, func(_ int, m *postbag.Message) bool { return m.Type == "order.cancelled" }},
		{"types", store.Query{Limit: 1000, Type: "order.*"}, func(int, *postbag.Message) bool { return true }},
		{"the dead", store.Query{Limit: 100, State: store.StateDead}, func(i int, _ *postbag.Message) bool { return i < 17_000 && i%10 == 0 }},
		{"the dead, oldest first", store.Query{Limit: 1000, State: store.StateDead, Oldest: true}, func(i int, _ *postbag.Message) bool { return i < 17_000 && i%10 == 0 }},
		{"the delivered", store.Query{Limit: 1000, State: store.StateDelivered}, func(i int, _ *postbag.Message) bool { return i >= 17_000 || i%10 != 0 }},
		{"an error", store.Query{Limit: 10, Error: "REASON 3"}, func(i int, _ *postbag.Message) bool { return i < 17_000 && i%10 == 0 && i%7 == 3 }},
		{"nothing", store.Query{Topic: "elsewhere"}, func(int, *postbag.Message) bool { return false }},
	} {
		got, pages := s.listAll(q.Query)
		var want, ids []postbag.ID
		for i := range msgs {
			if q.want(i, &msgs[i]) {
				want = append(want, msgs[i].ID)
			}
		}
		for i := range got {
			ids = append(ids, got[i].ID)
		}
		if !q.Oldest {
			slices.Reverse(ids)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%s: %d messages are listed on %d pages, not exactly the %d in their order", q.name, len(got), pages, len(want))
		}
	}
}

func TestAListingGoesOnWhileRetentionDeletes(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(9000, "a", "b")...)
	s.Deliver()
	seen := map[int64]bool{}
	q := store.Query{Ref: outbox, Limit: 50}
	for pages := 0; ; pages++ {
		items, next, err := s.List(t.Context(), q)
		s.Must(err)
		for _, it := range items {
			if seen[it.Seq] {
				t.Fatalf("seq %d is listed twice", it.Seq)
			}
			seen[it.Seq] = true
		}
		if q.Cursor = next; next == "" {
			break
		}
		if pages == 10 {
			s.Until("the log is thinned", func() bool { return s.Total.Deleted >= 5000 })
		}
	}
	if len(seen) < 500 {
		t.Errorf("%d messages were listed", len(seen))
	}
}

func TestQueriesThatAreNoValidTextFindNothing(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(10, "a")...)
	s.Deliver()
	for name, q := range map[string]store.Query{
		"NUL in the topic":   {Topic: "a\x00"},
		"NUL in the key":     {Key: "\x00"},
		"NUL in the type":    {Type: "a\x00.*"},
		"invalid topic":      {Topic: "\xff"},
		"invalid key":        {Key: "a\xc3"},
		"invalid type":       {Type: "\xff.*"},
		"NUL in the error":   {Error: "\x00"},
		"invalid error":      {Error: "\xff\xfe"},
		"a quote in the key": {Key: `'"\; --`},
		"a pattern":          {Key: "%"},
		"a pattern of types": {Type: "%.*"},
	} {
		for _, state := range []store.State{"", store.StateDead, store.StateScheduled} {
			q.Ref, q.State = outbox, state
			if items, next, err := s.List(t.Context(), q); err != nil || len(items) > 0 || next != "" {
				t.Errorf("%s, state %q: %d messages, cursor %q, %v", name, state, len(items), next, err)
			}
		}
	}
}

func TestInvalidQueriesAreRefused(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	for name, q := range map[string]store.Query{
		"no such box":          {Ref: store.Ref{Box: "nothing", Subscription: "default"}},
		"no such subscription": {Ref: store.Ref{Box: "outbox", Subscription: "nobody"}},
		"the housekeeping":     {Ref: upkeep},
		"a box with a quote":   {Ref: store.Ref{Box: `x"; DROP TABLE y`}},
		"a malformed cursor":   {Ref: outbox, Cursor: "x"},
		"a negative cursor":    {Ref: outbox, Cursor: "-1.0"},
		"a cursor with a tail": {Ref: outbox, Cursor: "1"},
		"an unknown state":     {Ref: outbox, State: "sent"},
	} {
		if _, _, err := s.List(t.Context(), q); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for cursor := range strings.FieldsSeq("9223372036854775807.9 0.0 1.1000000 9223372036854775806.0") {
		for _, oldest := range []bool{false, true} {
			if _, _, err := s.List(t.Context(), store.Query{Ref: outbox, Cursor: cursor, Oldest: oldest}); err != nil {
				t.Errorf("cursor %s, oldest first %v: %v", cursor, oldest, err)
			}
		}
	}
}

func TestAPageEndsWhereItsPayloadsGetTooLarge(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	msgs := boxtest.Messages(9, "a")
	for i := range msgs {
		msgs[i].Payload = bytes.Repeat([]byte{byte(i)}, 5<<20)
	}
	s.publish(msgs...)
	got, pages := s.listAll(store.Query{Oldest: true})
	if len(got) != len(msgs) || pages < 3 {
		t.Fatalf("9 messages of 5 MiB come as %d on %d pages", len(got), pages)
	}
	for i := range got {
		if !bytes.Equal(got[i].Payload, msgs[i].Payload) {
			t.Errorf("message %d comes with other bytes", i)
		}
	}
}

func TestListedMessagesHaveAllTheirFields(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	m := postbag.Message{
		ID: postbag.NewID(), Topic: "tópic", Key: "k'\\\"{}", ShardKey: "a customer", Type: "order.created",
		Headers: map[string]string{"a": "b\n", "ü": `"`}, Payload: []byte{0, 1, 0xff, 0xfe},
	}
	later := m
	later.ID, later.NotBefore = postbag.NewID(), time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	s.publish(m, later)
	s.exec("INSERT INTO postbag.outbox (key, payload) VALUES ('plain', 'x')")
	check := func(it store.Item, want *postbag.Message) {
		t.Helper()
		if it.ID != want.ID || it.Topic != want.Topic || it.Key != want.Key || it.ShardKey != want.ShardKey || it.Type != want.Type ||
			!bytes.Equal(it.Payload, want.Payload) || fmt.Sprint(it.Headers) != fmt.Sprint(want.Headers) ||
			it.Slot != store.SlotOf(want) || it.Hash != store.KeyHash(want.Key) || time.Since(it.At).Abs() > time.Minute {
			t.Errorf("a message is listed as %+v", it)
		}
	}
	got, _ := s.listAll(store.Query{Oldest: true})
	if len(got) != 2 {
		t.Fatalf("%d of 2 messages are listed", len(got))
	}
	check(got[0], &m)
	if got[1].Topic != "outbox" || got[1].Slot != store.SlotOf(&postbag.Message{Key: "plain"}) || got[1].State != store.StatePending {
		t.Errorf("a row of plain SQL is listed as %+v", got[1])
	}
	due, _ := s.listAll(store.Query{State: store.StateScheduled})
	if len(due) != 1 || !due[0].NotBefore.Equal(later.NotBefore) || due[0].Due < 59*time.Minute || due[0].Due > time.Hour {
		t.Fatalf("scheduled are %+v", due)
	}
	check(due[0], &later)
	for _, topic := range []string{"outbox", "tópic"} {
		if got, _ := s.listAll(store.Query{Topic: topic}); len(got) != 1 {
			t.Errorf("%d messages are listed for topic %q", len(got), topic)
		}
	}
	if got, _ := s.listAll(store.Query{State: store.StateScheduled, Topic: "outbox"}); len(got) != 0 {
		t.Errorf("%d scheduled messages are listed for another topic", len(got))
	}
}

func TestMessagesAreFoundByTime(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	// Fifty messages a minute apart, in two partitions, the last of them an hour ago.
	s.exec("INSERT INTO postbag.outbox (at, key) SELECT clock_timestamp() - (110 - g) * interval '1 minute', 'old' FROM generate_series(1, 25) g")
	s.burn()
	s.exec("INSERT INTO postbag.outbox (at, key) SELECT clock_timestamp() - (110 - g) * interval '1 minute', 'old' FROM generate_series(26, 50) g")
	s.publish(boxtest.Messages(5000, "a")...)
	now := time.Now()
	for _, c := range []struct {
		after, before int // minutes
		want          int
	}{{100, 90, 10}, {200, 108, 1}, {85, 84, 1}, {60, 0, 5001}, {59, 0, 5000}, {300, 200, 0}, {-1, -10, 0}, {300, 61, 48}} {
		ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes)*time.Minute - 30*time.Second) }
		q := store.Query{After: ago(c.after), Before: ago(c.before), Limit: 1000}
		if c.before == 0 {
			q.Before = time.Time{}
		}
		if got, _ := s.listAll(q); len(got) != c.want {
			t.Errorf("between %d and %d minutes ago %d messages are found, not %d", c.after, c.before, len(got), c.want)
		}
	}
}

func TestAMessageIsShownWhereverItIs(t *testing.T) {
	t.Parallel()
	s, msgs := many(t)
	for _, i := range []int{0, 4999, 5000, 12345, len(msgs) - 1} {
		got, err := s.Show(t.Context(), "outbox", msgs[i].ID)
		s.Must(err)
		if len(got) != 1 || got[0].ID != msgs[i].ID || got[0].State != store.StatePending || !bytes.Equal(got[0].Payload, msgs[i].Payload) {
			t.Errorf("message %d is shown %d times", i, len(got))
		}
	}
	// An id that says nothing of when it was made, and one of the future.
	random := postbag.ID{1, 2, 3, 4, 5, 6, 0x47, 8, 0x89}
	future := postbag.ID{0xff, 2, 3, 4, 5, 6, 0x77, 8, 0x89}
	m := boxtest.Messages(2, "odd")
	m[0].ID, m[1].ID = random, future
	s.publish(m...)
	for _, id := range []postbag.ID{random, future} {
		if got, err := s.Show(t.Context(), "outbox", id); err != nil || len(got) != 1 || got[0].ID != id {
			t.Errorf("a message with id %s is shown %d times: %v", id, len(got), err)
		}
	}
	if got, err := s.Show(t.Context(), "outbox", postbag.ID{}); err != nil || len(got) != 0 {
		t.Errorf("no id is shown %d times: %v", len(got), err)
	}
	if _, err := s.Show(t.Context(), "nothing", random); err == nil {
		t.Error("a message of no box is shown without an error")
	}
}

func TestAListingIsConsistentWhileMessagesAreResolved(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(200, "")...)
	records := s.Read()
	st := store.Settlement{To: s.At}
	for _, r := range records {
		st.Park = append(st.Park, store.Park{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead})
	}
	s.Settle(&s.Lease, st)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		for _, r := range records {
			n, err := s.Command(t.Context(), store.Audit{Who: "me", Why: "test"}, outbox, store.Discard, []int64{r.Seq})
			turn, failed := s.Turn(t.Context(), store.Turn{Settle: []store.Settlement{{Lease: s.Lease}}})
			if err != nil || failed != nil || n != 1 || len(turn.Commands) != 1 {
				t.Errorf("%d commands are queued, %d come: %v, %v", n, len(turn.Commands), err, failed)
				return
			}
			s.Lease.Version++
			s.Settle(&s.Lease, store.Settlement{Resolve: []store.Resolved{{Seq: r.Seq}}, Done: []store.Done{turn.Commands[0].Done()}})
		}
	}()
	for ctx.Err() == nil {
		got, _ := s.listAll(store.Query{Limit: 1000})
		if len(got) != len(records) {
			t.Errorf("%d of %d messages are listed", len(got), len(records))
		}
		for _, it := range got {
			if it.State != store.StateDead && it.State != store.StateDiscarded {
				t.Errorf("a dead message that is being discarded is listed as %q", it.State)
			}
		}
	}
	<-done
}

func TestAnOverviewEstimatesLargeCounts(t *testing.T) {
	t.Parallel()
	s, msgs := many(t)
	s.Must(pgx.BeginFunc(t.Context(), s.plain, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "ANALYZE postbag.outbox")
		return err
	}))
	o, err := s.Overview(t.Context())
	s.Must(err)
	b := o.Boxes[0]
	if b.Rows < 18_000 || b.Rows > 22_000 {
		t.Errorf("a log of %d messages has about %d", len(msgs), b.Rows)
	}
	if v := b.Subscriptions[0]; v.Backlog < 20_000 || v.Oldest <= 0 || v.Oldest > time.Hour {
		t.Errorf("of %d messages that nobody has read about %d are, the oldest for %s", len(msgs), v.Backlog, v.Oldest)
	}
	s.Deliver()
	o, err = s.Overview(t.Context())
	s.Must(err)
	if v := o.Boxes[0].Subscriptions[0]; v.Backlog != 0 || v.Oldest != 0 || v.Delivered != int64(len(msgs)) {
		t.Errorf("after all was delivered the backlog is %d, %s old; %d are delivered", v.Backlog, v.Oldest, v.Delivered)
	}
}

func TestAnOverviewWithoutABoxTellsTheTime(t *testing.T) {
	t.Parallel()
	s, err := pgstore.Open(t.Context(), newPool(t, plainConfig(t, shared.Database(t))), pgstore.Options{Create: true, Boxes: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	o, err := s.Overview(t.Context())
	if err != nil || len(o.Boxes) != 0 || time.Since(o.Now).Abs() > time.Minute {
		t.Errorf("it has %d boxes at %s (%v)", len(o.Boxes), o.Now, err)
	}
}

// A message that has become due goes from the schedule into the log, while somebody looks at it.
func TestAMessageIsShownAtEveryMomentOfItsWayIntoTheLog(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	var due []postbag.ID
	for i := range 100 {
		m := boxtest.Messages(1, "a")[0]
		m.ID, m.NotBefore = postbag.NewID(), time.Now().Add(500*time.Millisecond+time.Duration(i)*10*time.Millisecond)
		due = append(due, m.ID)
		s.publish(m)
	}
	ended := make(chan error, 1)
	go func() {
		for promoted := int64(0); promoted < int64(len(due)); {
			r, err := s.Maintain(s.Context(), store.Retention{Lease: s.House, Keep: s.Keep})
			if promoted += r.Promoted; err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for _, id := range due {
		for gone := false; !gone; {
			items, err := s.Show(s.Context(), outbox.Box, id)
			if s.Must(err); len(items) == 0 {
				t.Fatal("the message is in neither of both")
			}
			gone = items[0].State != store.StateScheduled
		}
	}
	s.Must(<-ended)
}

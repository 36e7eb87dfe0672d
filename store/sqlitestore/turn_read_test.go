package sqlitestore_test

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// A page looks at so many rows and no more; what lies beyond is not passed, also where the read is to end further on.
func TestAFilteredReadPassesOnlyTheRowsThatItExamined(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.lease(outbox)
	first, last := message("wanted", 1), message("wanted", 2)
	f.publish(first)
	for range 4 {
		f.publish(messages(1000, "other")...)
	}
	f.publish(last)
	var end store.Position
	for b := f.read("", 5000); ; b = f.read(end, 5000) {
		if end = b.Next; !b.More {
			break
		}
	}
	wanted, other := store.SlotOf(&first), store.SlotOf(&messages(1, "other")[0])
	if wanted == other {
		t.Fatal("the two keys have one slot; take others")
	}
	for _, until := range []store.Position{"", end} {
		r := request("", 5)
		r.Slots, r.Until = []store.Slots{{Lo: wanted, Hi: wanted + 1}}, until
		var got []store.Record
		for pages := 1; ; pages++ {
			b := f.turn(store.Turn{Read: []store.Request{r}}).Batches[0]
			f.check(b.Err)
			got = append(got, b.Records...)
			r.From = b.Next
			if !b.More {
				if pages < 3 || pages > 10 {
					t.Errorf("4,002 rows were looked at in %d pages", pages)
				}
				break
			}
		}
		if len(got) != 2 || got[0].ID != first.ID || got[1].ID != last.ID {
			t.Errorf("towards %q %d messages came, not both", until, len(got))
		}
		if until != "" && r.From != until {
			t.Error("a read towards a position does not end there")
		}
	}
}

// Earlier versions took a filter of any number of types.
func TestASubscriptionWithMoreTypesThanANewOneCanHaveIsReadOn(t *testing.T) {
	t.Parallel()
	f := open(t)
	types := []string{"order.created"}
	for i := range 2 * store.MaxConditions {
		types = append(types, "never"+strconv.Itoa(i)+".*")
	}
	if err := f.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: "outbox", Subscription: "new"}, Types: types}}); err == nil {
		t.Errorf("a new subscription has %d types", len(types))
	}
	text, err := storekit.TypesText(types)
	f.check(err)
	f.check(f.Exec(t.Context(), "UPDATE postbag__subscription SET types = ? WHERE name = ?", text, outbox.Subscription))
	f.declare(store.Spec{Ref: outbox, Types: types})
	f.lease(outbox)
	f.publish(message("a", 1))
	if got := f.readAll(""); len(got) != 1 || got[0].Filtered {
		t.Errorf("of one message that the filter takes %d came: %+v", len(got), got)
	}
}

func TestPositionsInANonCanonicalFormAreRefused(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.lease(outbox)
	for name, p := range map[string]store.Position{
		"without a seq": "\x01", "of seq zero": "\x01\x00", "with padding": "\x01\x81\x00", "with something behind": "\x01\x05\x05",
		"cut in its seq": "\x01\x85", "of a seq that is none": "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "of another format": "\x02\x05",
	} {
		b := f.turn(store.Turn{Read: []store.Request{request(p, 5)}}).Batches[0]
		if b.Err == nil {
			t.Errorf("a position %s is read on from", name)
		}
	}
}

// A listing holds about 16 MiB at a time, whatever its limit.
func TestAListingIsBoundedByBytes(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.lease(outbox)
	for range 7 {
		m := messages(1, "k")
		m[0].Payload = make([]byte, 6<<20)
		f.publish(m...)
	}
	q := store.Query{Ref: outbox, Limit: 1000}
	for _, want := range []int{3, 3, 1} {
		items, next, err := f.List(t.Context(), q)
		f.check(err)
		if len(items) != want || (next == "") != (want == 1) {
			t.Fatalf("%d messages of 6 MiB are listed, want %d; the cursor is %q", len(items), want, next)
		}
		q.Cursor = next
	}
}

// What is read of scheduled messages to list them is bounded too.
func TestAListingOfScheduledMessagesIsBoundedByBytes(t *testing.T) { //nolint:paralleltest // what it allocates is measured
	f := open(t)
	f.lease(outbox)
	for range 30 {
		m := messages(1, "k")
		m[0].Payload, m[0].NotBefore = make([]byte, 6<<20), time.Now().Add(time.Hour)
		f.publish(m...)
	}
	q := store.Query{Ref: outbox, State: store.StateScheduled, Limit: 1000}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	items, next, err := f.List(t.Context(), q)
	f.check(err)
	runtime.ReadMemStats(&after)
	if len(items) != 3 || next == "" {
		t.Errorf("%d scheduled messages of 6 MiB are listed, want 3; the cursor is %q", len(items), next)
	}
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 90 {
		t.Errorf("listing 18 MiB took %d MiB", mib)
	}
}

package sqlitestore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// unreadable are rows that no reader can take apart. With ignore, the box's constraints
// refuse them, and a producer that has switched them off writes them nevertheless.
var unreadable = map[string]struct {
	ignore bool
	insert string
}{
	"headers in JSON5":         {true, `INSERT INTO postbag_outbox (topic, key, headers, payload) VALUES ('t', 'k', '{a:''b''}', 'p')`},
	"headers behind a NUL":     {true, `INSERT INTO postbag_outbox (topic, key, headers, payload) VALUES ('t', 'k', '{}' || char(0) || 'x', 'p')`},
	"a key that is no text":    {true, `INSERT INTO postbag_outbox (topic, key, payload) VALUES ('t', CAST(x'ff00' AS TEXT), 'p')`},
	"a topic with a NUL":       {true, `INSERT INTO postbag_outbox (topic, key, payload) VALUES ('t' || char(0) || 'u', 'k', 'p')`},
	"a short id":               {true, `INSERT INTO postbag_outbox (id, topic, key, payload) VALUES (x'0102', 't', 'k', 'p')`},
	"an id that is a number":   {true, `INSERT INTO postbag_outbox (id, topic, key, payload) VALUES (7, 't', 'k', 'p')`},
	"an id of 17 bytes":        {true, `INSERT INTO postbag_outbox (id, topic, key, payload) VALUES (x'00112233445566778899aabbccddeeff00', 't', 'k', 'p')`},
	"a type with a NUL":        {true, `INSERT INTO postbag_outbox (topic, key, type, payload) VALUES ('t', 'k', char(0) || 'a', 'p')`},
	"no topic":                 {true, `INSERT INTO postbag_outbox (topic, key, payload) VALUES ('', 'k', 'p')`},
	"headers that are a list":  {true, `INSERT INTO postbag_outbox (topic, key, headers, payload) VALUES ('t', 'k', '[]', 'p')`},
	"headers that are a blob":  {true, `INSERT INTO postbag_outbox (topic, key, headers, payload) VALUES ('t', 'k', x'7b', 'p')`},
	"headers nested deeply":    {true, `INSERT INTO postbag_outbox (topic, key, headers, payload) VALUES ('t', 'k', '{"a":' || replace(hex(zeroblob(20000)), '00', '[') || '}', 'p')`},
	"everything is a number":   {true, `INSERT INTO postbag_outbox (id, at, topic, key, shard_key, type, headers, payload) VALUES (1, 1.5, 2, 3, 4, 5, 6, 7)`},
	"a time that is not a one": {true, `INSERT INTO postbag_outbox (at, topic, key, headers, payload) VALUES ('soon', 't', 'k', '{', 'p')`},
}

// A row that cannot be read comes as a record that says so, and hides no other.
func TestAnUnreadableRowIsReportedAndHidesNoOther(t *testing.T) {
	t.Parallel()
	for name, row := range unreadable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			lease := f.lease(outbox)
			f.publish(message("before", 1))
			conn, err := f.DB().Conn(t.Context())
			f.check(err)
			if _, err := conn.ExecContext(t.Context(), fmt.Sprintf(`PRAGMA ignore_check_constraints = %v`, row.ignore)); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.ExecContext(t.Context(), row.insert); err != nil {
				t.Fatal(err)
			}
			f.check(conn.Close())
			f.publish(message("behind", 2))

			batch := f.read("", 10)
			if len(batch.Records) != 3 || batch.Records[0].Err != nil || batch.Records[2].Err != nil || batch.Records[2].Key != "behind" {
				t.Fatalf("it comes as %v", batch.Records)
			}
			odd := batch.Records[1]
			if odd.Err == nil || odd.Hash != store.KeyHash(odd.Key) {
				t.Errorf("it says %v", odd.Err)
			}
			f.settle(&lease, store.Settlement{To: batch.Next, Park: []store.Park{{
				Seq: odd.Seq, Slot: odd.Slot, Hash: odd.Hash, State: store.ParkRetrying, Blocking: true, Reason: odd.Err.Error(),
			}}})
			due, err := f.Due(t.Context(), due(10))
			if err != nil || len(due) != 1 || due[0].Err == nil || due[0].ID != odd.ID || due[0].Record.Hash != odd.Hash {
				t.Errorf("when it is due it comes as %v (error: %v)", due, err)
			}
			items, _, err := f.List(t.Context(), store.Query{Ref: outbox})
			if err != nil || len(items) != 3 || items[1].Err == nil {
				t.Errorf("the list shows %v (error: %v)", items, err)
			}
			if shown, err := f.Show(t.Context(), "outbox", odd.ID); err != nil {
				t.Errorf("it is shown as %v (error: %v)", shown, err)
			}
			if again := f.read(batch.At(1), 10); len(again.Records) != 1 || again.Records[0].Key != "behind" {
				t.Errorf("behind it comes %v", again.Records)
			}
		})
	}
}

// Times that nobody can wait for stop no housekeeping, and hide no other message.
func TestTimesOutOfRangeStopNoDelivery(t *testing.T) {
	t.Parallel()
	f := open(t)
	insert := func(due string) { // as an earlier version let it be done
		f.check(f.Exec(t.Context(), `PRAGMA ignore_check_constraints = true; INSERT INTO postbag__scheduled (box, due, id, at, topic, key, shard_key, type, payload)
			VALUES ('outbox', `+due+`, randomblob(16), 1, 't', 'k', '', '', 'p'); PRAGMA ignore_check_constraints = false`))
	}
	for _, due := range []string{"'never'", "9223372036854775807", "1.5e300", "x'00'"} {
		insert(due)
	}
	maintenance := f.lease(store.Ref{Box: "outbox", Subscription: store.Maintenance})
	report, err := f.Maintain(t.Context(), store.Retention{Lease: maintenance, Keep: time.Hour})
	if err != nil || report.Promoted != 0 || report.NextDue < 24*time.Hour {
		t.Errorf("housekeeping reports %+v (error: %v)", report, err)
	}
	for _, due := range []string{"-9223372036854775808", "0"} {
		insert(due)
	}
	report, err = f.Maintain(t.Context(), store.Retention{Lease: maintenance, Keep: time.Hour})
	if err != nil || report.Promoted != 2 || report.More {
		t.Errorf("housekeeping reports %+v (error: %v)", report, err)
	}
	items, _, err := f.List(t.Context(), store.Query{Ref: outbox, State: store.StateScheduled})
	if err != nil || len(items) != 4 {
		t.Errorf("the list shows %d scheduled messages (error: %v)", len(items), err)
	}
	for _, item := range items {
		if item.Due < 24*time.Hour || item.NotBefore.Year() > 9999 {
			t.Errorf("one is due in %s, at %s", item.Due, item.NotBefore)
		}
	}
}

// A page is bounded by all that is in a row.
func TestAPageIsBoundedByAllBytesOfARow(t *testing.T) {
	t.Parallel()
	f := open(t)
	for range 20 {
		f.check(f.Exec(t.Context(), `INSERT INTO postbag_outbox (topic, key, headers, payload)
			VALUES ('t', 'k', '{"a":"' || replace(hex(zeroblob(5000)), '0', 'x') || '"}', 'p')`))
	}
	r := request("", 100)
	r.Bytes = 50_000
	batch := f.turn(store.Turn{Read: []store.Request{r}}).Batches[0]
	if n := len(batch.Records); n < 4 || n > 6 || !batch.More {
		t.Errorf("a page of 50,000 bytes has %d rows of 10,000 in their headers", n)
	}
}

func TestAFilterOfALaterVersionStopsItsOwnSubscriptionAlone(t *testing.T) {
	t.Parallel()
	f := open(t)
	boxtest.UnreadableFilter(t, f.Store, func() {
		f.check(f.Exec(t.Context(), `UPDATE postbag__subscription SET takes = '`+boxtest.LaterFilter+`' WHERE name = 'default'`))
	}, func() { f.publish(message("a", 1)) })
}

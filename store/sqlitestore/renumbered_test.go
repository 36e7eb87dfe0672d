package sqlitestore_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// emptied are the ways in which an owner empties a log and begins its numbering again.
var emptied = map[string][]string{
	"rows deleted, numbering set back": {
		`DELETE FROM postbag_outbox`, `UPDATE sqlite_sequence SET seq = 0 WHERE name = 'postbag_outbox'`,
	},
	"rows deleted, numbering forgotten": {
		`DELETE FROM postbag_outbox`, `DELETE FROM sqlite_sequence WHERE name = 'postbag_outbox'`,
	},
	"the table rebuilt": {
		`CREATE TABLE fresh (seq INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL DEFAULT (randomblob(16)), at INTEGER NOT NULL,
			topic TEXT NOT NULL, key TEXT NOT NULL, shard_key TEXT NOT NULL, type TEXT NOT NULL, headers TEXT, payload BLOB NOT NULL)`,
		`DROP TABLE postbag_outbox`, `ALTER TABLE fresh RENAME TO postbag_outbox`,
	},
}

// What was put into a log that was emptied is delivered, however much it is, no matter who
// looks first: the relay that was at work, or one that begins.
func TestALogThatWasEmptiedAndRenumberedIsReadFromTheStart(t *testing.T) {
	t.Parallel()
	for name, statements := range emptied {
		for _, more := range []int{3, 10, 25} {
			for _, restarted := range []bool{false, true} {
				f := open(t)
				lease := f.lease(outbox)
				f.publish(messages(10, "k")...)
				first := f.read("", 100)
				f.settle(&lease, store.Settlement{To: first.Next})
				f.read(first.Next, 100) // nothing: the next one like it is answered from memory
				for _, statement := range statements {
					f.check(f.Exec(t.Context(), statement))
				}
				anew := messages(more, "k")
				f.publish(anew...)
				if restarted {
					f = openAt(t, f.path, sqlitestore.Options{})
				} else if _, err := f.Turn(t.Context(), store.Turn{Read: []store.Request{request(first.Next, 100)}}); !errors.Is(err, store.ErrMoved) {
					t.Errorf("%s, %d rows put in: the next turn returned %v, want ErrMoved", name, more, err)
				}
				if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
					t.Errorf("%s, %d rows put in, restarted %v: Check returned %v, want ErrMoved", name, more, restarted, err)
				}
				if _, err := f.Check(t.Context()); err != nil {
					t.Fatalf("%s: Check after that: %v", name, err)
				}
				got := f.readAll(f.take("another", outbox)[0].Position)
				if !slices.EqualFunc(got, anew, func(r store.Record, m postbag.Message) bool { return r.ID == m.ID }) {
					t.Errorf("%s, %d rows put in, restarted %v: %d come after that", name, more, restarted, len(got))
				}
				if entries, err := f.Audited(t.Context(), 10); err != nil || len(entries) != 1 {
					t.Errorf("%s: the audit log says %v (error: %v)", name, entries, err)
				}
			}
		}
	}
}

// Rows that were deleted by hand and not numbered again are no reason to begin again.
func TestRowsDeletedByHandMoveNoPosition(t *testing.T) {
	t.Parallel()
	f := open(t)
	lease := f.lease(outbox)
	f.publish(messages(10, "k")...)
	first := f.read("", 100)
	f.settle(&lease, store.Settlement{To: first.Next})
	f.check(f.Exec(t.Context(), `DELETE FROM postbag_outbox`))
	f.publish(messages(5, "k")...)
	if got := f.readAll(first.Next); len(got) != 5 || got[0].Seq != 11 {
		t.Errorf("after rows were deleted come %v", got)
	}
	if _, err := f.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// Housekeeping that has looked below the log's beginning, and deletes there when the log was emptied, numbered
// again and begun again meanwhile, deletes nothing: what is there now nobody has read.
func TestHousekeepingLeavesALogThatWasJustRenumbered(t *testing.T) {
	t.Parallel()
	for name, statements := range emptied {
		f := open(t)
		lease, house := f.lease(outbox), f.lease(store.Ref{Box: "outbox", Subscription: store.Maintenance})
		f.publish(messages(10, "k")...)
		f.settle(&lease, store.Settlement{To: f.read("", 100).Next})
		f.check(f.Exec(t.Context(), `UPDATE postbag__box SET swept = 8 WHERE name = 'outbox'`)) // as after retention
		for _, statement := range statements {
			f.check(f.Exec(t.Context(), statement))
		}
		anew := messages(5, "k")
		f.publish(anew...)
		if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
			t.Fatalf("%s: Check returned %v, want ErrMoved", name, err)
		}
		f.check(f.RemoveKept(t.Context(), house, 0, 8))
		got := f.readAll(f.take("another", outbox)[0].Position)
		if !slices.EqualFunc(got, anew, func(r store.Record, m postbag.Message) bool { return r.ID == m.ID }) {
			t.Errorf("%s: of %d messages %d are left", name, len(anew), len(got))
		}
	}
}

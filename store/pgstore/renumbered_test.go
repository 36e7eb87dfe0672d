package pgstore_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
)

// emptied are the ways in which an owner empties a box and begins its numbering again.
var emptied = map[string][]string{
	"TRUNCATE":                {"TRUNCATE postbag.outbox RESTART IDENTITY"},
	"DELETE and setval":       {"DELETE FROM postbag.outbox", "SELECT setval('postbag.outbox__seq', 1, false)"},
	"a part, and setval back": {"DELETE FROM postbag.outbox WHERE seq > 7", "SELECT setval('postbag.outbox__seq', 7)"},
}

// again takes the leases again, as a relay does when the store has moved, which it says.
func (s *testBox) again(relay string) {
	s.Helper()
	_, err := s.Beat(s.Context(), store.Beat{Relay: "relay", Leave: true})
	s.Must(err)
	s.Lease = s.Take(relay, outbox)
	s.At = lease2position(s, outbox)
}

func TestALogThatWasEmptiedAndRenumberedIsDelivered(t *testing.T) {
	t.Parallel()
	for name, sql := range emptied {
		for what, n := range map[string]int{"less than before": 10, "as much as before": 20, "more than before": 35} {
			for where, restarted := range map[string]bool{"a living relay": false, "a new one": true} {
				t.Run(name+", "+what+", "+where, func(t *testing.T) {
					t.Parallel()
					s := newTestBox(t)
					s.publish(boxtest.Messages(20, "a", "b")...)
					r := s.Read()
					s.Settle(&s.Lease, store.Settlement{
						To: s.At, Park: []store.Park{{Seq: r[8].Seq, Slot: r[8].Slot, Hash: r[8].Hash, State: store.ParkRetrying, Blocking: true}},
						Tally: append(boxtest.Tally(store.TallyParked, r[8]), boxtest.Tally(store.TallyDelivered, append(r[:8:8], r[9:]...)...)...),
					})
					s.Deliver()
					for _, q := range sql {
						s.exec(q)
					}
					want := map[postbag.ID]bool{}
					for n := n; n > 0; n -= 5 { // several transactions
						for _, m := range s.publish(boxtest.Messages(min(n, 5), "a", "b")...) {
							want[m.ID] = true
						}
					}
					if restarted {
						s = s.on(newFixture(t, s.dsn))
					} else if res, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{boxtest.Request(outbox, s.At, 1000)}}); !moved(err) {
						t.Errorf("the next turn says %v, and %d messages", err, len(res.Batches[0].Records))
					}
					if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
						t.Errorf("the box is checked with %v", err)
					}
					if _, err := s.Check(t.Context()); err != nil {
						t.Errorf("it is checked again with %v", err)
					}
					s.again("another")
					for _, m := range s.publish(boxtest.Messages(3, "c")...) {
						want[m.ID] = true
					}
					for _, r := range s.Deliver() {
						delete(want, r.ID)
					}
					if len(want) > 0 {
						t.Errorf("%d of %d messages do not come", len(want), n+3)
					}
					if got := s.number("SELECT count(*) FROM postbag._parked WHERE seq > 0"); got != 0 {
						t.Errorf("%d messages are parked that are gone", got)
					}
					entries, err := s.Audited(t.Context(), 10)
					s.Must(err)
					if len(entries) != 1 || !strings.Contains(entries[0].What, "outbox") {
						t.Errorf("the audit log has %v", entries)
					}
					s.House = s.Take("another housekeeper", upkeep)
					s.rounds()
					if len(s.Total.Faults) > 0 {
						t.Errorf("housekeeping finds %q", s.Total.Faults)
					}
				})
			}
		}
	}
}

// The bound of a transaction that ran was one of the old numbering: its rows lay below it, where nothing is looked for.
func TestARowBelowARunningTransactionsBoundRevealsRenumbering(t *testing.T) {
	t.Parallel()
	for where, restarted := range map[string]bool{"a living relay": false, "a new one": true} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := newTestBox(t)
			s.publish(boxtest.Messages(1, "a")...)
			s.Deliver()
			if got := s.Read(); len(got) > 0 { // new transactions write beyond 1, as far as is known
				t.Fatalf("%d messages come again", len(got))
			}
			s.exec("DELETE FROM postbag.outbox")
			s.exec("SELECT setval('postbag.outbox__seq', 1, false)")
			late := boxtest.Messages(1, "late")
			tx, err := s.plain.Begin(t.Context())
			s.Must(err)
			s.Must(s.Append(t.Context(), tx, "outbox", late)) // as 1
			s.publish(boxtest.Messages(20, "b")...)
			if got := len(s.Deliver()); got != 20 {
				t.Fatalf("%d messages come, not 20", got)
			}
			s.Read()
			s.Settle(&s.Lease, store.Settlement{To: s.At})
			s.Must(tx.Commit(t.Context()))
			if restarted {
				s = s.on(newFixture(t, s.dsn))
			} else if res, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{boxtest.Request(outbox, s.At, 1000)}}); !moved(err) {
				t.Errorf("the next turn says %v, and %d messages", err, len(res.Batches[0].Records))
			}
			if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
				t.Errorf("the box is checked with %v", err)
			}
			s.again("another")
			for _, r := range s.Deliver() {
				if r.ID == late[0].ID {
					return
				}
			}
			t.Error("the message of the transaction that ran does not come")
		})
	}
}

// With a cache, a session draws numbers before their transactions have ids. The sequence has another file as soon as it is
// altered, and nothing is read on from there until it is as it was; then all comes, and once.
func TestRaisingTheSequenceCacheUnderARelayLosesNothing(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(3, "a")...)
	s.Deliver()
	s.exec("ALTER SEQUENCE postbag.outbox__seq CACHE 10")
	want := map[postbag.ID]bool{}
	note := func(msgs []postbag.Message) {
		for _, m := range msgs {
			want[m.ID] = true
		}
	}
	early, err := s.plain.Acquire(t.Context()) // a session with numbers in hand
	s.Must(err)
	defer early.Release()
	write := func() {
		tx, err := early.Begin(t.Context())
		s.Must(err)
		msgs := boxtest.Messages(1, "a")
		s.Must(s.Append(t.Context(), tx, "outbox", msgs))
		s.Must(tx.Commit(t.Context()))
		note(msgs)
	}
	write()
	note(s.publish(boxtest.Messages(3, "b")...))
	read := store.Turn{Read: []store.Request{boxtest.Request(outbox, s.At, 1000)}}
	if _, err := s.Turn(t.Context(), read); !moved(err) {
		t.Errorf("the next turn says %v", err)
	}
	if _, err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "CACHE 1 ") {
		t.Errorf("the box is checked with %v", err)
	}
	write()
	s.exec("ALTER SEQUENCE postbag.outbox__seq CACHE 1")
	write()
	s.Eventually("the store is well", func() bool {
		_, err := s.Check(t.Context())
		return err == nil
	})
	s.again("another")
	for _, r := range s.Deliver() {
		if !want[r.ID] {
			t.Errorf("message %v comes again", r.ID)
		}
		delete(want, r.ID)
	}
	if len(want) > 0 {
		t.Errorf("%d messages do not come", len(want))
	}
}

// searched maintains until rows that came late are noticed, and has the box looked through again. Searches come at once, or,
// if it waits, with their pause between them.
func (s *testBox) searched(waits bool) {
	s.Helper()
	s.Eventually("housekeeping notices what came late", func() bool { // at one of its next searches
		if !waits {
			s.Must(s.EndLatePause(s.Context()))
		}
		_, err := s.Maintain(s.Context(), store.Retention{Lease: s.House, Keep: s.Keep})
		if err != nil && !moved(err) {
			s.Fatal(err)
		}
		return err != nil
	})
	read := store.Turn{Read: []store.Request{boxtest.Request(outbox, s.At, 1000)}}
	if _, err := s.Turn(s.Context(), read); !moved(err) {
		s.Errorf("the next turn says %v", err)
	}
	if _, err := s.Check(s.Context()); !errors.Is(err, store.ErrMoved) {
		s.Errorf("the box is checked with %v", err)
	}
	if _, err := s.Check(s.Context()); err != nil {
		s.Errorf("it is checked again with %v", err)
	}
	s.again("another")
	s.House = s.Take("another housekeeper", upkeep)
}

// Its transaction is passed with the next snapshot, after which no position shows that the row was not. In the short form one
// of the searches comes when its pause is over, and the others come at once.
func TestARowThatIsInsertedBelowABoundIsDelivered(t *testing.T) {
	t.Parallel()
	drawn := func(s *testBox, others func()) {
		s.Must(s.inSession(func(conn *pgx.Conn) error {
			seq := int64(0)
			if err := conn.QueryRow(s.Context(), "SELECT nextval('postbag.outbox__seq')").Scan(&seq); err != nil {
				return err
			}
			others()
			_, err := conn.Exec(s.Context(), "INSERT INTO postbag.outbox (seq, key) VALUES ($1, 'late')", seq)
			return err
		}))
	}
	ways := map[string]func(s *testBox, others func()){
		"a number that was drawn long before": drawn,
		"a number that was drawn long before, with many after it": func(s *testBox, others func()) {
			drawn(s, func() {
				s.exec("SELECT setval('postbag.outbox__seq', last_value + 20000) FROM postbag.outbox__seq")
				others()
			})
		},
		"a sequence that was set back into a hole and on again": func(s *testBox, others func()) {
			hole := s.number("SELECT nextval('postbag.outbox__seq')")
			others()
			last := s.number("SELECT last_value FROM postbag.outbox__seq")
			s.exec("SELECT setval('postbag.outbox__seq', $1, false)", hole)
			s.exec("INSERT INTO postbag.outbox (key) VALUES ('late')")
			s.exec("SELECT setval('postbag.outbox__seq', $1)", last)
		},
	}
	for name, way := range ways {
		for where, passed := range map[string]bool{"passed": true, "not passed yet": false} {
			waits := servertest.Full() || passed && name == "a number that was drawn long before"
			t.Run(name+", "+where, func(t *testing.T) {
				t.Parallel()
				s := newTestBox(t)
				s.Keep = time.Hour
				want := map[string]int{}
				deliver := func() {
					for _, r := range s.Deliver() {
						want[r.Key]++
					}
				}
				s.publish(boxtest.Messages(5, "a")...)
				deliver()
				way(s, func() {
					for range 3 {
						s.publish(boxtest.Messages(5, "b")...)
						deliver()
					}
					deliver() // the bound of new transactions is beyond all
					s.Housekeep()
				})
				if passed {
					s.publish(boxtest.Messages(5, "c")...)
					deliver()
					deliver()
				}
				if want["late"] != 0 {
					t.Fatal("the message is read, and nothing is to be noticed")
				}
				s.searched(waits)
				s.publish(boxtest.Messages(1, "d")...)
				deliver()
				if !passed {
					want["c"] = 5
				}
				if !maps.Equal(want, map[string]int{"a": 5, "b": 15, "c": 5, "late": 1, "d": 1}) {
					t.Errorf("what came is %v", want)
				}
				o, err := s.Overview(t.Context())
				s.Must(err)
				if n := o.Boxes[0].Notices; len(n) != 1 || n[0].What != "look through outbox again" || !strings.Contains(n[0].Why, "gone past") {
					t.Errorf("the overview has the notices %v", n)
				}
				s.Keep = time.Millisecond
				s.rounds()
				if len(s.Total.Faults) > 0 {
					t.Errorf("housekeeping finds %q", s.Total.Faults)
				}
			})
		}
	}
}

// Writers that commit late, roll back and prepare write where every position says that they may.
func TestRowsOfLateCommitsAreNotTakenForRenumberedRows(t *testing.T) {
	t.Parallel()
	f := newFixture(t, migrated(t))
	leases := takeShards(t.Context(), t, f, 2)
	w := newWriters(t, f, rounds(), 8*time.Millisecond)
	over, searched := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		defer func() { searched <- n }()
		for {
			select {
			case <-over:
				return
			default:
			}
			if err := f.SearchLate(t.Context()); err != nil {
				t.Errorf("search %d says %v", n, err)
				return
			}
			n++
		}
	}()
	kept, _ := readAll(t.Context(), t, w, []*chain{newChain(f, 1, leases[0]), newChain(f, 2, leases[1])})
	close(over)
	t.Logf("%d searches", <-searched)
	if got := w.compare(kept); got != (tallied{}) {
		t.Errorf("of %d messages: %+v", w.count(), got)
	}
}

// The owner of the tables is not held back by column grants.
func TestASeqNotTakenFromTheSequenceIsRefused(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(3, "a")...)
	drawn := s.number("SELECT nextval('postbag.outbox__seq')")
	s.exec("SELECT nextval('postbag.outbox__seq')")
	for what, seq := range map[string]int64{"far ahead": 1_000_000, "drawn by another session": drawn, "below": -5} {
		s.Must(s.inSession(func(conn *pgx.Conn) error {
			for _, first := range []string{"SELECT 1", "SELECT nextval('postbag.outbox__seq')"} {
				if _, err := conn.Exec(t.Context(), first); err != nil {
					return err
				}
				if _, err := conn.Exec(t.Context(), "INSERT INTO postbag.outbox (seq) VALUES ($1)", seq); err == nil {
					t.Errorf("a seq that is %s is taken after %s", what, first)
				}
			}
			return nil
		}))
	}
	s.exec("INSERT INTO postbag.outbox (key) SELECT 'k' FROM generate_series(1, 10) g ORDER BY random()")
	s.exec("INSERT INTO postbag.outbox (key) VALUES ('k'), ('l'), ('m')")
	s.exec("WITH k AS (SELECT DISTINCT g % 3 AS n FROM generate_series(1, 10) g) INSERT INTO postbag.outbox (key) SELECT n::text FROM k UNION ALL SELECT 'x'")
	s.Must(s.inSession(func(conn *pgx.Conn) error {
		_, err := conn.CopyFrom(t.Context(), pgx.Identifier{"postbag", "outbox"}, []string{"key"}, pgx.CopyFromRows([][]any{{"a"}, {"b"}, {"c"}}))
		return err
	}))
	if got := len(s.Deliver()); got != 3+10+3+4+3 {
		t.Errorf("%d messages come, not 23", got)
	}
}

// inSession runs do on a session of its own.
func (s *testBox) inSession(do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(s.Context(), s.dsn)
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close(s.Context()))
}

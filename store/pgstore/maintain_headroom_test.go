package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

func TestPartitionsAreMadeAheadAsTheOptionsSay(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	last := func() int64 {
		return s.number(`SELECT max((regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''(\d+)''\)'))[1]::bigint) - 1
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'postbag.outbox'::regclass`)
	}
	if n := last(); n < 500_000_000 || n%partSize != 0 {
		t.Fatalf("a new box has room for %d messages", n)
	}
	if r := s.Housekeep(); r.Added != 0 {
		t.Errorf("%d partitions were added to a new box", r.Added)
	}
	s.exec("UPDATE postbag._boxes SET spans = 1")
	s.exec("SELECT setval('postbag.outbox__seq', $1)", last()-500_000_000+2*store.TallySpan)
	s.Until("there is room again", func() bool { return s.Total.Added == 2 })
	if r := s.Housekeep(); r.Added != 0 || len(s.Total.Faults) > 0 {
		t.Errorf("%d partitions too many were added; faults: %q", r.Added, s.Total.Faults)
	}
	s.exec("SELECT setval('postbag.outbox__seq', $1)", last()-2)
	s.publish(boxtest.Messages(2, "a")...) // the last ones there is room for; the next would be refused
	if got := s.Read(); len(got) != 2 {
		t.Errorf("%d of 2 messages are read at the end of the log", len(got))
	}
}

func TestTwoHousekeepersAddPartitionsOnce(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	other := testBoxAgain(s)
	var all sync.WaitGroup
	for _, keeper := range []*testBox{s, other} {
		all.Go(func() {
			for range 10 {
				r, err := keeper.Maintain(t.Context(), store.Retention{Lease: s.House, Keep: time.Hour, Headroom: 1 << 30})
				if err != nil {
					t.Error(err)
				}
				keeper.Total.Added += r.Added
			}
		})
	}
	all.Wait()
	n := s.number("SELECT count(*) FROM pg_inherits WHERE inhparent = 'postbag.outbox'::regclass")
	if want := int64((1<<30 + partSize - 1) / partSize); n != want {
		t.Errorf("there are %d partitions, not %d; %d and %d were added", n, want, s.Total.Added, other.Total.Added)
	}
}

// traffic is writers and a reader at work while partitions come and go.
type traffic struct {
	*testBox

	stop    atomic.Bool
	all     sync.WaitGroup
	mu      sync.Mutex
	waits   []time.Duration
	reads   []time.Duration
	written atomic.Int64
}

// write inserts message after message, each a transaction, and notes how long each
// insert took.
func (f *traffic) write(hold time.Duration) {
	ctx := f.Context()
	for i := 0; !f.stop.Load(); i++ {
		err := pgx.BeginFunc(ctx, f.plain, func(tx pgx.Tx) error {
			begin := time.Now()
			if err := f.Append(ctx, tx, "outbox", boxtest.Messages(1, fmt.Sprint("k", i%7))); err != nil {
				return err
			}
			f.note(&f.waits, time.Since(begin))
			if hold > 0 {
				_, err := tx.Exec(ctx, "SELECT pg_sleep($1)", hold.Seconds())
				return err
			}
			return nil
		})
		if err != nil {
			f.Errorf("insert: %v", err)
			return
		}
		f.written.Add(1)
	}
}

func (f *traffic) note(list *[]time.Duration, d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*list = append(*list, d)
}

// quantiles returns the median, the 99th percentile and the longest.
func quantiles(list []time.Duration) (p50, p99, most time.Duration) {
	slices.Sort(list)
	n := len(list)
	return list[n/2], list[n*99/100], list[n-1]
}

func TestWritersDoNotWaitWhilePartitionsAreAddedAndDropped(t *testing.T) {
	t.Parallel()
	f := &traffic{testBox: newTestBox(t)}
	for i := range 4 {
		hold := time.Duration(0)
		if i == 0 {
			hold = 250 * time.Millisecond // longer than DDL waits
		}
		f.all.Go(func() { f.write(hold) })
	}
	var delivered int
	deliver := func() {
		begin := time.Now()
		delivered += len(f.Deliver())
		f.note(&f.reads, time.Since(begin))
	}
	burnt, begun := int64(0), int64(0)
	f.Eventually("partitions were dropped and added", func() bool {
		deliver()
		f.Housekeep()
		if n := f.written.Load(); n >= begun+50 && burnt < f.Total.Added+5 { // each partition gets some rows
			f.burn()
			burnt, begun = burnt+1, n
		}
		return f.Total.Dropped >= 4 && f.Total.Added >= 4
	})
	f.stop.Store(true)
	f.all.Wait()
	deliver()
	if int64(delivered) != f.written.Load() {
		t.Errorf("%d messages were written and %d read", f.written.Load(), delivered)
	}
	if len(f.Total.Faults) > 0 {
		t.Errorf("faults: %q", f.Total.Faults)
	}
	p50, p99, most := quantiles(f.waits)
	t.Logf("%d inserts while %d partitions were added and %d dropped: median %s, 99 of 100 %s, longest %s",
		len(f.waits), f.Total.Added, f.Total.Dropped, p50, p99, most)
	r50, r99, longest := quantiles(f.reads)
	t.Logf("%d reads and settlements: median %s, 99 of 100 %s, longest %s", len(f.reads), r50, r99, longest)
	if most > 10*time.Second {
		t.Errorf("an insert waited %s: DDL waits 200 ms at most", most)
	}
}

// While a partition is detached nothing of it is read, and positions pass it.
func TestAPartitionDetachedByOthersIsReported(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.Keep = time.Hour
	s.publish(boxtest.Messages(3, "a")...)
	if faults := s.Housekeep().Faults; len(faults) > 0 {
		t.Fatalf("housekeeping reports %q", faults)
	}
	s.burn()
	s.publish(boxtest.Messages(1, "a")...)
	s.exec("ALTER TABLE postbag.outbox DETACH PARTITION postbag.outbox__p0")
	faults := s.Housekeep().Faults
	if len(faults) != 1 || !strings.Contains(faults[0], fmt.Sprintf("seqs 1 to %d of box outbox are in no partition", partSize)) {
		t.Errorf("housekeeping reports %q", faults)
	}
	s.exec("INSERT INTO postbag.outbox (id, topic, key, payload) SELECT id, topic, key, payload FROM postbag.outbox__p0 ORDER BY seq")
	if n := len(s.Deliver()); n != 4 {
		t.Errorf("%d of 4 messages are delivered after three were inserted again", n)
	}
}

// An operator who moved the numbering far ahead makes room with the command that makes boxes: no relay has to run first.
func TestCreateBoxAddsPartitionsToAnExistingBox(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(1, "a")...)
	ahead := func(by string) {
		s.exec(`SELECT setval('postbag.outbox__seq', max((regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''(\d+)'))[1]::bigint) + ` + by + `)
			FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'postbag.outbox'::regclass`)
	}
	put := func() error {
		return s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			return s.Append(ctx, tx, "outbox", boxtest.Messages(1, "a"))
		})
	}
	ahead("100000000")
	if err := put(); err == nil || !strings.Contains(err.Error(), "run postbag migrate up --box") {
		t.Fatalf("a message beyond all partitions: %v", err)
	}
	s.Must(s.CreateBox(t.Context(), "outbox"))
	s.Must(put())
	s.Must(s.CreateBox(t.Context(), "outbox"))
	ahead("100000000000")
	if err := s.CreateBox(t.Context(), "outbox"); err == nil || !strings.Contains(err.Error(), "put it back") {
		t.Errorf("numbers without any measure: %v", err)
	}
}

// The log was emptied and its numbering begun again when the first partition had long been dropped. Every INSERT failed then,
// a due message stopped the housekeeping before it made room, and so did the command that the error names: it made none.
func TestANumberingThatBeginsBelowAllPartitionsGoesOn(t *testing.T) {
	t.Parallel()
	for name, sql := range emptied {
		if name == "a part, and setval back" {
			continue
		}
		for what, passed := range map[string]bool{"what was passed": true, "nothing passed": false} {
			for how, command := range map[string]bool{"by housekeeping": false, "by the command": true} {
				t.Run(name+", "+what+", "+how, func(t *testing.T) {
					t.Parallel()
					s := newTestBox(t)
					s.publish(boxtest.Messages(3, "a")...)
					s.Deliver()
					s.exec("SELECT setval('postbag.outbox__seq', $1)", int64(partSize))
					s.publish(boxtest.Messages(3, "a")...)
					s.Deliver()
					s.Eventually("the first partition is dropped", func() bool { s.Housekeep(); return s.Total.Dropped == 1 })
					if !passed {
						s.exec("UPDATE postbag._shards SET position = '' WHERE sub = (SELECT id FROM postbag._subscriptions WHERE name = 'default')")
						s.again("another")
					}
					for _, q := range sql {
						s.exec(q)
					}
					want := boxtest.Messages(4, "b")
					s.exec("INSERT INTO postbag.outbox__scheduled (due, id, topic, payload) VALUES (now() - interval '1 hour', $1, 't', 'p')", want[0].ID.String())
					if command {
						s.Must(s.CreateBox(t.Context(), "outbox"))
						s.publish(want[1:2]...)
					}
					if _, err := s.Maintain(t.Context(), store.Retention{Lease: s.House, Keep: s.Keep}); !moved(err) {
						t.Errorf("housekeeping says %v", err)
					}
					if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
						t.Errorf("the box is checked with %v", err)
					}
					if _, err := s.Check(t.Context()); err != nil {
						t.Errorf("it is checked again with %v", err)
					}
					s.again("a third")
					s.House = s.Take("another housekeeper", upkeep)
					s.Total = store.Report{}
					s.rounds()
					if !command {
						s.publish(want[1:2]...)
					}
					s.publish(want[2:]...)
					got := map[postbag.ID]int{}
					for _, r := range s.Deliver() {
						got[r.ID]++
					}
					for _, m := range want {
						if got[m.ID] != 1 {
							t.Errorf("message %v came %d times", m.ID, got[m.ID])
						}
					}
					if len(s.Total.Faults) > 0 {
						t.Errorf("housekeeping finds %q", s.Total.Faults)
					}
				})
			}
		}
	}
}

func TestAPartitionIsAddedWhereTheNumberingGoesOn(t *testing.T) {
	t.Parallel()
	const span = store.TallySpan
	for _, c := range []struct {
		parts          [][2]int64
		last, from, to int64
		room           int64
	}{
		{nil, 0, 1, 2*span + 1, 0},
		{[][2]int64{{0, 2}}, 0, 2*span + 1, 4*span + 1, 2 * span},
		{[][2]int64{{0, 2}}, 5 * span, 2*span + 1, 4*span + 1, -3 * span}, // it jumped ahead
		{[][2]int64{{2, 4}}, 0, 1, 2*span + 1, 0},
		{[][2]int64{{3, 5}}, span + 7, span + 1, 3*span + 1, 0},
		{[][2]int64{{3, 5}}, span, span + 1, 3*span + 1, 0},
		{[][2]int64{{2, 4}}, 2*span - 1, span + 1, 2*span + 1, 0},
		{[][2]int64{{0, 2}, {3, 5}}, 7, 2*span + 1, 3*span + 1, 2*span - 7},
		{[][2]int64{{0, 2}, {6, 8}}, 3 * span, 3*span + 1, 5*span + 1, 0},
	} {
		if from, to, room := pgstore.NextPartition(c.parts, c.last, 2); from != c.from || to != c.to || room != c.room {
			t.Errorf("beside spans %v, after %d: from %d to %d with room for %d, want %d to %d with %d", c.parts, c.last, from, to, room, c.from, c.to, c.room)
		}
	}
}

package pgstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
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

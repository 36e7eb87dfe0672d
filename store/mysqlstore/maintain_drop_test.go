package mysqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// producing publishes one message after the other, each in a transaction of its own,
// and measures how long each took.
type producing struct {
	stop chan struct{}
	done sync.WaitGroup
	// took is the longest, of so many; slow are those that took more than a quarter
	// of a second.
	took        time.Duration
	count, slow int
}

func (s *testBox) produce() *producing {
	p := &producing{stop: make(chan struct{})}
	p.done.Go(func() {
		for {
			select {
			case <-p.stop:
				return
			default:
			}
			began := time.Now()
			if _, err := s.plain.ExecContext(context.Background(), "INSERT INTO postbag_outbox (topic, payload) VALUES ('t', 'p')"); err != nil {
				s.Errorf("a producer: %v", err)
				return
			}
			took := time.Since(began)
			p.count++
			p.took = max(p.took, took)
			if took > time.Second/4 {
				p.slow++
			}
		}
	})
	return p
}

func (p *producing) end() {
	close(p.stop)
	p.done.Wait()
}

// A transaction that stays open holds up what changes the table, and that every
// INSERT behind it. So it gives up after a second, and leaves the table alone then.
func TestADropThatWaitsForAnOpenTransactionGivesUpSoon(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided, func(o *mysqlstore.Options) { o.Partition = time.Hour })
		s.fill(1500)
		s.Eventually("a partition is made", func() bool { return s.Housekeep().Added == 1 })
		before := s.parts()
		slow, err := s.plain.BeginTx(t.Context(), nil)
		s.Must(err)
		late := boxtest.Messages(3, "late")
		s.Must(s.Append(t.Context(), slow, "outbox", late))
		p := s.produce()
		s.Eventually("a drop is tried", func() bool { s.Housekeep(); return len(s.Total.Faults) > 0 })
		for range 20 { // it is left alone for a minute
			s.Housekeep()
		}
		p.end()
		if n := len(s.Total.Faults); n != 1 || !strings.Contains(s.Total.Faults[0], "is open; it is tried again in 1m0s") {
			t.Errorf("housekeeping says %q", s.Total.Faults)
		}
		// The one that ran behind the drop, of thousands: generous on a busy machine.
		if p.slow > 3 || p.took > 10*time.Second {
			t.Errorf("of %d INSERTs %d took more than 250 ms, the longest %s", p.count, p.slow, p.took)
		}
		if got := s.parts(); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("the partitions ended at %d, and end at %d", before, got)
		}
		if s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq <= 1000") != 1000 {
			t.Error("rows are gone without a drop")
		}
		s.Must(slow.Commit())
		s.TryPartitions()
		s.Eventually("it is dropped when the transaction has ended", func() bool { s.Housekeep(); return s.Total.Dropped == 1 })
		came := make(map[postbag.ID]bool)
		for _, r := range s.Deliver() {
			came[r.ID] = true
		}
		for _, m := range late {
			if !came[m.ID] {
				t.Errorf("message %v, which was committed late, did not come", m.ID)
			}
		}
	})
}

func TestAddingAndDroppingPartitionsUnderLoadLosesNoMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := testBoxOn(t, databaseOn(t, k.private(t, k.rowLockSettings()...), "parts"), divided, grace(200*time.Millisecond))
		s.KeepTombstones(time.Second)
		s.Keep = 10 * time.Millisecond
		locks := s.watchRowLocks(k)
		// Writers that take all of a busy machine leave housekeeping no time to come to a drop.
		pace := make(chan struct{}, 300)
		l := s.pacedLoad(sql.LevelRepeatableRead, false, pace)
		p := s.produce()
		got := make(map[postbag.ID]int)
		others := 0
		turn := func() {
			for _, r := range s.Deliver() {
				if r.Topic == "t" && len(r.Key) == 0 {
					others++ // of p
				} else {
					got[r.ID]++
				}
			}
		}
		want := int64(3)
		if loadSize() > 10_000 {
			want = 12
		}
		for n := range want {
			s.Eventually("partitions are made and dropped while the box is written", func() bool {
				for range cap(pace) - len(pace) {
					pace <- struct{}{}
				}
				turn()
				s.Housekeep()
				s.TryPartitions()
				return s.Total.Dropped > n && s.Total.Added > n
			})
		}
		p.end()
		committed := l.end()
		s.Eventually("all has come", func() bool {
			turn()
			return len(got) >= len(committed) && others >= p.count
		})
		l.check(got)
		if others != p.count {
			t.Errorf("of %d messages of the measured producer %d came", p.count, others)
		}
		locks.none()
		t.Logf("%d INSERTs, the longest took %s, %d more than 250 ms; %d partitions made, %d dropped; %d rows deleted; %q",
			p.count, p.took, p.slow, s.Total.Added, s.Total.Dropped, s.Total.Deleted, s.Total.Faults)
		if p.took > 10*time.Second {
			t.Errorf("an INSERT took %s", p.took)
		}
		last := s.publish(boxtest.Messages(1, "last")...)
		s.Eventually("all but the last is removed", func() bool {
			turn()
			s.Housekeep()
			s.TryPartitions()
			return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE slot < 4096") == 1
		})
		if s.number("SELECT COUNT(*) FROM postbag_outbox WHERE id = ?", last[0].ID[:]) != 1 {
			t.Errorf("the row that was kept is not the last; housekeeping says %q", s.Total.Faults)
		}
	})
}

// What is left of a partition that everybody has passed waits for its drop and is on no list of what was kept. A young
// tombstone in the next partition held it too, and housekeeping sent all its messages again, as rows that nobody has read.
func TestAPartitionIsNotSentAgainWhenTheNextOneHasATombstone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided, grace(50*time.Millisecond), func(o *mysqlstore.Options) { o.Partition = time.Hour })
		s.fill(1500)
		s.burn()
		s.fill(3000)
		s.Eventually("the hole is buried and passed", func() bool { s.Read(); return s.tombstones() == 1 })
		s.Settle(&s.Lease, store.Settlement{To: s.At})
		s.Eventually("the first partition is dropped", func() bool { s.Housekeep(); return s.Total.Dropped == 1 })
		got := s.Deliver()
		if faults := strings.Join(s.Total.Faults, "\n"); len(got) > 0 || strings.Contains(faults, "sent late") {
			t.Errorf("%d messages come again, and housekeeping says %q", len(got), faults)
		}
		if s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq <= 1000") > 0 || s.tombstones() != 1 {
			t.Error("it was not the first one that was dropped")
		}
	})
}

// Between the look at the log and the drop somebody emptied the log and numbered it again:
// what producers had written since was dropped with the partition.
func TestADropLeavesALogThatWasJustEmptied(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided)
		s.fill(1500)
		dropped, err := s.DropFirstPart(t.Context(), func() {
			s.exec("TRUNCATE TABLE postbag_outbox")
			s.publish(boxtest.Messages(10, "new")...)
		})
		s.Must(err)
		if n := s.number("SELECT COUNT(*) FROM postbag_outbox"); dropped || n != 10 {
			t.Errorf("of 10 rows of the new log %d are there; dropped: %v", n, dropped)
		}
		s.publish(boxtest.Messages(1500, "more")...)
		before := s.parts()
		dropped, err = s.DropFirstPart(t.Context(), func() { s.publish(boxtest.Messages(10, "meanwhile")...) })
		s.Must(err)
		if got := s.parts(); !dropped || len(got) != len(before)-1 {
			t.Errorf("the partitions end at %d, and did at %d; dropped: %v", got, before, dropped)
		}
		s.publish(boxtest.Messages(10, "last")...) // nobody has the table for itself any more
		if n := s.number("SELECT @@session.wait_timeout"); n < 60 {
			t.Errorf("a session ends after %d s", n)
		}
	})
}

// A process that stops with the table for itself would hold up all producers.
func TestASilentSessionWithATableLockIsEnded(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided)
		began := time.Now()
		s.Must(s.FallSilentWithTable(t.Context(), func() { s.fill(10) }))
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("producers waited for %v", took)
		}
	})
}

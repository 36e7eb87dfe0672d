package mysqlstore_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// divided makes boxes whose partitions are about a second long.
func divided(o *mysqlstore.Options) { o.Partition = time.Second }

// parts returns where the partitions of the box end, from the lowest up; zero for
// the last.
func (s *testBox) parts() (ends []int64) {
	s.Helper()
	rows, err := s.plain.QueryContext(s.Context(), `SELECT IF(partition_description = 'MAXVALUE', 0, partition_description)
FROM information_schema.partitions WHERE table_schema = DATABASE() AND table_name = 'postbag_outbox' AND partition_name IS NOT NULL
ORDER BY partition_ordinal_position`)
	s.Must(err)
	defer rows.Close() //nolint:errcheck // Err is looked at
	for rows.Next() {
		var end int64
		s.Must(rows.Scan(&end))
		ends = append(ends, end-1)
	}
	s.Must(rows.Err())
	return ends
}

// fill publishes and delivers, in transactions of a hundred messages.
func (s *testBox) fill(n int) {
	s.Helper()
	for ; n > 0; n -= 100 {
		s.publish(boxtest.Messages(100, "a", "b", "c")...)
	}
	s.Deliver()
}

// passAll reads and settles with another subscription all that is there.
func (s *testBox) passAll(l *store.Lease) {
	s.Helper()
	for at, more := store.Position(""), true; more; {
		r := request(at, 1000)
		r.Ref = l.Ref
		turn, err := s.Turn(s.Context(), store.Turn{Read: []store.Request{r}})
		s.Must(err)
		b := turn.Batches[0]
		s.Must(b.Err)
		s.Settle(l, store.Settlement{To: b.Next, Tally: boxtest.Tally(store.TallyDelivered, b.Records...)})
		at, more = b.Next, b.More
	}
}

// When the session that prepared the transaction is gone, MariaDB locks the table no more, only the row. A change of the partition that
// the row is in must wait for it, or leave it.
func TestMakingPartitionsKeepsARowThatASessionPreparedAndLeft(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided)
		ahead := s.parts()[1] + 1
		s.fill(1100) // a partition is to be made
		late := boxtest.Messages(1, "late")
		conn, err := s.plain.Conn(t.Context())
		s.Must(err)
		for _, text := range []string{
			"XA START 'late'",
			fmt.Sprintf("INSERT INTO postbag_outbox (seq, id, topic, `key`, payload) VALUES (%d, X'%x', '%s', 'late', X'%x')", ahead, late[0].ID[:], late[0].Topic, late[0].Payload),
			"XA END 'late'", "XA PREPARE 'late'",
		} {
			_, err := conn.ExecContext(t.Context(), text)
			s.Must(err)
		}
		var session int64
		s.Must(conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&session))
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // the session ends
		s.Housekeep()
		// Before InnoDB has let go of it, MariaDB answers OK to an XA COMMIT, and forgets the transaction. What this table shows is
		// renewed only if nobody has looked for 100 ms.
		for s.number("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = ?", session) > 0 {
			<-time.After(150 * time.Millisecond)
		}
		s.Eventually("the transaction can be committed", func() bool {
			_, err := s.plain.ExecContext(t.Context(), "XA COMMIT 'late'")
			return err == nil
		})
		if n := s.number("SELECT COUNT(*) FROM postbag_outbox WHERE id = ?", late[0].ID[:]); n != 1 {
			t.Errorf("there are %d rows of the message", n)
		}
	})
}

// While a change of the partitions waits for an open transaction, that one writes on into the next partition, which is cut. MariaDB
// began to count again from where the change had begun to wait, so producers got numbers that were taken, error 1062.
func TestMakingPartitionsDoesNotSetTheNumbersBack(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := testBoxOn(t, databaseOn(t, k.private(t), "numbers"), divided)
		next := s.parts()[1]
		s.fill(int(next) - 10) // a partition is to be made
		open, err := s.plain.BeginTx(t.Context(), nil)
		s.Must(err)
		const insert = "INSERT INTO postbag_outbox (topic, payload) VALUES ('t', 'p')"
		_, err = open.ExecContext(t.Context(), insert)
		s.Must(err)
		made := make(chan int64)
		go func() { made <- s.Housekeep().Added }()
		s.Eventually("the change waits for the transaction", func() bool {
			return s.number("SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata lock'") > 0
		})
		for range 30 {
			_, err = open.ExecContext(t.Context(), insert)
			s.Must(err)
		}
		s.Must(open.Commit())
		if added := <-made; added != 1 {
			t.Fatalf("%d partitions were made; housekeeping says %q", added, s.Total.Faults)
		}
		if n := s.number("SELECT MAX(seq) FROM postbag_outbox"); n <= next {
			t.Fatalf("the transaction wrote up to %d, and not into the partition behind %d", n, next)
		}
		_, err = s.plain.ExecContext(t.Context(), insert)
		s.Must(err)
	})
}

func TestPartitionsAreMadeAheadAndDroppedWhenAllHavePassedThem(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided)
		first := s.parts()
		if len(first) != 5 || first[0] != 1000 || first[4] >= 0 {
			t.Fatalf("a new box has partitions up to %d", first)
		}
		slow := store.Ref{Box: "outbox", Subscription: "slow"}
		s.Declare(store.Spec{Ref: slow, Shards: 1})
		behind := s.Take("slow", slow)
		s.fill(900)
		if r := s.Housekeep(); r.Added+r.Dropped+r.Deleted != 0 {
			t.Errorf("nothing is to be done, and it was %+v", r)
		}
		s.fill(600)
		s.Eventually("a partition is made ahead", func() bool { return s.Housekeep().Added == 1 })
		if got := s.parts(); len(got) != 6 || got[0] != first[0] || got[1] != first[1] || got[2] < got[1]+1000 {
			t.Errorf("then the partitions end at %d, and did at %d", got, first)
		}
		if r := s.Housekeep(); r.Dropped+r.Deleted > 0 {
			t.Fatalf("%d partitions and %d rows were removed that a subscription has not passed", r.Dropped, r.Deleted)
		}
		s.passAll(&behind)
		s.Eventually("the first partition is dropped", func() bool { return s.Housekeep().Dropped == 1 })
		if got := s.parts(); got[0] != first[1] {
			t.Errorf("after the drop the partitions end at %d", got)
		}
		if n := s.number("SELECT MIN(seq) FROM postbag_outbox"); n != first[0]+1 {
			t.Errorf("the log begins at %d, and not where the partition ended", n)
		}
		fresh := store.Ref{Box: "outbox", Subscription: "fresh"}
		s.Declare(store.Spec{Ref: fresh, Shards: 1})
		l := s.Take("fresh", fresh)
		s.passAll(&l)
		if len(s.Total.Faults) > 0 {
			t.Errorf("housekeeping says %q", s.Total.Faults)
		}
		s.Must(s.CreateBox(t.Context(), "outbox")) // again
	})
}

func TestAPartitionWithARecentTombstoneIsKept(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided, grace(50*time.Millisecond), func(o *mysqlstore.Options) { o.Partition = time.Hour })
		dead := s.burn()
		s.fill(1500)
		s.Eventually("the hole is buried and passed", func() bool {
			s.Read()
			return s.tombstones() == 1
		})
		s.Read()
		s.Settle(&s.Lease, store.Settlement{To: s.At})
		for range 3 {
			if r := s.Housekeep(); r.Dropped+r.Deleted > 0 {
				t.Fatalf("%d partitions and %d rows are removed, with a young tombstone", r.Dropped, r.Deleted)
			}
		}
		s.KeepTombstones(time.Millisecond)
		s.Eventually("an old one keeps it no more", func() bool { return s.Housekeep().Dropped == 1 })
		if n := s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq <= ?", dead+900); n > 0 {
			t.Errorf("%d rows are left of the partition", n)
		}
	})
}

func TestAParkedMessageKeepsItsPartitionAndNothingElseInIt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided)
		s.publish(boxtest.Messages(1500, "a")...)
		records := s.Read()
		parked := records[7]
		s.Settle(&s.Lease, store.Settlement{
			To:    s.At,
			Tally: slices.Concat(boxtest.Tally(store.TallyDelivered, slices.Concat(records[:7], records[8:])...), boxtest.Tally(store.TallyParked, parked)),
			Park:  []store.Park{{Seq: parked.Seq, Slot: parked.Slot, Hash: parked.Hash, State: store.ParkDead, Attempts: 1, Reason: "no"}},
		})
		s.Eventually("the other rows of the partition are deleted", func() bool {
			s.Housekeep()
			return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE seq <= 1000") == 1
		})
		if s.Total.Dropped > 0 {
			t.Fatal("the partition of a parked message was dropped")
		}
		s.Settle(&s.Lease, store.Settlement{Resolve: []store.Resolved{{Seq: parked.Seq}}, Tally: boxtest.Tally(store.TallyDelivered, parked)})
		s.Eventually("without it the partition is dropped", func() bool { s.Housekeep(); return s.Total.Dropped == 1 })
		if len(s.Total.Faults) > 0 {
			t.Errorf("housekeeping says %q", s.Total.Faults)
		}
	})
}

func TestRowsOfAPartitionThatDoesNotFillAreDeletedOneByOne(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided)
		s.fill(100)
		s.Eventually("two partitions' times later the rows go", func() bool { s.Housekeep(); return s.Total.Deleted == 99 })
		if s.Total.Dropped > 0 || s.number("SELECT COUNT(*) FROM postbag_outbox") != 1 {
			t.Errorf("%d partitions were dropped; the last row is there: %v", s.Total.Dropped, s.number("SELECT COUNT(*) FROM postbag_outbox") == 1)
		}
	})
}

func TestAnExistingBoxIsNotPartitionedAndPartitionLengthCanChange(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		dsn := k.database(t)
		plain := testBoxOn(t, dsn)
		s := newFixture(t, dsn, divided)
		plain.Must(s.CreateBox(t.Context(), "other"))
		plain.Must(s.CreateBox(t.Context(), "outbox"))
		if got := plain.parts(); len(got) > 0 {
			t.Errorf("a box that was there has partitions up to %d", got)
		}
		info, err := s.Check(t.Context())
		plain.Must(err)
		if all := strings.Join(info.Warnings, "\n"); !strings.Contains(all, "box outbox has no partitions") || strings.Contains(all, "box other") {
			t.Errorf("the warnings are %q", all)
		}
		days := newFixture(t, dsn, func(o *mysqlstore.Options) { o.Partition = 24 * time.Hour })
		plain.Must(days.CreateBox(t.Context(), "other"))
		if n := plain.number("SELECT every FROM postbag__partition WHERE box = 'other'"); n != (24 * time.Hour).Microseconds() {
			t.Errorf("the length is %d microseconds after it was set to a day", n)
		}
	})
}

func TestHousekeepingWithoutTheRightsForPartitionsSaysSoAndGoesOn(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, divided)
		dsn := s.account(k, "SELECT, INSERT, UPDATE, DELETE ON *")
		less := newFixture(t, dsn, func(o *mysqlstore.Options) { o.Create, o.Boxes = false, nil })
		s.fill(1500)
		later := s.publish(boxtest.Messages(1, "a")...)
		var said []string
		s.Eventually("the rows are deleted nevertheless", func() bool {
			r, err := less.Maintain(t.Context(), store.Retention{Lease: s.House, Keep: s.Keep})
			s.Must(err)
			said = append(said, r.Faults...)
			return r.Deleted > 0
		})
		if len(said) != 1 || !strings.Contains(said[0], "grant CREATE, ALTER and DROP") {
			t.Errorf("housekeeping says %q", said)
		}
		s.want(s.Deliver(), later...)
	})
}

func TestAnErrorOfHousekeepingSaysOnceWhatFailed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.fill(100)
		tx, err := s.plain.BeginTx(t.Context(), nil)
		s.Must(err)
		_, err = tx.ExecContext(t.Context(), `SELECT lo FROM postbag__shard FOR UPDATE`)
		s.Must(err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // while somebody has the lease locked
		defer cancel()
		_, err = s.Maintain(ctx, store.Retention{Lease: s.House, Keep: time.Hour})
		s.Must(tx.Rollback())
		if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "mysqlstore: maintain box outbox: ") || strings.Count(err.Error(), "mysqlstore:") != 1 {
			t.Errorf("the error is %v", err)
		}
	})
}

package mysqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
)

// load is many writers at work: transactions of one row and of several, plain
// INSERTs and INSERT ... SELECT, commits that come late, roll-backs. It notes what
// was committed.
type load struct {
	*testBox

	level sql.IsolationLevel

	mu        sync.Mutex
	committed map[postbag.ID]bool
	unknown   map[postbag.ID]bool // the answer to their COMMIT was lost
	stop      atomic.Bool
	ended     sync.WaitGroup
	// lenient: errors of a server that goes away are expected.
	lenient bool
	// pace, if not nil, has a token for each transaction that may begin.
	pace chan struct{}
}

const writers = 16

func (s *testBox) load(level sql.IsolationLevel, lenient bool) *load {
	s.Helper()
	return s.pacedLoad(level, lenient, nil)
}

// pacedLoad is a load whose writers take a token before each transaction.
func (s *testBox) pacedLoad(level sql.IsolationLevel, lenient bool, pace chan struct{}) *load {
	s.Helper()
	l := &load{testBox: s, level: level, lenient: lenient, pace: pace, committed: make(map[postbag.ID]bool), unknown: make(map[postbag.ID]bool)}
	for n := range writers {
		l.ended.Go(func() { l.write(rand.New(rand.NewPCG(uint64(n), uint64(level)))) })
	}
	return l
}

func (l *load) write(r *rand.Rand) {
	for !l.stop.Load() {
		if l.pace != nil {
			<-l.pace
		}
		if err := l.transact(r); err != nil && !l.lenient {
			l.Errorf("a writer: %v", err)
			return
		}
	}
}

// transact runs one transaction.
func (l *load) transact(r *rand.Rand) error {
	ctx := context.Background()
	tx, err := l.plain.BeginTx(ctx, &sql.TxOptions{Isolation: l.level})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	msgs := boxtest.Messages(1+r.IntN(4), fmt.Sprint(r.IntN(20)))
	for i := range msgs {
		switch r.IntN(3) {
		case 0: // a plain INSERT of any program
			_, err = tx.ExecContext(ctx, "INSERT INTO postbag_outbox (id, topic, `key`, payload) VALUES (?, 't', ?, 'p')", msgs[i].ID[:], msgs[i].Key)
		case 1: // seqs are given out in lots
			_, err = tx.ExecContext(ctx, "INSERT INTO postbag_outbox (id, topic, `key`, payload) SELECT ?, 't', ?, 'p' FROM DUAL", msgs[i].ID[:], msgs[i].Key)
		default:
			err = l.Append(ctx, tx, "outbox", msgs[i:i+1])
		}
		if err != nil {
			return err
		}
	}
	if r.IntN(2) == 0 {
		time.Sleep(time.Duration(r.IntN(8000)) * time.Microsecond) //nolint:forbidigo // the lateness is what is tried
	}
	if r.IntN(5) == 0 {
		return tx.Rollback()
	}
	err = tx.Commit()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range msgs {
		if err == nil {
			l.committed[msgs[i].ID] = true
		} else {
			l.unknown[msgs[i].ID] = true
		}
	}
	return err
}

func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.committed)
}

// end ends the writers and returns what is committed.
func (l *load) end() map[postbag.ID]bool {
	l.stop.Store(true)
	if l.pace != nil {
		close(l.pace)
	}
	l.ended.Wait()
	return l.committed
}

// follow reads and settles until stopped and everything has come, and returns how
// often each message came.
func (l *load) follow(want int) map[postbag.ID]int {
	l.Helper()
	got := make(map[postbag.ID]int)
	for l.count() < want {
		for _, r := range l.Deliver() {
			got[r.ID]++
		}
	}
	committed := l.end()
	l.Eventually("all that was committed comes", func() bool {
		for _, r := range l.Deliver() {
			got[r.ID]++
		}
		return len(got) >= len(committed)
	})
	return got
}

func (l *load) check(got map[postbag.ID]int) {
	l.Helper()
	lost, again, phantoms := 0, 0, 0
	for id := range l.committed {
		if got[id] == 0 {
			lost++
		}
	}
	for id, n := range got {
		if n > 1 {
			again++
		}
		if !l.committed[id] && !l.unknown[id] {
			phantoms++
		}
	}
	if lost+again+phantoms > 0 {
		l.Errorf("of %d messages %d were lost, %d came again, %d were never committed", len(l.committed), lost, again, phantoms)
	}
}

func loadSize() int {
	if servertest.Full() {
		return 100_000
	}
	return 6000
}

func TestManyWritersLoseNoMessageAndNeverWait(t *testing.T) {
	t.Parallel()
	for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, k *kind) {
				t.Helper()
				s := testBoxOn(t, databaseOn(t, k.private(t, k.rowLockSettings()...), "many"), grace(2*time.Second))
				locks := s.watchRowLocks(k)
				l := s.load(level, false)
				wrong := s.wrongReader(l)
				l.check(l.follow(loadSize()))
				locks.none()
				if lost := wrong(); lost == 0 {
					t.Error("a reader that only remembers the last seq has lost nothing: the load is too tame to show anything")
				}
			})
		})
	}
}

// wrongReader reads beyond the last seq that it saw, as one must not. It returns
// a function that tells how many messages it has lost.
func (s *testBox) wrongReader(l *load) (lost func() int) {
	got := make(map[postbag.ID]bool)
	read := func(last int64) int64 {
		rows, err := s.plain.QueryContext(context.Background(), "SELECT seq, id FROM postbag_outbox WHERE seq > ? ORDER BY seq LIMIT 1000", last)
		if err != nil {
			s.Error(err)
			return last
		}
		defer rows.Close() //nolint:errcheck // Err is looked at
		for rows.Next() {
			var id []byte
			if err := rows.Scan(&last, &id); err != nil {
				s.Error(err)
			}
			got[postbag.ID(id)] = true
		}
		if err := rows.Err(); err != nil {
			s.Error(err)
		}
		return last
	}
	var done sync.WaitGroup
	done.Go(func() {
		last := int64(0)
		for !l.stop.Load() {
			last = read(last)
		}
		for next := read(last); next != last; next = read(last) {
			last = next
		}
	})
	return func() int {
		done.Wait()
		n := 0
		for id := range l.committed {
			if !got[id] {
				n++
			}
		}
		return n
	}
}

func TestAServerThatIsKilledUnderLoadLosesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		m := k.private(t)
		s := testBoxOn(t, databaseOn(t, m, "killed"), grace(time.Second))
		l := s.load(sql.LevelRepeatableRead, true)
		got := make(map[postbag.ID]int)
		for round := 1; round <= 3; round++ {
			s.Eventually("there is load", func() bool { return l.turn(got) && l.count() > 700*round })
			s.Must(m.Kill(t.Context()))
			s.Must(m.Start(t.Context()))
			s.Eventually("the store answers again", func() bool {
				_, err := s.Check(t.Context())
				return err == nil
			})
		}
		s.Eventually("there is load", func() bool { return l.turn(got) && l.count() > 3000 })
		committed := l.end()
		s.Eventually("everything has come", func() bool {
			l.turn(got)
			for id := range committed {
				if got[id] == 0 {
					return false
				}
			}
			return true
		})
		for id := range got {
			if !l.committed[id] && !l.unknown[id] {
				t.Errorf("message %v came and was never committed", id)
			}
		}
	})
}

// turn reads and settles as a relay does whose server may go away: after an error
// it goes on from what is settled.
func (l *load) turn(got map[postbag.ID]int) bool {
	l.Helper()
	read, err := l.Turn(l.Context(), store.Turn{Read: []store.Request{request(l.At, 300)}})
	if err != nil || read.Batches[0].Err != nil {
		l.recover(err)
		return false
	}
	b := read.Batches[0]
	st := store.Settlement{Lease: l.Lease, To: b.Next, Tally: boxtest.Tally(store.TallyDelivered, b.Records...)}
	settled, err := l.Turn(l.Context(), store.Turn{Settle: []store.Settlement{st}})
	if err != nil || !settled.Verdicts[0].Applied {
		l.recover(err)
		return false
	}
	for i := range b.Records {
		got[b.Records[i].ID]++
	}
	l.Lease.Version++
	l.At = b.Next
	return true
}

func (l *load) recover(err error) {
	l.Helper()
	if errors.Is(err, store.ErrMoved) {
		l.Fatalf("a server that was killed is taken for another: %v", err)
	}
	v, err := l.Beat(l.Context(), store.Beat{Relay: "relay", TTL: time.Hour, Works: []store.Ref{outbox}})
	if err != nil || len(v.Subscriptions) == 0 {
		return
	}
	l.Lease = v.Subscriptions[0].Shards[0].Lease
	l.At = v.Subscriptions[0].Shards[0].Position
}

func TestRetentionUnderLoadDeletesWhatWasPassedAndDisturbsNobody(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := testBoxOn(t, databaseOn(t, k.private(t, k.rowLockSettings()...), "retained"), grace(200*time.Millisecond))
		locks := s.watchRowLocks(k)
		l := s.load(sql.LevelRepeatableRead, false)
		got := make(map[postbag.ID]int)
		s.Eventually("a good part of the log is deleted while it is written", func() bool {
			for _, r := range s.Deliver() {
				got[r.ID]++
			}
			s.Housekeep()
			return s.Total.Deleted > 2000
		})
		committed := l.end()
		s.Eventually("all has come", func() bool {
			for _, r := range s.Deliver() {
				got[r.ID]++
			}
			return len(got) >= len(committed)
		})
		l.check(got)
		locks.none()
		if len(s.Total.Faults) > 0 {
			t.Errorf("retention told of faults: %q", s.Total.Faults)
		}
		last := s.publish(boxtest.Messages(1, "last")...)
		s.want(s.Deliver(), last...)
		s.Eventually("all but the last is deleted", func() bool {
			s.Read()
			s.Settle(&s.Lease, store.Settlement{To: s.At})
			s.Housekeep()
			return s.number("SELECT COUNT(*) FROM postbag_outbox WHERE slot < 4096") == 1
		})
		if s.number("SELECT COUNT(*) FROM postbag_outbox WHERE id = ?", last[0].ID[:]) != 1 {
			t.Error("the row that was kept is not the last")
		}
	})
}

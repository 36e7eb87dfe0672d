package pgstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// counter counts the round trips that are made to a server.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += bytes.Count(b, []byte("\tSync\t")) + bytes.Count(b, []byte("\tQuery\t"))
	return len(b), nil
}

func (c *counter) take() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.n
	c.n = 0
	return n
}

// counting has a box's store count.
func counting(c *counter) func(*pgxpool.Config, *pgstore.Options) {
	return func(config *pgxpool.Config, _ *pgstore.Options) {
		config.ConnConfig.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
			f := pgproto3.NewFrontend(r, w)
			f.Trace(c, pgproto3.TracerOptions{SuppressTimestamps: true})
			return f
		}
	}
}

func TestIdleMaintenanceIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	sent := &counter{}
	s := newTestBox(t, counting(sent))
	s.Keep = time.Hour
	idle := func(what string) {
		t.Helper()
		for range 5 { // it may have noted something to be done, such as where all have got to
			s.Housekeep()
		}
		sent.take()
		for range 3 {
			r := s.Housekeep()
			if n := sent.take(); n != 1 || r.More || len(r.Faults) > 0 {
				t.Errorf("%s: a round with nothing to do is %d round trips: %+v", what, n, r)
			}
		}
	}
	idle("an empty box")
	s.publish(boxtest.Messages(100, "a")...)
	idle("a box that nobody has read")
	s.Deliver()
	idle("a box that was delivered")
	m := boxtest.Messages(1, "a")
	m[0].NotBefore = time.Now().Add(time.Hour)
	s.publish(m...)
	idle("a box with a scheduled message")
}

// hasten has all scheduled messages be due, in the order that they have.
func (s *testBox) hasten() {
	s.Helper()
	s.exec("UPDATE postbag.outbox__scheduled SET due = due - interval '2 hours'")
}

func TestScheduledMessagesJoinTheLogInTheOrderInWhichTheyAreDue(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	later := time.Now().Add(time.Hour)
	msgs := boxtest.Messages(40, "a", "b")
	for i := range msgs {
		msgs[i].NotBefore = later.Add(time.Duration((i*17)%40) * time.Millisecond)
	}
	s.publish(msgs...)
	s.hasten()
	r := s.Housekeep()
	if r.Promoted != 40 || r.NextDue != -1 {
		t.Fatalf("of 40 due messages %d were promoted, the next is due in %s", r.Promoted, r.NextDue)
	}
	records := s.Read()
	if !slices.IsSortedFunc(records, func(a, b store.Record) int {
		at := func(r store.Record) int {
			return slices.IndexFunc(msgs, func(m postbag.Message) bool { return m.ID == r.ID })
		}
		return msgs[at(a)].NotBefore.Compare(msgs[at(b)].NotBefore)
	}) {
		t.Error("scheduled messages join the log in another order than they are due")
	}
}

func TestAMessageThatIsBeingCancelledDoesNotMakeHousekeepingSpin(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	tx, err := s.plain.Begin(t.Context())
	s.Must(err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	var m []postbag.Message
	// A message that is due cannot be cancelled, and a busy machine may take any time to get here.
	for lead, there := 100*time.Millisecond, false; !there; lead *= 2 {
		m = boxtest.Messages(1, "a")
		m[0].NotBefore = time.Now().Add(lead)
		s.publish(m...)
		there, err = s.Cancel(t.Context(), tx, "outbox", m[0].ID)
		s.Must(err)
		s.Eventually("it would be due", func() bool { return time.Now().After(m[0].NotBefore.Add(50 * time.Millisecond)) })
		if !there {
			s.Until("it is promoted", func() bool { return s.Total.Promoted > 0 })
			s.Total.Promoted = 0
		}
	}
	if r := s.Housekeep(); r.Promoted != 0 || r.More || r.NextDue < 10*time.Millisecond || r.NextDue > time.Second {
		t.Errorf("a message that is being cancelled: %+v", r)
	}
	s.Must(tx.Commit(t.Context()))
	if r := s.Housekeep(); r.Promoted != 0 || r.NextDue != -1 {
		t.Errorf("a message that was cancelled: %+v", r)
	}
}

func TestMaintainRefusesForeignLeases(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	for name, l := range map[string]store.Lease{
		"of another subscription":   s.Lease,
		"with another token":        {Shard: s.House.Shard, Token: s.House.Token + 1},
		"of other slots":            {Shard: store.Shard{Ref: upkeep, Slots: store.Slots{Hi: 7}}, Token: s.House.Token},
		"without a token":           {Shard: s.House.Shard},
		"of a box that has no name": {Token: 1},
	} {
		if _, err := s.Maintain(t.Context(), store.Retention{Lease: l}); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("a lease %s: %v", name, err)
		}
	}
	l := s.House
	l.Box = `no"such; box`
	if _, err := s.Maintain(t.Context(), store.Retention{Lease: l}); !errors.Is(err, store.ErrNoBox) {
		t.Errorf("a lease of no box: %v", err)
	}
}

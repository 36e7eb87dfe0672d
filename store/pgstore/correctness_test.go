package pgstore_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
)

var testRef = store.Ref{Box: boxName, Subscription: "default"}

// tallied is what a run delivered, as to what was committed.
type tallied struct {
	lost, again, phantoms, inversions, crashes int
}

// compare looks at what readers have kept.
func (w *writers) compare(kept []store.Record) tallied {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out tallied
	seen := map[postbag.ID]bool{}
	highest := map[string]int{}
	for i := range kept {
		m := &kept[i].Message
		switch {
		case seen[m.ID]:
			out.again++
			continue
		case !w.committed[m.ID]:
			out.phantoms++
		}
		seen[m.ID] = true
		n, err := strconv.Atoi(string(m.Payload))
		if err != nil || n <= highest[m.Key] {
			out.inversions++
		}
		highest[m.Key] = max(highest[m.Key], n)
	}
	for id := range w.committed {
		if !seen[id] {
			out.lost++
		}
	}
	return out
}

// chain is a reader of some shards that settles now and then, and forgets what
// it has not settled when it crashes.
type chain struct {
	f       *fixture
	r       *rand.Rand
	leases  []store.Lease
	settled store.Position
	at      store.Position
	// whole is the last position where a window ended, for stragglers.
	whole   store.Position
	pending []store.Record
	kept    []store.Record
	crashes int
}

// step reads a page, settling before it what is pending if it pleases, and
// crashes now and then. It says whether anything came.
func (c *chain) step(ctx context.Context) (bool, error) {
	if c.r.IntN(20) == 0 {
		c.crashes++
		c.at, c.pending = c.settled, nil
	}
	t := store.Turn{Read: []store.Request{{Ref: testRef, From: c.at, Limit: 1 + c.r.IntN(60), Bytes: 1 << 20}}}
	for _, l := range c.leases {
		t.Read[0].Slots = append(t.Read[0].Slots, l.Slots)
	}
	settles := c.at != c.settled && c.r.IntN(3) > 0
	if settles {
		for _, l := range c.leases {
			t.Settle = append(t.Settle, store.Settlement{Lease: l, To: c.at})
		}
	}
	res, err := c.f.Turn(ctx, t)
	if err != nil {
		return false, err
	}
	for i, v := range res.Verdicts {
		if !v.Applied {
			c.f.tb.Errorf("settlement %d of a lease that stands was lost", i)
		}
		c.leases[i].Version++
	}
	if settles {
		c.kept, c.pending, c.settled = append(c.kept, c.pending...), nil, c.at
	}
	return c.take(res.Batches[0])
}

// take goes on to some place in the batch, as a reader does of whose messages
// only the first were sent.
func (c *chain) take(b store.Batch) (bool, error) {
	if b.Err != nil {
		return false, b.Err
	}
	n := len(b.Records)
	if n > 1 && c.r.IntN(4) == 0 {
		n = 1 + c.r.IntN(n-1)
		c.at = b.At(n - 1)
	} else {
		c.at = b.Next
		if b.Whole {
			c.whole = b.Next
		}
	}
	c.pending = append(c.pending, b.Records[:n]...)
	return n > 0, nil
}

// finish settles all.
func (c *chain) finish(ctx context.Context) error {
	var t store.Turn
	for _, l := range c.leases {
		t.Settle = append(t.Settle, store.Settlement{Lease: l, To: c.at})
	}
	res, err := c.f.Turn(ctx, t)
	if err != nil {
		return err
	}
	for _, v := range res.Verdicts {
		if !v.Applied {
			c.f.tb.Error("the last settlement was lost")
		}
	}
	c.kept, c.pending = append(c.kept, c.pending...), nil
	return nil
}

// takeShards makes the box, its subscription and a relay that holds all shards.
func takeShards(ctx context.Context, tb testing.TB, f *fixture, shards int) []store.Lease {
	tb.Helper()
	if err := f.CreateBox(ctx, boxName); err != nil {
		tb.Fatal(err)
	}
	if err := f.Declare(ctx, []store.Spec{{Ref: testRef, Shards: shards}}); err != nil {
		tb.Fatal(err)
	}
	b := store.Beat{Relay: "r", New: true, TTL: time.Hour, Works: []store.Ref{testRef}}
	for _, s := range store.Split(shards) {
		b.Take = append(b.Take, store.Shard{Ref: testRef, Slots: s})
	}
	v, err := f.Beat(ctx, b)
	if err != nil {
		tb.Fatal(err)
	}
	var leases []store.Lease
	for _, s := range v.Subscriptions[0].Shards {
		leases = append(leases, s.Lease)
	}
	return leases
}

// Sixteen writers commit late, roll back, use savepoints and prepare; strangers
// hold transactions open; readers stop in the middle of pages and forget what
// they have not settled. Every message is kept once, those of a key in order.
func TestEveryCommittedMessageIsReadOnceAndInOrder(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]time.Duration{"delayed commits": 8 * time.Millisecond, "no delays": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
			defer cancel()
			f := newFixture(t, migrated(t))
			leases := takeShards(ctx, t, f, 4)
			w := newWriters(t, f, rounds(), pause)
			// One reads two shards as one, the others one each.
			chains := []*chain{newChain(f, 1, leases[0], leases[2]), newChain(f, 2, leases[1]), newChain(f, 3, leases[3])}
			kept, crashes := readAll(ctx, t, w, chains)
			got := w.compare(kept)
			got.crashes = crashes
			t.Logf("%d messages: %+v", w.count(), got)
			if got.crashes = 0; got != (tallied{}) {
				t.Errorf("of %d messages: %+v", w.count(), got)
				w.describe(t, kept, chains)
			}
		})
	}
}

// describe logs what was lost, and where the readers stand.
func (w *writers) describe(t *testing.T, kept []store.Record, chains []*chain) {
	t.Helper()
	seen := map[postbag.ID]bool{}
	for i := range kept {
		seen[kept[i].ID] = true
	}
	rows, err := w.plain.Query(context.Background(), "SELECT id, xid::text, seq, key, coalesce(place, 0) FROM postbag.outbox ORDER BY seq")
	if err != nil {
		t.Error(err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var id postbag.ID
		var xid, key string
		var seq, place int64
		if err := rows.Scan((*[16]byte)(&id), &xid, &seq, &key, &place); err != nil {
			t.Error(err)
			return
		}
		if w.committed[id] && !seen[id] {
			t.Logf("lost: xid %s, seq %d, key %s, place %d", xid, seq, key, place)
		}
	}
	for _, c := range chains {
		t.Logf("a reader of %v stands at %x, has settled %x, and has %d pending", c.leases, c.at, c.settled, len(c.pending))
	}
}

// rounds is how many transactions each writer runs.
func rounds() int {
	switch {
	case servertest.Full():
		return 1500
	case testing.Short():
		return 40
	}
	return 150
}

func newChain(f *fixture, seed uint64, leases ...store.Lease) *chain {
	return &chain{f: f, r: rand.New(rand.NewPCG(seed, seed)), leases: leases}
}

// readAll reads while w writes, and then to the end.
func readAll(ctx context.Context, t *testing.T, w *writers, chains []*chain) (kept []store.Record, crashes int) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(ctx, 16)
	}()
	ended := make(chan error, len(chains))
	for _, c := range chains {
		go func() { ended <- c.readUntil(ctx, done) }()
	}
	for range chains {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	<-done
	for _, c := range chains {
		kept = append(kept, c.kept...)
		crashes += c.crashes
	}
	return kept, crashes
}

// readUntil reads until done is closed and nothing comes any more.
func (c *chain) readUntil(ctx context.Context, done <-chan struct{}) error {
	for quiet := 0; quiet < 20; {
		came, err := c.step(ctx)
		if err != nil {
			return err
		}
		select {
		case <-done:
			if quiet++; came || c.at != c.settled && len(c.pending) > 0 && quiet < 19 {
				quiet = min(quiet, 10)
			}
			if came {
				quiet = 0
			}
		default:
		}
	}
	return c.finish(ctx)
}

// What everybody does at first: read on from the highest id. It shows that the
// test above can see a loss.
func TestReadingOnFromTheHighestIDLosesMessages(t *testing.T) {
	t.Parallel()
	loses(t, func(ctx context.Context, f *fixture, _ []store.Lease) func() ([]store.Record, error) {
		last := int64(0)
		return func() ([]store.Record, error) {
			rows, err := f.plain.Query(ctx, "SELECT seq, id, key, payload FROM postbag.outbox WHERE seq > $1 ORDER BY seq LIMIT 50", last)
			if err != nil {
				return nil, err
			}
			defer rows.Close()
			var out []store.Record
			for rows.Next() {
				var r store.Record
				if err := rows.Scan(&r.Seq, (*[16]byte)(&r.ID), &r.Key, &r.Payload); err != nil {
					return nil, err
				}
				last = r.Seq
				out = append(out, r)
			}
			return out, rows.Err()
		}
	})
}

// The subtle mistake: the last seq given out, read before the snapshot, for a
// bound of what newer transactions write. A transaction may have its id, and its
// seqs, and yet lie above the snapshot's xmax. Everything else is the store's own.
func TestReadingTheLastSeqBeforeTheSnapshotLosesMessages(t *testing.T) {
	t.Parallel()
	loses(t, func(ctx context.Context, f *fixture, _ []store.Lease) func() ([]store.Record, error) {
		q := store.Request{Ref: testRef, Slots: []store.Slots{store.AllSlots}, Limit: 50, Bytes: 1 << 20}
		return func() ([]store.Record, error) {
			if err := f.TrustLast(ctx, boxName); err != nil {
				return nil, err
			}
			res, err := f.Turn(ctx, store.Turn{Read: []store.Request{q}})
			if err != nil {
				return nil, err
			}
			q.From = res.Batches[0].Next
			return res.Batches[0].Records, res.Batches[0].Err
		}
	})
}

// loses runs writers and a reader with a mistake until a message is lost.
func loses(t *testing.T, mistaken func(context.Context, *fixture, []store.Lease) func() ([]store.Record, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for try := 1; ; try++ {
		f := newFixture(t, migrated(t))
		leases := takeShards(ctx, t, f, 1)
		read := mistaken(ctx, f, leases)
		w := newWriters(t, f, 60, 4*time.Millisecond)
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.run(ctx, 16)
		}()
		var kept []store.Record
		for quiet := 0; quiet < 5; {
			got, err := read()
			if errors.Is(err, store.ErrMoved) { // the reader itself has found a row that cannot be there
				t.Logf("try %d: %v", try, err)
				<-done
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, got...)
			select {
			case <-done:
				if quiet++; len(got) > 0 {
					quiet = 0
				}
			default:
			}
		}
		got := w.compare(kept)
		t.Logf("try %d, %d messages: %+v", try, w.count(), got)
		if got.lost > 0 {
			return
		}
		if try == 20 {
			t.Fatal("the mistake lost nothing: the test cannot see a loss, or the mistake is none")
		}
	}
}

package memstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// randomSnapshot is a snapshot after t, with up to n open transactions.
func randomSnapshot(r *rand.Rand, n int) snapshot {
	s := snapshot{low: r.Int64N(1 << 40)}
	xid := uint64(1 + r.IntN(1000))
	for range r.IntN(n + 1) {
		s.open = append(s.open, openTx{xid, r.Int64N(1 << 40)})
		xid += 1 + r.Uint64N(5000)
	}
	s.xmax = xid + r.Uint64N(100)
	return s
}

func TestPositionsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		p := position{life: 1 + r.Uint64N(5), done: randomSnapshot(r, 20)}
		raw := p.encode()
		got, err := decode(raw)
		if err != nil || got.encode() != raw || !sameSight(&got.done, &p.done) || got.floor() != p.floor() || got.life != p.life {
			t.Fatalf("position %+v is read as %+v (error: %v)", p, got, err)
		}
		if r.IntN(2) == 0 {
			continue
		}
		to := later(r, p.done)
		p.to, p.after = &to, r.Int64N(1<<30)
		p.top = p.after + r.Int64N(1<<30)
		raw = p.encode()
		got, err = decode(raw)
		if err != nil || got.encode() != raw || got.top != p.top || got.after != p.after {
			t.Fatalf("position %+v is read as %+v (error: %v)", p, got, err)
		}
		if !sameSight(&got.done, &p.done) || !slices.Equal(got.to.open, p.to.open) || got.floor() != p.floor() {
			t.Fatalf("position %+v is read as %+v", p, got)
		}
	}
}

// sameSight says whether two snapshots see the same transactions.
func sameSight(a, b *snapshot) bool { return a.same(b) && len(a.open) == len(b.open) }

// later is a snapshot that may follow s: some of its open transactions ended,
// others began.
func later(r *rand.Rand, s snapshot) snapshot {
	out := snapshot{low: s.low + r.Int64N(1000)}
	for _, o := range s.open {
		if r.IntN(3) > 0 {
			out.open = append(out.open, o)
		}
	}
	xid := s.xmax
	for range r.IntN(10) {
		xid += r.Uint64N(3)
		out.open = append(out.open, openTx{xid, r.Int64N(1 << 40)})
		xid++
	}
	out.xmax = xid + r.Uint64N(10)
	return out
}

func TestALaterSnapshotHoldsAnEarlierOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		s := randomSnapshot(r, 10)
		next := later(r, s)
		if !s.within(&next) || !s.within(&s) {
			t.Fatalf("%+v is not within %+v", s, next)
		}
		if next.within(&s) != s.same(&next) {
			t.Fatalf("%+v and %+v are within each other, and not the same", s, next)
		}
	}
}

func TestDamagedPositionsAreRefused(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	to := randomSnapshot(r, 5)
	p := position{life: 1, to: &to, top: 9, after: 3}
	whole := p.encode()
	for n := 1; n < len(whole); n++ {
		if _, err := decode(whole[:n]); !errors.Is(err, store.ErrPosition) {
			t.Errorf("cut to %d bytes of %d: %v, not ErrPosition", n, len(whole), err)
		}
	}
	for name, raw := range map[string]store.Position{
		"one byte more":   whole + "\x00",
		"another format":  "\xa2" + whole[1:],
		"unknown flags":   whole[:1] + "\x80" + whole[2:],
		"text":            "position",
		"too many xids":   store.Position([]byte{format, 0, 1, 1, 1, 0xff, 0xff, 0x7f}),
		"after above top": (&position{life: 1, to: &to, top: 3, after: 9}).encode(),
	} {
		if _, err := decode(raw); !errors.Is(err, store.ErrPosition) {
			t.Errorf("%s: %v, not ErrPosition", name, err)
		}
	}
	if p, err := decode(""); err != nil || p.done.xmax != 0 {
		t.Errorf("the empty position is %+v (error: %v), not the beginning", p, err)
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 20 {
		s := randomSnapshot(r, 5)
		to := later(r, s)
		f.Add([]byte((&position{life: 1, done: s}).encode()))
		f.Add([]byte((&position{life: 1, done: s, to: &to, top: 10, after: 5}).encode()))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := decode(store.Position(raw))
		if err != nil {
			if !errors.Is(err, store.ErrPosition) {
				t.Fatalf("%v is not ErrPosition", err)
			}
			return
		}
		again, err := decode(p.encode())
		if err != nil || again.encode() != p.encode() {
			t.Fatalf("position %+v is not read as it was written: %v", p, err)
		}
	})
}

func TestPositionsStaySmallWithAsManyWritersAsThereMayBe(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := New(Options{})
	must(t, s.CreateBox(ctx, "outbox"))
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	must(t, s.Declare(ctx, []store.Spec{{Ref: ref, Shards: 1}}))
	r := rand.New(rand.NewPCG(5, 5))
	var open []*Tx
	var from store.Position
	got, want := 0, 0
	read := func() {
		res, err := s.Turn(ctx, store.Turn{Read: []store.Request{
			{Ref: ref, Slots: []store.Slots{store.AllSlots}, From: from, Limit: 1 + r.IntN(300), Bytes: 1 << 20},
		}})
		must(t, err)
		b := res.Batches[0]
		must(t, b.Err)
		got += len(b.Records)
		from = b.Next
		for _, i := range []int{0, len(b.Records) - 1} {
			if i >= 0 && len(b.Records) > 0 && len(b.At(i)) > maxPosition {
				t.Fatalf("a position of %d bytes with %d transactions open", len(b.At(i)), len(open))
			}
		}
		if len(from) > maxPosition {
			t.Fatalf("a position of %d bytes with %d transactions open", len(from), len(open))
		}
	}
	for range 6000 {
		switch n := len(open); {
		case n < MaxWriters && r.IntN(3) > 0:
			tx, err := s.Begin(ctx)
			must(t, err)
			must(t, s.Append(ctx, tx, "outbox", []postbag.Message{{ID: postbag.ID{1}}}))
			open = append(open, tx)
		case n > 0:
			i := r.IntN(n)
			must(t, open[i].Commit(ctx))
			open = append(open[:i], open[i+1:]...)
			want++
		}
		if r.IntN(20) == 0 {
			read()
		}
	}
	if len(open) < MaxWriters/2 {
		t.Fatalf("the test came to %d open transactions only", len(open))
	}
	for _, tx := range open {
		must(t, tx.Commit(ctx))
		want++
	}
	for range want/10 + 10 {
		read()
	}
	if got != want {
		t.Errorf("%d of %d messages came", got, want)
	}
}

func TestAnOversizedPositionLowersBoundsAndKeepsAllTransactions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	s := snapshot{low: 1 << 40}
	xid := uint64(1)
	for range MaxWriters {
		s.open = append(s.open, openTx{xid, r.Int64N(1 << 40)})
		xid += 1 + r.Uint64N(1<<20)
	}
	s.xmax = xid
	p := position{life: 1, done: s}
	raw := p.encode()
	got, err := decode(raw)
	if err != nil || len(raw) > maxPosition {
		t.Fatalf("%d bytes (error: %v)", len(raw), err)
	}
	if !sameSight(&got.done, &s) {
		t.Error("a transaction was lost")
	}
	for i, o := range got.done.open {
		if o.low > s.open[i].low {
			t.Fatalf("the bound of transaction %d went up from %d to %d", o.xid, s.open[i].low, o.low)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package storetest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/store"
)

// wrongReads are mistakes of reading.
func wrongReads() []wrong {
	return []wrong{
		{"a position is the last seq read", idCursor, []string{
			"A commit below a settled position is read",
			"Of two writers that were open at the first read both are read",
			"Four writers' commits are read in every order they may have",
			"A transaction that commits while the log is read comes in its own order",
			"Many writers, late commits: each message comes once along a chain, keys in order",
			"A prepared transaction is read after its commit, and others before",
		}},
		{"reads wait for the oldest open transaction", waitForOldest, []string{
			"Another program's open transaction delays nothing, and nothing is repeated after it",
		}},
		{"a full page loses the rest of its window", skipWindow, []string{
			"A window is the same in pages of any size",
			"A large transaction that is committed late comes whole",
		}},
		{"a page comes again", onlyRead(repeatPage), []string{
			"A window is the same in pages of any size",
			"Commits between two pages come after the window, once",
		}},
		{"a page is larger than its limit", asked(func(q *store.Request) { q.Limit *= 2 }), []string{
			"A window is the same in pages of any size",
		}},
		{"bytes bound nothing", asked(func(q *store.Request) { q.Bytes = 1 << 30 }), []string{
			"Bytes bound a page, and the row that crosses the bound comes too",
		}},
		{"At is one row late", onlyRead(atLate), []string{
			"A chain goes on from just after every record",
		}},
		{"Until is overshot", asked(func(q *store.Request) { q.Until = "" }), []string{
			"A lagging reader ends at the position Until, byte for byte",
			"A lagging reader leaves late commits to the reads after Until",
		}},
		{"what was open at Until is read up to it as well", openToo, []string{
			"A lagging reader leaves out what was open at Until",
		}},
		{"the end of a lagging read has other bytes", onlyRead(otherBytes), []string{
			"A lagging reader ends at the position Until, byte for byte",
		}},
		{"ahead is not told", onlyRead(func(_ store.Request, b *store.Batch) { b.Ahead = false }), []string{
			"A reader beyond Until is told so and reads nothing",
		}},
		{"an unknown position is the beginning", asked(beginning), []string{
			"A position of an unknown format is ErrPosition",
		}},
		{"only the first range of slots is read", asked(func(q *store.Request) { q.Slots = q.Slots[:1] }), []string{
			"Several ranges in one read are their union",
			"A range of one slot holds that slot alone",
		}},
		{"slots are not heeded", asked(func(q *store.Request) { q.Slots = []store.Slots{store.AllSlots} }), []string{
			"Ranges that split a box hold each message once",
		}},
		{"filters are not heeded", noFilter, []string{
			"Messages that the filter refuses come without their content",
			"A filter does not hold up a chain",
		}},
		{"a fault in the headers is not told", onlyRead(func(_ store.Request, b *store.Batch) {
			for i := range b.Records {
				b.Records[i].Err = nil
			}
		}), []string{
			"A message with the header of a fault comes whole, with the fault as its error, and holds up no other",
		}},
		{"filtered messages do not come", onlyRead(dropFiltered), []string{
			"Messages that the filter refuses come without their content",
		}},
		{"a failed read fails the turn", failTogether, []string{
			"A missing subscription or box fails its own read alone",
		}},
		{"the order of a page is by id of the message", onlyRead(shuffle), []string{
			"A transaction's messages come together, in its order",
			"A transaction that commits while the log is read comes in its own order",
		}},
		{"the next due time is not told", answered(func(r *store.TurnResult) { r.NextDue = -1 }), []string{
			"What is due later is not due, and the wait is told",
		}},
		{"the epoch changes at every turn", func(db *database) {
			var n atomic.Int64
			answered(func(r *store.TurnResult) { r.Epoch += n.Add(1) })(db)
		}, []string{"The epoch stays while nothing changes hands"}},
		{"the epoch never changes", answered(func(r *store.TurnResult) { r.Epoch = 1 }), []string{
			"The epoch changes with relays, leases, shards and subscriptions",
		}},
	}
}

// answered changes what a turn answers.
func answered(change func(*store.TurnResult)) func(*database) {
	return func(db *database) {
		s := spoil(db)
		s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
			res, err := s.Store.Turn(ctx, t)
			if err == nil {
				change(&res)
			}
			return res, err
		}
	}
}

// asked changes what a turn is asked to read.
func asked(change func(*store.Request)) func(*database) {
	return func(db *database) {
		s := spoil(db)
		s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
			t.Read = slices.Clone(t.Read)
			for i := range t.Read {
				change(&t.Read[i])
			}
			return s.Store.Turn(ctx, t)
		}
	}
}

// onlyRead changes the batches that a turn answers.
func onlyRead(change func(store.Request, *store.Batch)) func(*database) {
	return func(db *database) {
		s := spoil(db)
		s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
			res, err := s.Store.Turn(ctx, t)
			for i := range res.Batches {
				change(t.Read[i], &res.Batches[i])
			}
			return res, err
		}
	}
}

// idCursor reads what has a seq beyond the last one seen.
func idCursor(db *database) {
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		asked := slices.Clone(t.Read)
		t.Read = slices.Clone(t.Read)
		for i := range t.Read {
			t.Read[i].From, t.Read[i].Limit = "", 1_000_000
		}
		res, err := s.Store.Turn(ctx, t)
		for i := range res.Batches {
			res.Batches[i] = beyond(asked[i], res.Batches[i])
		}
		return res, err
	}
}

// beyond is the page of an id cursor.
func beyond(q store.Request, whole store.Batch) store.Batch {
	last, _ := strconv.ParseInt(string(q.From), 10, 64)
	b := store.Batch{Next: q.From, Whole: true, Err: whole.Err}
	for _, r := range whole.Records {
		if r.Seq <= last {
			continue
		}
		if len(b.Records) == q.Limit {
			b.More, b.Whole = true, false
			break
		}
		b.Records = append(b.Records, r)
		b.Next = store.Position(strconv.FormatInt(r.Seq, 10))
	}
	if len(b.Records) > 0 {
		b.At = func(i int) store.Position { return store.Position(strconv.FormatInt(b.Records[i].Seq, 10)) }
	}
	return b
}

// waitForOldest reads nothing while a stranger's transaction is open.
func waitForOldest(db *database) {
	var open atomic.Int64
	stranger := db.Stranger
	db.Stranger = func(ctx context.Context) (func(context.Context) error, error) {
		open.Add(1)
		end, err := stranger(ctx)
		return func(ctx context.Context) error {
			open.Add(-1)
			return end(ctx)
		}, err
	}
	onlyRead(func(q store.Request, b *store.Batch) {
		if open.Load() > 0 {
			*b = store.Batch{Next: q.From}
		}
	})(db)
}

// skipWindow goes on behind the window after its first page.
func skipWindow(db *database) {
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		res, err := s.Store.Turn(ctx, t)
		for i := range res.Batches {
			if !res.Batches[i].More {
				continue
			}
			q := t.Read[i]
			q.Limit, q.Bytes = 1_000_000, 1<<30
			end, err := s.Store.Turn(ctx, store.Turn{Read: []store.Request{q}})
			if err != nil {
				return res, err
			}
			res.Batches[i].Next, res.Batches[i].More = end.Batches[0].Next, false
		}
		return res, err
	}
}

func repeatPage(_ store.Request, b *store.Batch) {
	if b.More && len(b.Records) > 1 {
		b.Next = b.At(len(b.Records) - 2)
	}
}

func atLate(_ store.Request, b *store.Batch) {
	if at, n := b.At, len(b.Records); at != nil {
		b.At = func(i int) store.Position { return at(min(i+1, n-1)) }
	}
}

// openToo reads, up to Until, also what lies there and was open at Until.
func openToo(db *database) {
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		res, err := s.Store.Turn(ctx, t)
		if err != nil {
			return res, err
		}
		for i := range res.Batches {
			q, b := t.Read[i], &res.Batches[i]
			if q.Until == "" || len(b.Records) == 0 {
				continue
			}
			at, n := b.At, len(b.Records)
			last := b.Records[n-1].Seq
			q.From, q.Until = q.Until, ""
			beyond, err := s.Store.Turn(ctx, store.Turn{Read: []store.Request{q}})
			if err != nil {
				return res, err
			}
			for _, r := range beyond.Batches[0].Records {
				if r.Seq < last && len(b.Records) < q.Limit {
					b.Records = append(b.Records, r)
				}
			}
			b.At = func(i int) store.Position { return at(min(i, n-1)) }
		}
		return res, err
	}
}

func otherBytes(q store.Request, b *store.Batch) {
	if q.Until != "" && b.Next == q.Until {
		b.Next += "\x00"
	}
}

func beginning(q *store.Request) {
	if len(q.From) > 0 && q.From[0] == 0xff {
		q.From = ""
	}
	if len(q.Until) > 0 && q.Until[0] == 0xff {
		q.Until = ""
	}
}

// noFilter keeps filters apart from the store, which then does not know them.
func noFilter(db *database) {
	s := spoil(db)
	s.declare = func(ctx context.Context, specs []store.Spec) error {
		specs = slices.Clone(specs)
		for i := range specs {
			specs[i].Types = nil
		}
		return s.Store.Declare(ctx, specs)
	}
}

func dropFiltered(_ store.Request, b *store.Batch) {
	b.Records = slices.DeleteFunc(b.Records, func(r store.Record) bool { return r.Filtered })
	if len(b.Records) == 0 {
		b.At = nil
	}
}

func failTogether(db *database) {
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		res, err := s.Store.Turn(ctx, t)
		for _, b := range res.Batches {
			err = cmp.Or(err, b.Err)
		}
		return res, err
	}
}

func shuffle(_ store.Request, b *store.Batch) {
	slices.SortFunc(b.Records, func(x, y store.Record) int { return slices.Compare(y.ID[:], x.ID[:]) })
}

// shards remembers what views say of shards.
type shards struct {
	mu    sync.Mutex
	state map[store.Shard]store.ShardState
}

func (s *shards) see(v store.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil {
		s.state = map[store.Shard]store.ShardState{}
	}
	for _, sub := range v.Subscriptions {
		for _, sh := range sub.Shards {
			s.state[sh.Shard] = sh
		}
	}
}

func (s *shards) of(sh store.Shard) (store.ShardState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.state[sh]
	return st, ok
}

// settled counts up the version of a shard whose settlement was applied.
func (s *shards) settled(sh store.Shard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state[sh]
	st.Version++
	s.state[sh] = st
}

// watch lets a spoilt store remember its shards.
func (s *spoilt) watch() *shards {
	seen := &shards{}
	beat := s.beat
	s.beat = func(ctx context.Context, b store.Beat) (store.View, error) {
		v, err := beat(ctx, b)
		seen.see(v)
		return v, err
	}
	return seen
}

// forever is a time to live that outlives any case.
const forever = 1000 * time.Hour

package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// concurrencyCases run everything at a time.
func concurrencyCases() []scenario {
	return []scenario{
		{name: "Many writers, late commits: each message comes once along a chain, keys in order", run: manyWriters},
		{name: "Many writers, readers that fall back: from any position each message comes once", run: fallBack},
		{name: "Many writers, relays that take over: each message is settled once, keys in order", run: manyRelays},
	}
}

// writeAll runs all writers, and says with done that they have ended.
func (e *env) writeAll() (j *journal, done <-chan struct{}) {
	j = newJournal()
	ended := make(chan struct{})
	var all sync.WaitGroup
	for n := range e.writers {
		w := &writer{env: e, journal: j, n: n, rand: rand.New(rand.NewPCG(uint64(n), 99))}
		all.Go(w.run)
	}
	go func() {
		all.Wait()
		close(ended)
	}()
	return j, ended
}

// ended says whether a channel is closed.
func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// try reads a page, and reports an error without ending the case, so that any
// goroutine may call it.
func (c *pager) try() (b store.Batch, ok bool) {
	res, err := c.s.Turn(c.ctx, store.Turn{Read: []store.Request{c.req}})
	if err == nil {
		err = res.Batches[0].Err
	}
	if err != nil {
		c.Errorf("read: %v", err)
		return b, false
	}
	c.req.From = res.Batches[0].Next
	c.got = append(c.got, res.Batches[0].Records...)
	return res.Batches[0], true
}

// follow reads until the writers have ended and all that they committed in the
// chain's slots came, or until nothing new came for long.
func (c *pager) follow(j *journal, done <-chan struct{}, limits *rand.Rand) {
	last := time.Now()
	for c.ctx.Err() == nil {
		over := ended(done)
		c.req.Limit = 1 + limits.IntN(200)
		b, ok := c.try()
		switch {
		case !ok:
			return
		case len(b.Records) > 0 || !over:
			last = time.Now()
		case over && !b.More && (len(c.got) >= len(inSlots(j.committed(), c.req.Slots...)) || time.Since(last) > c.patience):
			return
		}
		if !b.More {
			c.tick()
		}
	}
}

func manyWriters(e *env) {
	e.open(4)
	j, done := e.writeAll()
	whole, halves := e.pager(), []*pager{e.pager(store.Split(2)[0]), e.pager(store.Split(2)[1])}
	var all sync.WaitGroup
	for i, c := range append(halves, whole) {
		all.Go(func() { c.follow(j, done, rand.New(rand.NewPCG(7, uint64(i)))) })
	}
	all.Wait()
	want := j.committed()
	checkExact(e.TB, whole.got, want)
	for i, c := range halves {
		checkExact(e.TB, c.got, inSlots(want, store.Split(2)[i]))
	}
}

// fallBack follows the writers and now and then goes back to a position it had,
// or to just after a record, and forgets what came since: what it has then must
// be whole all the same.
func fallBack(e *env) {
	e.open(1)
	j, done := e.writeAll()
	r := rand.New(rand.NewPCG(3, 4))
	c := e.pager()
	type mark struct {
		at  store.Position
		got int
	}
	marks := []mark{{}}
	for !ended(done) && e.ctx.Err() == nil {
		c.req.Limit = 1 + r.IntN(60)
		had := len(c.got)
		b, ok := c.try()
		if !ok {
			return
		}
		if n := len(b.Records); n > 0 && r.IntN(2) == 0 {
			i := r.IntN(n)
			marks = append(marks, mark{b.At(i), had + i + 1})
		}
		// The farthest comes last: who goes back forgets it, with what came up to it.
		marks = append(marks, mark{b.Next, len(c.got)})
		if r.IntN(4) == 0 {
			i := max(0, len(marks)-1-r.IntN(6))
			c.req.From, c.got = marks[i].at, c.got[:marks[i].got]
			marks = marks[:i+1]
		}
		if len(b.Records) == 0 {
			e.tick()
		}
	}
	c.follow(j, done, r)
	checkExact(e.TB, c.got, j.committed())
}

// settled is what applied settlements have passed, in order.
type settled struct {
	mu  sync.Mutex
	got []store.Record
}

func (s *settled) add(records []store.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, records...)
}

func (s *settled) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

func manyRelays(e *env) {
	e.open(6)
	j, done := e.writeAll()
	out := &settled{}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range 4 {
		s := e.Store
		if i%2 == 1 {
			s = e.other()
		}
		h := &hand{env: e, s: s, out: out, n: i, stop: stop, rand: rand.New(rand.NewPCG(uint64(i), 5))}
		all.Go(h.run)
	}
	all.Go(func() { e.bystand(stop) })
	<-done
	want := j.committed()
	for begun := time.Now(); out.count() < len(want) && time.Since(begun) < e.patience && !e.Failed(); {
		e.tick()
	}
	close(stop)
	all.Wait()
	checkExact(e.TB, out.got, want)
}

// bystand does what else goes on while relays work: maintenance, looking.
func (e *env) bystand(stop <-chan struct{}) {
	look, canLook := e.Store.(store.Inspector)
	for !ended(stop) && e.ctx.Err() == nil {
		upkeep := store.Shard{Ref: store.Ref{Box: box, Subscription: store.Maintenance}, Slots: store.AllSlots}
		_, err := e.Store.Maintain(e.ctx, store.Retention{Lease: store.Lease{Shard: upkeep, Token: 1 << 40}, Keep: time.Hour})
		if !errors.Is(err, store.ErrLeaseLost) {
			e.Errorf("Maintain without a lease: %v, not ErrLeaseLost", err)
		}
		if canLook {
			_, err := look.Overview(e.ctx)
			_, _, err2 := look.List(e.ctx, store.Query{Ref: ref, Limit: 20})
			if err := errors.Join(err, err2); err != nil {
				e.Errorf("look: %v", err)
			}
		}
		e.tick()
	}
}

// hand is a relay that takes and gives shards at random, and settles what it
// reads under its leases.
type hand struct {
	*env
	s     store.Store
	out   *settled
	n     int
	life  int
	stop  <-chan struct{}
	rand  *rand.Rand
	held  []store.ShardState
	begun bool
}

func (h *hand) run() {
	for !ended(h.stop) && h.ctx.Err() == nil && !h.Failed() {
		if !h.beat() {
			return
		}
		for range 3 {
			for i := range h.held {
				if !h.work(&h.held[i]) {
					return
				}
			}
			h.tick()
		}
	}
}

// beat takes what it can get, now and then gives all back or starts again.
func (h *hand) beat() bool {
	b := store.Beat{Relay: fmt.Sprintf("hand %d, life %d", h.n, h.life), Name: "hand", TTL: long, Works: []store.Ref{ref}, New: !h.begun}
	h.begun = true
	for _, r := range store.Split(6) {
		if h.rand.IntN(3) > 0 {
			b.Take = append(b.Take, store.Shard{Ref: ref, Slots: r})
		}
	}
	switch h.rand.IntN(8) {
	case 0, 1:
		for _, sh := range h.held {
			b.Give = append(b.Give, sh.Lease)
		}
	case 2:
		b.Leave = !b.New
	}
	v, err := h.s.Beat(h.ctx, b)
	if err != nil {
		h.Errorf("beat: %v", err)
		return false
	}
	h.held = nil
	if b.Leave {
		h.life, h.begun = h.life+1, false
		return true
	}
	if !v.Alive {
		h.Errorf("the beat of a live relay is not alive")
		return false
	}
	h.held = slices.DeleteFunc(shardsOf(v, ref), func(sh store.ShardState) bool { return sh.Owner != b.Relay })
	return true
}

// work reads a page of a shard and settles it, all of it or a part, and now and
// then twice, as after a lost answer.
func (h *hand) work(sh *store.ShardState) bool {
	q := store.Request{Ref: ref, Slots: []store.Slots{sh.Slots}, From: sh.Position, Limit: 1 + h.rand.IntN(80), Bytes: 1 << 20}
	res, err := h.s.Turn(h.ctx, store.Turn{Read: []store.Request{q}})
	if err == nil {
		err = res.Batches[0].Err
	}
	if err != nil {
		h.Errorf("read: %v", err)
		return false
	}
	b := res.Batches[0]
	to, done := b.Next, b.Records
	if n := len(done); n > 1 && h.rand.IntN(3) == 0 {
		i := h.rand.IntN(n)
		to, done = b.At(i), done[:i+1]
	}
	if to == sh.Position {
		return true
	}
	st := store.Settlement{Lease: sh.Lease, To: to, Tally: tally(store.TallyDelivered, done...)}
	for range 1 + h.rand.IntN(5)/4 {
		res, err = h.s.Turn(h.ctx, store.Turn{Settle: []store.Settlement{st}})
		if err != nil {
			h.Errorf("settle: %v", err)
			return false
		}
	}
	if !res.Verdicts[0].Applied {
		h.Errorf("a settlement of %s under a live lease is lost", sh.Shard)
		return false
	}
	h.out.add(done)
	sh.Version++
	sh.Position = to
	return true
}

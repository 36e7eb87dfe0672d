package engine_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// modelStore is the store of the mini-world: shards with leases, the parking lot
// with the rules of package store, commands and the ledger. It fails the run when
// a settlement is not what the contract allows.
type modelStore struct {
	w         *world
	log       *modelLog
	shards    []*modelShard
	wanted    int
	token     int64
	rows      []*modelRow // by seq
	commands  []*modelCommand
	commandID int64
	ledger    map[engine.Fate]engine.Tally
	discarded map[int64]int // seq → the number of acceptances when it was discarded
	turns     int
	dues      int
}

type modelShard struct {
	lo, hi         int
	token, version int64
	owner          int // a relay's identity; zero: free
	position       string
	settledUnder   int64
}

func (s *modelShard) has(slot int) bool { return slot >= s.lo && slot < s.hi }

type modelRow struct {
	engine.Park

	due   time.Duration
	freed bool // in flight, and its shard changed hands
}

type modelCommand struct {
	id   int64
	kind engine.Kind
	seq  int64
	done bool
}

func newModelStore(w *world, shards int) *modelStore {
	s := &modelStore{
		w: w, log: w.log, wanted: shards,
		ledger: map[engine.Fate]engine.Tally{}, discarded: map[int64]int{},
	}
	s.split(shards, "", 0)
	return s
}

func (s *modelStore) split(n int, position string, owner int) {
	s.shards = nil
	for i := range n {
		s.token++
		s.shards = append(s.shards, &modelShard{
			lo: i * 4096 / n, hi: (i + 1) * 4096 / n, token: s.token, version: 1, owner: owner, position: position,
		})
	}
}

func (s *modelStore) shard(lo, hi int) *modelShard {
	for _, sh := range s.shards {
		if sh.lo == lo && sh.hi == hi {
			return sh
		}
	}
	return nil
}

// take gives a free shard to a relay.
func (s *modelStore) take(sh *modelShard, owner int) {
	s.token++
	sh.owner, sh.token = owner, s.token
	for _, r := range s.rows {
		if r.State == engine.InFlight && sh.has(r.Slot) {
			r.freed = true
		}
	}
}

// reshape replaces all shards, if the caller holds them all at one position.
func (s *modelStore) reshape(owner, n int, leases []engine.Lease) bool {
	if len(leases) != len(s.shards) {
		return false
	}
	for _, l := range leases {
		sh := s.shard(l.Lo, l.Hi)
		if sh == nil || sh.owner != owner || sh.token != l.Token || sh.version != l.Version || sh.position != s.shards[0].position {
			return false
		}
	}
	s.split(n, s.shards[0].position, owner)
	return true
}

// row returns the row of a message, and where it is or belongs.
func (s *modelStore) row(seq int64) (*modelRow, int) {
	i, found := slices.BinarySearchFunc(s.rows, seq, func(r *modelRow, seq int64) int { return int(r.Seq - seq) })
	if !found {
		return nil, i
	}
	return s.rows[i], i
}

// settle judges one settlement.
func (s *modelStore) settle(t *engine.Settlement) engine.Verdict {
	sh := s.shard(t.Lo, t.Hi)
	switch {
	case sh == nil || sh.token != t.Token:
		return engine.Verdict{}
	case sh.settledUnder == t.Token && sh.version == t.Version+1: // a repeat
		return engine.Verdict{Applied: true, Cleared: s.cleared(sh, t)}
	case sh.version != t.Version:
		return engine.Verdict{}
	}
	s.check(sh, t)
	s.log.tick()
	sh.version++
	sh.settledUnder = t.Token
	if t.To != "" {
		sh.position = t.To
	}
	for _, r := range t.Resolve {
		if row, i := s.row(r.Seq); row != nil {
			s.rows = slices.Delete(s.rows, i, i+1)
		}
	}
	for i := range t.Park {
		s.park(&t.Park[i])
	}
	s.tally(t)
	for _, id := range t.Done {
		s.done(id, t)
	}
	return engine.Verdict{Applied: true, Cleared: s.cleared(sh, t)}
}

func (s *modelStore) park(p *engine.Park) {
	row, i := s.row(p.Seq)
	if row == nil {
		row = &modelRow{}
		s.rows = slices.Insert(s.rows, i, row)
	} else if p.State == engine.Blocked {
		s.w.failf("message %d is parked as blocked, and has a row already", p.Seq)
	}
	row.Park, row.freed, row.due = *p, false, s.w.now+p.Delay
}

// check holds a settlement to the contract: what the position newly passes is
// what the tallies count, seqs are distinct, positions only go forward.
func (s *modelStore) check(sh *modelShard, t *engine.Settlement) {
	seen := map[int64]bool{}
	for i := range t.Park {
		p := &t.Park[i]
		if seen[p.Seq] {
			s.w.failf("a settlement names message %d twice", p.Seq)
		}
		seen[p.Seq] = true
		if !sh.has(p.Slot) || s.log.msgs[p.Seq-1].slot != p.Slot {
			s.w.failf("message %d is parked in slot %d by shard %d", p.Seq, p.Slot, sh.lo)
		}
		if p.Attempts > s.w.broker.rejections[p.Seq] {
			s.w.failf("message %d has %d attempts and was rejected %d times", p.Seq, p.Attempts, s.w.broker.rejections[p.Seq])
		}
	}
	for _, r := range t.Resolve {
		if seen[r.Seq] {
			s.w.failf("a settlement names message %d twice", r.Seq)
		}
		seen[r.Seq] = true
	}
	var want, got engine.Tally
	from := s.log.places[sh.position]
	if t.To != "" {
		to := s.log.places[t.To]
		for _, m := range s.log.msgs {
			if !sh.has(m.slot) || m.commit == 0 {
				continue
			}
			was, is := s.log.passed(&from, m), s.log.passed(&to, m)
			if was && !is {
				s.w.failf("shard %d goes back behind message %d", sh.lo, m.seq)
			}
			if is && !was {
				want = sum(want, 1, uint64(m.seq), m.sum)
			}
		}
	}
	for _, y := range t.Tally {
		got = sum(got, y.Count, y.SeqSum, y.IDSum)
	}
	if got != want {
		s.w.failf("shard %d passes %+v and tallies %+v", sh.lo, want, got)
	}
}

func sum(t engine.Tally, n int64, seqs, ids uint64) engine.Tally {
	t.Count += n
	t.SeqSum += seqs
	t.IDSum += ids
	return t
}

// tally adds to the ledger, whose parked line must be what is parked.
func (s *modelStore) tally(t *engine.Settlement) {
	for _, y := range t.Tally {
		s.ledger[y.Fate] = sum(s.ledger[y.Fate], y.Count, y.SeqSum, y.IDSum)
	}
	var want engine.Tally
	for _, r := range s.rows {
		m := s.log.msgs[r.Seq-1]
		want = sum(want, 1, uint64(m.seq), m.sum)
	}
	if got := s.ledger[engine.WasParked]; got != want {
		s.w.failf("the ledger has %+v parked, the lot %+v", got, want)
	}
}

func (s *modelStore) done(id int64, t *engine.Settlement) {
	for _, c := range s.commands {
		if c.id != id {
			continue
		}
		if c.done {
			s.w.failf("command %d is done twice", id)
		}
		c.done = true
		gone := slices.ContainsFunc(t.Resolve, func(r engine.Resolved) bool { return r.Seq == c.seq })
		if c.kind == engine.DiscardIt && gone {
			s.discarded[c.seq] = len(s.w.broker.accepted)
		}
	}
}

// cleared returns the hashes that t touched and that block nothing any more.
func (s *modelStore) cleared(sh *modelShard, t *engine.Settlement) []uint64 {
	var out []uint64
	ask := func(h uint64) {
		if !slices.Contains(out, h) && !slices.ContainsFunc(s.rows, func(r *modelRow) bool { return r.Blocking && r.Hash == h && sh.has(r.Slot) }) {
			out = append(out, h)
		}
	}
	for i := range t.Park {
		ask(t.Park[i].Hash)
	}
	for _, r := range t.Resolve {
		ask(r.Hash)
	}
	return out
}

func (s *modelStore) blocked(sh *modelShard) []uint64 {
	var out []uint64
	for _, r := range s.rows {
		if r.Blocking && sh.has(r.Slot) && !slices.Contains(out, r.Hash) {
			out = append(out, r.Hash)
		}
	}
	return out
}

// counts says that a row that is first of its hash can be tried, and when.
func (r *modelRow) counts() (time.Duration, bool) {
	switch {
	case r.State == engine.Waiting:
		return r.due, true
	case r.State == engine.Blocked, r.State == engine.InFlight && r.freed:
		return 0, true
	}
	return 0, false
}

// heads calls do with the rows of slots that count.
func (s *modelStore) heads(slots [2]int, do func(i int, r *modelRow, due time.Duration)) {
	seen := map[uint64]bool{}
	for i, r := range s.rows {
		if r.Slot < slots[0] || r.Slot >= slots[1] {
			continue
		}
		if r.Blocking {
			if seen[r.Hash] {
				continue
			}
			seen[r.Hash] = true
		}
		if due, ok := r.counts(); ok {
			do(i, r, due)
		}
	}
}

// due answers a request for parked messages.
func (s *modelStore) due(d *engine.DueRequest) []engine.DueMessage {
	s.dues++
	type head struct {
		at    int
		due   time.Duration
		slots [2]int
	}
	var heads []head
	for _, slots := range d.Slots {
		s.heads(slots, func(i int, _ *modelRow, due time.Duration) {
			if due <= s.w.now && !slices.Contains(d.Skip, s.rows[i].Seq) {
				heads = append(heads, head{i, due, slots})
			}
		})
	}
	slices.SortStableFunc(heads, func(a, b head) int { return int(a.due - b.due) })
	var out []engine.DueMessage
	for _, h := range heads {
		first := s.rows[h.at]
		out = append(out, s.dueMessage(first))
		for i, n := h.at+1, 0; first.Blocking && i < len(s.rows) && n < d.Followers; i++ {
			r := s.rows[i]
			if r.Hash != first.Hash || !r.Blocking || r.Slot < h.slots[0] || r.Slot >= h.slots[1] {
				continue
			}
			if r.State != engine.Blocked {
				break
			}
			out = append(out, s.dueMessage(r))
			n++
		}
	}
	return out[:min(len(out), d.Limit)]
}

func (s *modelStore) dueMessage(r *modelRow) engine.DueMessage {
	m := s.log.msgs[r.Seq-1].message()
	m.Key, m.Filtered = r.Hash, false
	return engine.DueMessage{Message: m, Attempts: r.Attempts, Blocking: r.Blocking}
}

// nextDue is how long until a parked message of the slots is due.
func (s *modelStore) nextDue(slots [][2]int) time.Duration {
	wait := time.Duration(-1)
	for _, sl := range slots {
		s.heads(sl, func(_ int, _ *modelRow, due time.Duration) {
			if d := max(due-s.w.now, 0); wait < 0 || d < wait {
				wait = d
			}
		})
	}
	return wait
}

// order queues a command for a parked message.
func (s *modelStore) order(kind engine.Kind, seq int64) {
	for _, c := range s.commands {
		if c.seq == seq && c.kind == kind && !c.done {
			return
		}
	}
	s.commandID++
	s.commands = append(s.commands, &modelCommand{id: s.commandID, kind: kind, seq: seq})
}

// waiting returns the commands of the slots. One whose message is not parked any
// more is closed.
func (s *modelStore) waiting(slots [][2]int) []engine.Command {
	var out []engine.Command
	for _, c := range s.commands {
		if c.done {
			continue
		}
		row, _ := s.row(c.seq)
		if row == nil {
			c.done = true
			continue
		}
		if slices.ContainsFunc(slots, func(sl [2]int) bool { return row.Slot >= sl[0] && row.Slot < sl[1] }) {
			m := s.log.msgs[c.seq-1]
			out = append(out, engine.Command{
				ID: c.id, Kind: c.kind, Park: row.Park,
				Message: engine.Message{Seq: m.seq, Slot: m.slot, Key: row.Hash, Sum: m.sum},
			})
		}
	}
	s.commands = slices.DeleteFunc(s.commands, func(c *modelCommand) bool { return c.done })
	return out
}

// turnResult answers a turn.
type turnResult struct {
	verdicts []engine.Verdict
	pages    []engine.Page
	commands []engine.Command
	nextDue  time.Duration
}

func (s *modelStore) turn(t *engine.Turn) turnResult {
	s.turns++
	var r turnResult
	var slots [][2]int
	for i := range t.Settle {
		r.verdicts = append(r.verdicts, s.settle(&t.Settle[i]))
		slots = append(slots, [2]int{t.Settle[i].Lo, t.Settle[i].Hi})
	}
	for _, q := range t.Read {
		if s.w.chance(s.w.odds.badRead) {
			r.pages = append(r.pages, engine.Page{Failed: true})
		} else {
			r.pages = append(r.pages, s.log.read(q.Slots, q.From, q.Until, q.Limit, q.Bytes))
		}
		slots = append(slots, q.Slots...)
	}
	r.commands = s.waiting(slots)
	r.nextDue = s.nextDue(slots)
	return r
}

func (s *modelStore) String() string {
	out := ""
	for _, sh := range s.shards {
		out += fmt.Sprintf(" [%d owner %d at %s]", sh.lo, sh.owner, sh.position)
	}
	for _, r := range s.rows {
		out += fmt.Sprintf(" %d:%d/%d", r.Seq, r.State, r.Attempts)
	}
	return out
}

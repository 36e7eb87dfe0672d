package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// server is the simulated store: a log, and the tables of Postbag beside it, with
// the rules of package store. It fails the run when a settlement is not what the
// contract allows.
type server struct {
	tables
	*machine

	w        *world
	copies   []backup
	moved    bool          // to another cluster, or emptied
	emptied  int           // how often its owner began the numbering again
	stored   int           // what the broker had stored when it was emptied last
	doubted  bool          // a read found that positions are not of the log
	begunAt  time.Duration // when somebody last saw that the log was emptied
	vanished int           // rows that went with the log since then
	gone     bool          // an operator removed the subscription
	dirty    bool          // something was committed since it was last looked at
}

// machine is the database that the tables of all subscriptions are in, and the log.
type machine struct {
	log      log
	life     int64
	timeline int64 // from one on: grows when it falls back, and with every copy
	identity int
	drift    time.Duration // of its clock
}

// tables are what is in the database of a subscription, but for the log.
type tables struct {
	shards    []shard
	rows      []parked // by seq
	commands  []command
	commandID store.CommandID
	discarded []*message
	deaths    []letter       // the messages of settlements that said so
	letters   []letter       // and what was left of them in another box
	ledger    [8]store.Tally // by fate
	relays    []heartbeat
	house     house
	settings  []store.Setting // those of operators; never changed in place
	token     int64
	epoch     int64
	wanted    int
	paused    bool
	pauses    []store.Pause
	refuses   bool // the filter, of messages that may shift
	later     bool // the filter, of what older relays can read
	file      int  // that the log's sequence has, as far as somebody saw
}

type shard struct {
	lo, hi         int
	token, version int64
	owner          string // empty: free
	position       store.Position
	settledUnder   int64
}

func (s *shard) has(slot int) bool { return slot >= s.lo && slot < s.hi }

type heartbeat struct {
	id         string
	expires    time.Duration
	dead       bool
	conditions []store.Condition
}

func newServer(w *world) *server {
	s := &server{w: w, machine: &machine{life: 1, identity: 1, timeline: 1}}
	switch w.plan.store {
	case Snapshots:
		s.log = newSnapshotLog(s, 700)
	default:
		s.log = &rangeLog{server: s, serial: w.plan.store == Serial}
	}
	s.declare("")
	return s
}

// declare makes the subscription, whose shards begin at a position.
func (s *server) declare(at store.Position) {
	s.wanted, s.epoch = s.w.plan.shards, 1
	s.split(s.w.plan.shards, at, "")
}

// now is the time by the server's clock.
func (s *server) now() time.Duration { return s.w.now + s.drift }

func (s *server) split(n int, position store.Position, owner string) {
	s.shards = nil
	for i := range n {
		s.token++
		s.shards = append(s.shards, shard{
			lo: i * 4096 / n, hi: (i + 1) * 4096 / n, token: s.token, version: 1, owner: owner, position: position,
		})
	}
}

func (s *server) shard(lo, hi int) *shard {
	for i := range s.shards {
		if s.shards[i].lo == lo && s.shards[i].hi == hi {
			return &s.shards[i]
		}
	}
	return nil
}

// at is the message with a seq, as the subscription sees it.
func (s *server) at(seq int64) *message {
	m := s.log.at(seq)
	if m == nil || m == tombstone {
		return m
	}
	return s.w.producers.msgs[m.id-1]
}

// Errors of calls to the store, as the relay sees them.
var (
	errLost    = errors.New("the connection was lost")
	errTimeout = fmt.Errorf("no answer came in time: %w", context.DeadlineExceeded)
	errRead    = errors.New("this read failed")
)

// known makes sure that a position that a relay speaks of is of this life of the
// server, or settled.
func (s *server) known(raw store.Position) error {
	if raw == "" || s.life == 1 { // all are of the first
		return nil
	}
	life, bound := s.log.life(raw)
	if !bound || life == s.life {
		return nil
	}
	for i := range s.shards {
		if s.shards[i].position == raw {
			return nil
		}
	}
	return store.ErrRestarted
}

// settle judges one settlement and carries it out.
func (s *server) settle(who *relay, of *meaning, t *store.Settlement) store.Verdict {
	asked := s.meant(of, t)
	v := s.judge(asked)
	if v.Applied && asked != t { // of what was not parked nothing is left either, as a store's look at the chains says
		v.Cleared = s.cleared(s.shard(t.Lo, t.Hi), t)
	}
	s.w.tell(eventSettle, who.number, int64(t.Lo), bit(v.Applied))
	if s.w.trace.out != nil {
		s.w.tellf("    token %d version %d to %s, parks %s, resolves %v, done %v", t.Token, t.Version, s.show(t.To), s.showParks(t.Park), t.Resolve, t.Done)
	}
	return v
}

func (s *server) judge(t *store.Settlement) store.Verdict {
	sh := s.shard(t.Lo, t.Hi)
	switch {
	case sh == nil || sh.token != t.Token:
		return store.Verdict{}
	case sh.settledUnder == t.Token && sh.version == t.Version+1: // a repeat
		return store.Verdict{Applied: true, Cleared: s.cleared(sh, t), Waiting: s.waitingOf(sh, t)}
	case sh.version != t.Version:
		return store.Verdict{}
	}
	s.dirty = true
	n, more := s.supersedeFirst(sh, t)
	if more {
		return store.Verdict{More: true, Superseded: n}
	}
	s.check(sh, t)
	sh.version++
	sh.settledUnder = t.Token
	if t.To != "" {
		sh.position = t.To
	}
	discarding := s.carryOut(t)
	for _, r := range t.Resolve {
		if row, i := s.row(r.Seq); row != nil {
			if slices.Contains(discarding, r.Seq) {
				s.discard(row.m, true)
			}
			s.rows = slices.Delete(s.rows, i, i+1)
		}
	}
	s.discardPending(sh, t, discarding)
	for i := range t.Park {
		s.die(&t.Park[i])
		s.park(&t.Park[i])
	}
	n += s.supersedeLast(sh, t)
	s.tally(t)
	return store.Verdict{Applied: true, Cleared: s.cleared(sh, t), Superseded: n, Waiting: s.waitingOf(sh, t)}
}

// discardPending ends the messages that a settlement discards and that have no row: its
// position passes them.
func (s *server) discardPending(sh *shard, t *store.Settlement, discarding []int64) {
	for _, seq := range discarding {
		row, _ := s.row(seq)
		m := s.at(seq)
		if row != nil || slices.ContainsFunc(t.Resolve, func(r store.Resolved) bool { return r.Seq == seq }) {
			continue
		}
		if m == nil || m.state != committed || !s.moved && !s.log.lens(sh.position).passed(m) { // of rows of another cluster a position says little
			s.w.failf("engine", "seq %d is discarded, and no message that the position passes has it", seq)
			return
		}
		s.discard(m, false)
	}
}

func (s *server) discard(m *message, parked bool) {
	if !m.unwanted {
		s.w.failf("P1", "message %d is discarded, and nobody gave that command", m.id)
	}
	m.discarded, m.given = true, true
	s.w.discarded(m, parked)
	s.discarded = append(s.discarded, m)
}

// hits says that one of the settlements will be applied.
func (s *server) hits(list []store.Settlement) bool {
	for i := range list {
		t := &list[i]
		sh := s.shard(t.Lo, t.Hi)
		if sh != nil && sh.token == t.Token && (sh.version == t.Version || sh.version == t.Version+1 && sh.settledUnder == t.Token) {
			return true
		}
	}
	return false
}

// carryOut closes the commands that are done, and returns what they discard, whether
// the store still has them or was set back to before they were given.
func (s *server) carryOut(t *store.Settlement) (discarding []int64) {
	for _, d := range t.Done {
		if d.Kind == store.Discard {
			discarding = append(discarding, d.Seq)
		}
		for i := range s.commands {
			c := &s.commands[i]
			if c.id != d.ID || c.kind != d.Kind || c.m.seq != d.Seq {
				continue
			}
			if c.done {
				s.w.failf("engine", "command %d is done twice", d.ID)
			}
			c.done = true
		}
	}
	return discarding
}

// check holds a settlement to the contract: what the position newly passes is
// what the tallies count, seqs are distinct, positions only go forward.
func (s *server) check(sh *shard, t *store.Settlement) {
	w := s.w
	for i := range t.Park {
		p := &t.Park[i]
		m := s.at(p.Seq)
		switch {
		case slices.ContainsFunc(t.Park[:i], func(o store.Park) bool { return o.Seq == p.Seq }):
			w.failf("engine", "a settlement names seq %d twice", p.Seq)
		case m == nil || m.state != committed:
			w.failf("P2", "seq %d is parked, and no committed message has it", p.Seq)
		case !sh.has(p.Slot) || m.slot != p.Slot:
			w.failf("engine", "message %d is parked in slot %d by the shard from %d", m.id, p.Slot, sh.lo)
		case p.State == store.ParkHeld && !w.paused(p.Topic, m) && (p.Topic != topicNames[m.topic] || w.plan.topics == 0):
			w.failf("engine", "message %d is held for topic %q, its own is %q", m.id, p.Topic, topicNames[m.topic])
		case m.damaged:
			m.unread = max(m.unread, p.Attempts)
			w.refused(m)
		case m.repaired && p.State != store.ParkInFlight && p.Attempts == m.attempts()+1: // it was read before that, and its turn has come since
			m.unread, m.repaired = m.unread+1, false
			w.refused(m)
		case p.Attempts > w.mayCount(m, p):
			w.failf("P1", "message %d has %d attempts, and %d were made", m.id, p.Attempts, m.attempts())
		}
		if m != nil {
			s.checkExpired(p, m)
			s.checkDeath(p, m)
		}
		for _, r := range t.Resolve {
			if r.Seq == p.Seq {
				w.failf("engine", "a settlement names seq %d twice", p.Seq)
			}
		}
	}
	if !s.moved {
		s.checkTally(sh, t)
	}
}

// mayCount is how many attempts a row of a message may have: those that were made, and, if
// they are counted first, the one that is being made.
func (w *world) mayCount(m *message, p *store.Park) int {
	n := m.attempts() + m.cut
	if w.plan.cfg.CountFirst && p.State == store.ParkInFlight {
		n++
	}
	return n
}

// checkTally: what the tallies count is what the position passes, and nothing is
// taken back.
func (s *server) checkTally(sh *shard, t *store.Settlement) {
	var want, got store.Tally
	if t.To != "" {
		var back *message
		if want, back = s.log.passes(sh, t.To); back != nil {
			s.w.failf("engine", "the shard from %d goes back behind message %d", sh.lo, back.id)
		}
	}
	for _, y := range t.Tally {
		got = sum(got, y.Count, y.SeqSum, y.IDSum)
	}
	if got != want {
		s.w.failf("P1", "the shard from %d passes %d messages and accounts for %d (sums of seqs %d and %d)", sh.lo, want.Count, got.Count, want.SeqSum, got.SeqSum)
	}
}

func sum(t store.Tally, n int64, seqs, ids uint64) store.Tally {
	t.Count += n
	t.SeqSum += seqs
	t.IDSum += ids
	return t
}

// tally adds to the ledger, whose parked line must be what is parked.
func (s *server) tally(t *store.Settlement) {
	for _, y := range t.Tally {
		s.ledger[y.Fate] = sum(s.ledger[y.Fate], y.Count, y.SeqSum, y.IDSum)
	}
	if s.moved || len(t.Park)+len(t.Resolve)+len(t.Tally) == 0 {
		return
	}
	var want store.Tally
	for i := range s.rows {
		m := s.rows[i].m
		want = sum(want, 1, uint64(m.seq), m.sum)
	}
	if got := s.ledger[store.TallyParked]; got != want {
		s.w.failf("P1", "the ledger has %+v parked, the lot %+v", got, want)
	}
}

// show says what a position has passed.
func (s *server) show(raw store.Position) string {
	if raw == "" {
		return "where it is"
	}
	l := s.log.lens(raw)
	n := 0
	for _, m := range s.w.producers.msgs {
		if m.state == committed && s.at(m.seq) == m && l.passed(m) {
			n++
		}
	}
	return fmt.Sprintf("%d passed (all up to seq %d)", n, l.lowest())
}

func (s *server) showParks(parks []store.Park) string {
	var out strings.Builder
	for i := range parks {
		fmt.Fprintf(&out, " seq %d: %s, %d attempts;", parks[i].Seq, stateTexts[parks[i].State], parks[i].Attempts)
	}
	return "[" + out.String() + "]"
}

var stateTexts = [...]string{"", "retrying", "blocked", "in-flight", "dead", "held"}

func (s *server) String() string {
	var out strings.Builder
	for i := range s.shards {
		sh := &s.shards[i]
		fmt.Fprintf(&out, "\n  shard %d-%d of %q, token %d, %s", sh.lo, sh.hi, sh.owner, sh.token, s.show(sh.position))
	}
	for i := range s.relays {
		if h := &s.relays[i]; !h.dead {
			fmt.Fprintf(&out, "\n  heartbeat of %q, good for %v", h.id, h.expires-s.now())
		}
	}
	for i := range s.rows {
		r := &s.rows[i]
		fmt.Fprintf(&out, "\n  parked: message %d, seq %d, %s, %d attempts", r.m.id, r.Seq, stateTexts[r.State], r.Attempts)
	}
	return out.String()
}

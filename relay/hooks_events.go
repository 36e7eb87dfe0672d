package relay

import (
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// spent is the time that a call to a destination took. The zero value is of one that no hook
// hears of.
type spent struct {
	began, ended time.Time
	answered     []time.Time // when each message was; zero: with the call. Nil: no hook hears of it
}

// timed begins the time of a call with n messages.
func (l *loop) timed(n int) (s spent) {
	if l.hooks.hearsCalls() {
		s = spent{began: time.Now(), answered: make([]time.Time, n)}
	}
	return s
}

// note notes that message i is answered.
func (s *spent) note(i int) {
	if s.answered != nil {
		s.answered[i] = time.Now()
	}
}

// end notes that the call is over.
func (s *spent) end() {
	if s.answered != nil {
		s.ended = time.Now()
	}
}

// at is when message i was answered.
func (s *spent) at(i int) time.Time {
	if at := s.answered[i]; !at.IsZero() {
		return at
	}
	return s.ended
}

// tellCall tells of a call that is over, and of each message in it.
func (l *loop) tellCall(f *flow, c *engine.Call, answers []engine.Answer, failed error, s *spent) {
	if s.answered == nil {
		return
	}
	if len(l.hooks.call) > 0 {
		put(l.hooks, "Call", l.hooks.call, l.callEvent(f, c, answers, failed, s))
	}
	if len(l.hooks.message) > 0 {
		put(l.hooks, "Message", l.hooks.message, l.messageEvents(f, c, answers, s)...)
	}
}

func (l *loop) callEvent(f *flow, c *engine.Call, answers []engine.Answer, failed error, s *spent) CallEvent {
	e := CallEvent{Ref: f.Ref, Messages: len(c.Items), Took: s.ended.Sub(s.began), Err: failed}
	e.Acceptances = make([]Acceptance, 0, len(c.Items))
	for i := range answers {
		switch answers[i].Outcome {
		case broker.Accepted:
			e.Accepted++
			e.Last = max(e.Last, c.Items[i].Seq)
			e.Acceptances = append(e.Acceptances, Acceptance{Age: l.clock.age(c.Items[i].At, s.at(i)), Attempt: c.Items[i].Attempt})
		case broker.Rejected:
			e.Rejected++
		case broker.Misconfigured:
			e.Misconfigured++
		case broker.Unavailable:
			e.Unavailable++
		case broker.NotSent:
			e.NotSent++
		default:
			e.Unknown++
		}
	}
	return e
}

func (l *loop) messageEvents(f *flow, c *engine.Call, answers []engine.Answer, s *spent) []MessageEvent {
	events := make([]MessageEvent, len(answers))
	for i := range answers {
		a, item := &answers[i], &c.Items[i]
		events[i] = MessageEvent{
			Ref: f.Ref, MessageFacts: factsOf(item.Record), Attempt: item.Attempt,
			Outcome: a.Outcome, Reason: a.Reason, Age: l.clock.age(item.At, s.at(i)),
		}
	}
	return events
}

func factsOf(r *store.Record) MessageFacts {
	return MessageFacts{ID: r.ID, Topic: r.Topic, Key: r.Key, Type: r.Type, Seq: r.Seq, At: r.At}
}

// tellPage tells of a page that was read.
func (l *loop) tellPage(ref store.Ref, b *store.Batch, took time.Duration) {
	if l.hooks == nil || len(l.hooks.page) == 0 {
		return
	}
	e := PageEvent{Ref: ref, Messages: len(b.Records), Took: took, Err: b.Err}
	for i := range b.Records {
		if b.Records[i].Filtered {
			e.Filtered++
		}
	}
	put(l.hooks, "PageRead", l.hooks.page, e)
}

// progress is what a round has settled and parked. It is taken before the flows go on, whose
// memory the round has.
type progress struct {
	settled []ProgressEvent
	parked  []ParkEvent
}

func (l *loop) progressOf(r *core.Round, verdicts []store.Verdict, took time.Duration) (p progress) {
	if l.hooks == nil || len(l.hooks.settled)+len(l.hooks.parked) == 0 {
		return p
	}
	for i := range r.Parts {
		settles := r.Parts[i].Turn.Settle
		for j := range settles {
			switch {
			case verdicts[j].More: // the last of its parts says the rest
				p.add(r.Parts[i].Flow.Ref, &store.Settlement{Lease: settles[j].Lease}, verdicts[j].Superseded, took)
			case verdicts[j].Applied:
				p.add(r.Parts[i].Flow.Ref, &settles[j], verdicts[j].Superseded, took)
			}
		}
		verdicts = verdicts[len(settles):]
	}
	return p
}

func (p *progress) add(ref store.Ref, s *store.Settlement, superseded int64, took time.Duration) {
	e := ProgressEvent{Ref: ref, Lo: s.Lo, Parked: int64(len(s.Park)), Resolved: int64(len(s.Resolve)), Superseded: superseded, Took: took}
	for _, t := range s.Tally {
		switch t.Fate {
		case store.TallyDelivered:
			e.Delivered += t.Count
		case store.TallyFiltered:
			e.Filtered += t.Count
		case store.TallyDiscarded:
			e.Discarded += t.Count
		case store.TallyParked, store.TallySuperseded: // the rows and the verdict say it
		}
	}
	p.settled = append(p.settled, e)
	for i := range s.Park {
		row := &s.Park[i]
		p.parked = append(p.parked, ParkEvent{Ref: ref, Seq: row.Seq, State: row.State, Attempts: row.Attempts, Delay: row.Delay, Reason: row.Reason})
	}
}

func (l *loop) tellProgress(p *progress) {
	if len(p.settled) > 0 {
		put(l.hooks, "Settled", l.hooks.settled, p.settled...)
		put(l.hooks, "Parked", l.hooks.parked, p.parked...)
	}
}

// tellMaintained tells of a round of housekeeping.
func (l *loop) tellMaintained(box string, r *store.Report, took time.Duration) {
	if l.hooks != nil && len(l.hooks.kept) > 0 {
		put(l.hooks, "Maintained", l.hooks.kept, MaintenanceEvent{Box: box, Report: *r, Took: took})
	}
}

// tellDeath tells of a message that is dead.
func (l *loop) tellDeath(f *flow, d *engine.Death) {
	if l.hooks != nil && len(l.hooks.died) > 0 {
		put(l.hooks, "Died", l.hooks.died, DeathEvent{Ref: f.Ref, MessageFacts: factsOf(&d.Record), Attempts: d.Attempts, Reason: d.Reason, Cause: d.Cause})
	}
}

// tellState tells of the state of a flow's destination and of its leases, if they changed.
func (l *loop) tellState(f *flow) {
	if l.hooks == nil {
		return
	}
	if len(l.hooks.circuit) > 0 {
		if state := f.state(); state != f.toldState {
			e := CircuitEvent{Ref: f.Ref, From: f.toldState, To: state}
			if state != "closed" {
				e.Reason = reasonOf(f.lastError)
			}
			put(l.hooks, "Circuit", l.hooks.circuit, e)
			f.toldState = state
		}
	}
	if len(l.hooks.lease) > 0 {
		l.tellLeases(f)
	}
}

func (l *loop) tellLeases(f *flow) {
	held := f.Engine.Leases()
	e := LeaseEvent{Ref: f.Ref, Held: len(held), Gained: without(held, f.toldLeases), Lost: without(f.toldLeases, held)}
	if len(e.Gained)+len(e.Lost) == 0 {
		return
	}
	put(l.hooks, "Lease", l.hooks.lease, e)
	f.toldLeases = held
}

// without returns the shards of a whose leases are not in b. A shard that was lost and taken
// again has another token.
func without(a, b []store.Lease) (out []store.Shard) {
	for i := range a {
		if !slices.ContainsFunc(b, func(l store.Lease) bool { return l.Slots == a[i].Slots && l.Token == a[i].Token }) {
			out = append(out, a[i].Shard)
		}
	}
	return out
}

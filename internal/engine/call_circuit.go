package engine

import (
	"time"

	"github.com/postbag/postbag/broker"
)

// CircuitState is whether a destination is being used.
type CircuitState int

// The states of a circuit. Closed: messages flow. Open: the destination cannot
// be used; nothing is sent until a pause is over and a probe succeeded. Probing:
// a probe, or a trial call of one message, is out.
const (
	Closed CircuitState = iota
	Open
	Probing
)

// circuit is a breaker (M. Nygard, Release It!, 2007) with exponential pauses.
type circuit struct {
	state    CircuitState
	failures int           // in a row
	wrong    *entry        // misconfigured: only the message itself can tell
	until    time.Duration // when Open: when to probe
}

// fail opens the circuit, or keeps it open. after is the least pause that the
// destination asked for.
func (c *circuit) fail(now time.Duration, cfg *Config, after time.Duration) {
	if c.state == Open && now < c.until {
		// Answers of calls that were out when it opened say nothing new.
		c.until = max(c.until, now+min(after, cfg.AfterMax))
		return
	}
	c.state = Open
	c.failures++
	pause := backoff(cfg.CircuitMin, cfg.CircuitMax, 2, c.failures, cfg.Rand())
	c.until = now + max(pause, min(after, cfg.AfterMax))
}

func (c *circuit) succeed() { *c = circuit{} }

// callTally is what the answers of a call say about the destination.
type callTally struct {
	works, down, other int
	topics             int // failures of a topic: the destination answers
	suspected          int // lost answers to messages that others got past
	after              time.Duration
	wrong              *entry // misconfigured for this one
}

func (t *callTally) add(e *entry, a *Answer, topic, passed bool) {
	switch {
	case topic:
		t.topics++
	case a.Outcome == broker.Unknown && (a.Broken || passed):
		t.suspected++
	case a.Outcome == broker.Accepted, a.Outcome == broker.Rejected:
		t.works++
	case a.Outcome == broker.Misconfigured, a.Outcome == broker.Unavailable:
		t.down++
		t.after = max(t.after, a.After)
		if a.Outcome == broker.Misconfigured {
			t.wrong = e
		}
	default:
		t.other++
	}
}

// breaker opens the circuit when the answers of a call show an outage, and
// closes it when those of a trial show that there is none. Answers that got lost
// show one only if the call was not slow: then others came through.
func (f *Flow) breaker(now time.Duration, c *Call) {
	t := c.tally
	c.tally = callTally{}
	if c.trial { // what it tried is all there is to go by
		t.other += t.suspected
	}
	switch {
	case t.down > 0, t.works == 0 && t.topics == 0 && t.other > 0 && (!c.slow || c.trial):
		if f.circuit.state == Closed {
			f.stats.Opened++
		}
		f.circuit.fail(now, &f.cfg, t.after)
		f.circuit.wrong = t.wrong
	case t.works > 0 && (f.circuit.state == Closed || c.trial):
		f.circuit.succeed()
	case t.topics > 0 && c.trial: // it says nothing of other messages: try one of them soon
		f.circuit.state, f.circuit.until, f.circuit.wrong = Open, now+f.cfg.CircuitMin, nil
	}
}

// Check is how to find out whether a destination works again.
type Check int

// The ways to find out. NoCheck: there is nothing to find out now. AskProber:
// probe the destination and report with Probed. TryOne: make the call that Trial
// returns.
const (
	NoCheck Check = iota
	AskProber
	TryOne
)

// Check says, when the circuit's pause is over, how to find out whether the
// destination works again. The caller does so at once.
func (f *Flow) Check(now time.Duration) Check {
	c := &f.circuit
	if !f.mayCheck(now) || now < c.until {
		return NoCheck
	}
	if f.rate != nil && !f.asksProber() && !f.counting() {
		if at, may := f.rate.mayTry(now); !may {
			c.until = min(at, now+f.cfg.CircuitMax) // shards may come meanwhile
			return NoCheck
		}
	}
	c.state = Probing
	if f.asksProber() {
		return AskProber
	}
	return TryOne
}

// asksProber: the destination is probed, and not tried.
func (f *Flow) asksProber() bool { return f.cfg.Prober && f.circuit.wrong == nil }

func (f *Flow) mayCheck(now time.Duration) bool {
	return f.circuit.state == Open && !f.paused && now < f.expires && (!f.cfg.Transactions || f.mayTransact())
}

// Probed takes the answer of a probe.
func (f *Flow) Probed(now time.Duration, o broker.Outcome) {
	if f.circuit.state != Probing {
		return
	}
	if o != broker.Accepted {
		f.circuit.fail(now, &f.cfg, 0)
		return
	}
	// A probe may succeed where messages fail: only they end the row of failures.
	f.circuit = circuit{failures: f.circuit.failures}
}

// Trial returns a call of one message, to find out whether the destination works
// again. It is nil when there is nothing to send: the circuit is then closed.
func (f *Flow) Trial(now time.Duration) *Call {
	if f.circuit.state != Probing {
		return nil
	}
	if f.counting() { // what is held is the trial
		f.circuit = circuit{failures: f.circuit.failures}
		return nil
	}
	f.bar(now)
	if c := f.trial(now); c != nil {
		c.trial = true
		return c
	}
	f.circuit.succeed()
	return nil
}

func (f *Flow) trial(now time.Duration) *Call {
	f.refuseUnreadable(now)
	f.expireOld(now)
	if f.cfg.Transactions {
		return f.transaction(1, now)
	}
	if e := f.witness(now); e != nil {
		f.include(e)
	}
	return f.start(now)
}

// witness takes the message to be tried out of its queue: the one that showed
// the destination to be misconfigured, else one that was sent before, or, if its
// answer got lost, a fresh one, since the fault may be its own.
func (f *Flow) witness(now time.Duration) *entry {
	if e := f.circuit.wrong; e != nil && e.ready() && !f.tooOld(e, now) {
		f.again.remove(e)
		return e
	}
	if e := f.again.peek(); e != nil && e.doubt == nil {
		return f.again.pop()
	}
	b := f.newFilling(1, now)
	b.pins()
	b.fill(&f.retry, 1)
	b.fill(&f.ready, 1)
	if len(f.scratch) == 0 {
		return f.again.pop()
	}
	return nil
}

package simulation

import (
	"strings"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// Under Retries a subscription has rules of retries, by the type of a message, with pauses of
// their own and ages. The broker says now and then that a message gets no other attempt.

// typeNames are the types of messages, by their key.
var typeNames = [...]string{"a", "b", "c"}

func (m *message) kind() int { return m.key % len(typeNames) }

// ruleOf is the rule of a type, as a relay finds it.
func ruleOf(typ string) int {
	switch typ {
	case typeNames[1]:
		return 1
	case typeNames[2]:
		return 2
	}
	return 0
}

func (w *world) drawRetries(c *engine.Config) {
	if !w.plan.faults.has(Retries) {
		return
	}
	list := func() []time.Duration {
		return [][]time.Duration{nil, {0}, {100 * time.Millisecond}, {0, 20 * time.Millisecond, time.Second}}[w.below(4)]
	}
	age := func() time.Duration { return time.Duration(w.of(0, 0, 20_000, 3_000, 500)) * time.Millisecond }
	c.Retry.Pauses, c.Retry.MaxAge = list(), age()
	first, second := c.Retry, c.Retry
	first.Pauses, first.MaxAge, first.MaxAttempts = list(), age(), max(c.Retry.MaxAttempts, w.of(20, 2))
	second.MaxAge, second.Quick = age(), w.of(0, 2)
	c.Rules, c.RuleOf = []engine.Retry{first, second}, ruleOf
}

// clockSlack is how far a relay's picture of the database's clock may be behind: it has it from
// its last heartbeat, and its own clock may run slower.
func (w *world) clockSlack() time.Duration { return 2*w.plan.ttl + hungFor }

// agesSurely says that clocks tell how old a message is.
func (w *world) agesSurely() bool {
	return w.plan.faults.has(Retries) && !w.plan.faults.has(StoreClock|RelayClocks|Restores|Moves|FailOvers|Crashes)
}

// maxAge is that of a message, zero for none.
func (w *world) maxAge(m *message) time.Duration {
	c := &w.plan.cfg
	if rule := ruleOf(typeNames[m.kind()]); rule > 0 && len(c.Rules) > 0 {
		return c.Rules[rule-1].MaxAge
	}
	return c.Retry.MaxAge
}

// checkAges: what is sent is not too old, unless an operator had it retried.
func (w *world) checkAges(items []engine.Item) {
	if !w.agesSurely() || w.plan.cfg.Transactions {
		return
	}
	for _, item := range items {
		m := w.message(item.Record)
		if most := w.maxAge(m); most > 0 && !m.retried && w.server.now()-m.stored > most+w.clockSlack() {
			w.failf("P1", "message %d is sent %v after it was stored, and it may be %v old", m.id, w.server.now()-m.stored, most)
		}
	}
}

// checkExpired: what is dead by its age is that old. Once the broker rejects nothing any more an
// operator has it retried.
func (s *server) checkExpired(p *store.Park, m *message) {
	w := s.w
	if p.State != store.ParkDead || !strings.HasPrefix(p.Reason, "expired") {
		return
	}
	m.expired = true
	if most := w.maxAge(m); most == 0 || w.agesSurely() && s.now()-m.stored < most {
		w.failf("P1", "message %d is dead by its age of %v, and it may be %v old", m.id, s.now()-m.stored, most)
	}
	if w.pardon {
		s.order(store.Retry, m)
	}
}

package simulation

import (
	"strings"

	"github.com/postbag/postbag/store"
)

// Each message that becomes dead leaves a dead letter in another box, in the settlement that says
// so. A settlement that is repeated or lost leaves none, and a store that is set back loses the
// letters with the deaths.

// letterBox is where dead letters go.
const letterBox = "dead"

// letterTopic is their topic.
const letterTopic = "deaths"

// letter is a message that became dead, or its dead letter.
type letter struct{ m *message }

// die keeps the death of a message and its letter, of a settlement that is being applied.
func (s *server) die(p *store.Park) {
	m := s.at(p.Seq)
	if m == nil {
		return
	}
	if p.DeadTo != "" {
		s.letters = append(s.letters, letter{m})
	}
	if p.State != store.ParkDead {
		return
	}
	if row, _ := s.row(p.Seq); row != nil && row.m == m && row.State == store.ParkDead && !s.moved {
		s.w.failf("engine", "message %d is dead, and becomes dead again", m.id)
	}
	s.deaths = append(s.deaths, letter{m})
}

// dooms says that an answer gives a message no other attempt.
func (w *world) dooms(m *message) bool {
	is := w.fault(Retries, 100)
	m.doomed = m.doomed || is
	return is
}

// checkDeath: what becomes dead says why, and asks for a letter. Nothing else does.
func (s *server) checkDeath(p *store.Park, m *message) {
	w := s.w
	if p.State != store.ParkDead {
		if p.DeadTo != "" || p.DeadTopic != "" || p.Cause != 0 {
			w.failf("engine", "message %d is %s and leaves a dead letter", m.id, stateTexts[p.State])
		}
		return
	}
	retry := w.plan.cfg.Retry
	retry.MaxAttempts = w.deadAfter(&retry)
	if rule := ruleOf(typeNames[m.kind()]); rule > 0 && len(w.plan.cfg.Rules) > 0 {
		retry = w.plan.cfg.Rules[rule-1]
	}
	right := false
	switch p.Cause {
	case store.CauseExpired:
		right = strings.HasPrefix(p.Reason, "expired")
	case store.CauseRejected:
		right = m.doomed
	case store.CauseAttempts:
		right = p.Attempts >= retry.MaxAttempts && !strings.HasPrefix(p.Reason, "expired")
	}
	if !right || p.DeadTo != letterBox || p.DeadTopic != letterTopic {
		w.failf("engine", "message %d is dead after %d attempts (%s), because of %v, and leaves a letter in box %q with topic %q", m.id, p.Attempts, p.Reason, p.Cause, p.DeadTo, p.DeadTopic)
	}
}

// checkLetters: each death that was settled has one letter, and nothing else has.
func (w *world) checkLetters() {
	letters := map[*message]int{}
	for _, l := range w.server.letters {
		letters[l.m]++
	}
	for _, d := range w.server.deaths {
		letters[d.m]--
	}
	for _, m := range w.producers.msgs {
		if n := letters[m]; n != 0 {
			w.failf("P1", "message %d has %d dead letters more than deaths", m.id, n)
			return
		}
	}
	for i := range w.server.rows {
		if r := &w.server.rows[i]; r.State == store.ParkDead && !containsLetter(w.server.letters, r.m) && !w.server.moved {
			w.failf("P1", "message %d is dead and has no dead letter", r.m.id)
			return
		}
	}
}

func containsLetter(list []letter, m *message) bool {
	for _, l := range list {
		if l.m == m {
			return true
		}
	}
	return false
}

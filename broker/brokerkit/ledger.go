package brokerkit

import (
	"sync"

	"github.com/postbag/postbag/broker"
)

// State is how far a message of a call has come.
type State uint8

const (
	// Waiting: it was not sent.
	Waiting State = 0
	// Sent: it was sent, for all we know.
	Sent State = 1
	// Answered: it has its fate, which was reported. An adapter may use the values
	// between Sent and this one as it likes.
	Answered State = 255
)

// Ledger keeps the fates of the messages of one Publish. Any goroutine that learns a fate
// enters it. The ledger reports each fate once. The last answer, the context or the loss
// of a connection ends the call. After that the ledger reports nothing more, and does not
// read the caller's slice. Open begins it.
type Ledger struct {
	answered func(i int, was State) // may be nil
	over     func()                 // may be nil

	mu     sync.Mutex
	msgs   []broker.Delivery // nil once the call is over: the slice is the caller's
	report func(i int, r broker.Result)
	states []State
	left   int // without a fate
}

// Open begins the ledger of a call. Call it before any other method. over runs once, when
// the last message has its fate. answered runs for each message that gets its fate, with
// the state it had before. Either may be nil. Both run under the ledger's lock, as report
// does, and must return at once.
func (l *Ledger) Open(msgs []broker.Delivery, report func(i int, r broker.Result), over func(), answered func(i int, was State)) {
	l.answered, l.over, l.msgs, l.report = answered, over, msgs, report
	l.states, l.left = make([]State, len(msgs)), len(msgs)
}

// Len is how many messages the call has.
func (l *Ledger) Len() int { return len(l.states) }

// Message returns message i, unless the call is over.
func (l *Ledger) Message(i int) (m broker.Delivery, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.msgs == nil {
		return m, false
	}
	return l.msgs[i], true
}

// State is how far message i has come.
func (l *Ledger) State(i int) State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.states[i]
}

// Sending marks message i as sent: from now on it may have reached the server. It returns
// false if the message has its fate already. Then do not send it.
func (l *Ledger) Sending(i int) bool { return l.Mark(i, Sent) }

// Mark notes how far message i has come, unless it has its fate. Mark it Waiting again if
// it turned out that it was not sent.
func (l *Ledger) Mark(i int, s State) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.states[i] == Answered {
		return false
	}
	l.states[i] = s
	return true
}

// Answer gives message i its fate, unless it has one.
func (l *Ledger) Answer(i int, r broker.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer(i, r)
}

func (l *Ledger) answer(i int, r broker.Result) {
	was := l.states[i]
	if was == Answered {
		return
	}
	if l.answered != nil {
		l.answered(i, was)
	}
	l.states[i] = Answered
	l.report(i, r)
	if l.left--; l.left == 0 {
		l.msgs, l.report = nil, nil
		if l.over != nil {
			l.over()
		}
	}
}

// End gives a fate to every message that has none: unanswered if it was sent, unsent if it
// was not. It says whether an answer was still out. It does nothing to a call that is
// over.
func (l *Ledger) End(unanswered, unsent *broker.Error) (out bool) {
	l.EndEach(func(_ int, s State) *broker.Error {
		if s == Waiting {
			return unsent
		}
		out = true
		return unanswered
	})
	return out
}

// EndEach gives every message that has no fate the one that fate says. fate must not
// call the ledger.
func (l *Ledger) EndEach(fate func(i int, s State) *broker.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, s := range l.states {
		if s != Answered {
			l.answer(i, Result(fate(i, s)))
		}
	}
}

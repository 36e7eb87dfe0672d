package relay

import (
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// Dead is a message that gets no other attempt. It is kept, and an operator can retry or
// discard it.
type Dead struct {
	// Ref is the subscription. To others the message is not dead.
	Ref store.Ref
	// Message is as it is in the box. Its payload and headers must not be changed. They are
	// empty if the row cannot be read.
	Message postbag.Message
	// Seq is its place in the log.
	Seq int64
	// Attempts is how many were counted.
	Attempts int
	// Reason is the last error, or says that the message is too old.
	Reason string
}

// noteDeaths logs messages that became dead, and tells OnDead. It returns their seqs.
func (l *loop) noteDeaths(f *flow) (seqs map[int64]bool) {
	deaths, more := f.Engine.Deaths()
	if len(deaths) == 0 {
		return nil
	}
	seqs = make(map[int64]bool, len(deaths))
	for i := range deaths {
		d := &deaths[i]
		seqs[d.Seq] = true
		l.log.dead(f, d)
		l.tellDead(f, d)
	}
	if more > 0 {
		l.log.moreDead(f, more)
	}
	return seqs
}

// tellDead calls OnDead. A panic of it is an error of the relay, and does no more harm.
func (l *loop) tellDead(f *flow, d *engine.Death) {
	if f.subscription.OnDead == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			l.log.report(fmt.Errorf("relay: %s: OnDead panicked: %T", f.Ref, v))
		}
	}()
	f.subscription.OnDead(Dead{Ref: f.Ref, Message: d.Message, Seq: d.Seq, Attempts: d.Attempts, Reason: d.Reason})
}

package relay

import (
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// peer is another relay as the last view showed it.
type peer struct {
	name string
	ends time.Duration // its heartbeat, if it is not renewed
}

// notePeers logs relays that are gone without having said goodbye: their time was over.
func (l *loop) notePeers(relays []store.RelayState) {
	now := l.now()
	live := make(map[string]peer, len(relays))
	for i := range relays {
		if r := &relays[i]; r.ID != l.core.ID() {
			live[r.ID] = peer{name: r.Name, ends: now + r.Expires}
		}
	}
	for id, p := range l.peers {
		if _, there := live[id]; !there && now >= p.ends {
			l.log.died(id, p.name)
		}
	}
	l.peers = live
}

// noteBeginning logs, once each, that a flow has shards, and that it has none since others hold them: a relay that was
// killed does so until its lease is over.
func (l *loop) noteBeginning(f *flow, gained bool) {
	switch {
	case f.begun || l.core.Stops():
	case gained:
		f.begun = true
		l.log.begins(f)
	case !f.waited && len(f.holders) > 0:
		f.waited = true
		l.log.waits(f, l.now())
	}
}

// noteRejected logs the first rejection of a message that is tried again.
func (l *loop) noteRejected(f *flow, c *engine.Call, answers []engine.Answer, dead map[int64]bool) {
	for i := range c.Items {
		if i < len(answers) && answers[i].Outcome == broker.Rejected && c.Items[i].Attempt == 1 && !dead[c.Items[i].Seq] {
			l.log.rejected(f, c.Items[i].Record, answers[i].Reason)
		}
	}
}

// noteUnreadable says what to do about a row that cannot be read. It logs one when it is
// read first: no call says so.
func (l *loop) noteUnreadable(f *flow, r *store.Record, attempt int) {
	if r.Err == nil || r.Filtered {
		return
	}
	reason := reasonOf("the row cannot be read: " + r.Err.Error() + "; repair it, then retry the message, or discard it")
	r.Err = errors.New(reason)
	l.log.report(fmt.Errorf("relay: %s: message %s: %s", f.Ref, r.ID, reason))
	if attempt == 1 {
		l.log.rejected(f, r, reason)
	}
}

// noteCommand notes which message a command is about, which a settlement does not say.
func (l *loop) noteCommand(c *store.Command) {
	if l.commanded == nil {
		l.commanded = make(map[store.CommandID]commanded)
	}
	if len(l.commanded) >= commandedMost { // others have carried them out
		clear(l.commanded)
	}
	l.commanded[c.ID] = commanded{c.Message, c.Topic, c.Park.Reason, c.Park.Slot}
}

// commanded is the message that a command is about, and its last error.
type commanded struct {
	id     postbag.ID
	topic  string
	reason string
	slot   int
}

// commandedMost bounds how many commands are remembered for the log.
const commandedMost = 10_000

// noteDone logs commands that a round has carried out, and dead letters that it did not write.
func (l *loop) noteDone(r *core.Round, verdicts []store.Verdict) {
	for i := range r.Parts {
		p := &r.Parts[i]
		for j := range p.Turn.Settle {
			if verdicts[j].Applied {
				l.noteCommanded(l.flowOf(p.Flow), p.Turn.Settle[j].Done)
				l.noteLetters(l.flowOf(p.Flow), verdicts[j].Letters)
			}
		}
		verdicts = verdicts[len(p.Turn.Settle):]
	}
}

func (l *loop) noteCommanded(f *flow, done []store.Done) {
	for i := range done {
		d := &done[i]
		if about, known := l.commanded[d.ID]; known {
			l.log.commanded(f, d, about)
			delete(l.commanded, d.ID)
		}
	}
}

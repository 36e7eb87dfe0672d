package engine

import (
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// A message that is not parked can be discarded as long as it is in no call. What is
// in a window and not sent is resolved where it stands, and the settlement that
// passes it says that the command is done: one that was done before could be of a
// message that the next owner finds in its window, without a command. What was not
// read yet is remembered until it is.
//
// What is remembered may be on its way into a settlement already, so that it will not
// be read again. The store then closes the command, which comes no more: so what a
// turn that covered every shard did not bring is forgotten.

// discard is a command to discard a message of a window, or one that was not read.
type discard struct {
	command store.Done
	message postbag.ID
	// seen is the last turn that brought the command.
	seen int64
	// struck: the message is resolved in its window.
	struck bool
}

// obeyPending carries out c, whose message is not parked, or remembers it.
func (f *Flow) obeyPending(s *shard, c *store.Command, now time.Duration) bool {
	if c.Kind != store.Discard {
		return true
	}
	seq := c.Park.Seq
	d, known := s.toDiscard[seq]
	if known && d.struck {
		return false
	}
	if s.toDiscard == nil {
		s.toDiscard = make(map[int64]discard)
	}
	s.toDiscard[seq] = discard{command: c.Done(), message: c.Message, seen: f.round.landed}
	if e := s.find(seq); e != nil && e.state < sent {
		f.discardInWindow(e, now)
	}
	return false
}

// find returns the message of s with a seq, if it stands in the window.
func (s *shard) find(seq int64) (found *entry) {
	s.group.each(func(e *entry) {
		if e.Seq == seq && e.shard == s {
			found = e
		}
	})
	return found
}

// unwanted says that e, which is not sent, is to be discarded.
func (e *entry) unwanted() bool {
	if len(e.shard.toDiscard) == 0 {
		return false
	}
	d, is := e.shard.toDiscard[e.Seq]
	return is && !d.struck && d.message == e.ID
}

// discardInWindow resolves an entry of a window, in no call, that is to be discarded. Its key
// goes on without it.
func (f *Flow) discardInWindow(e *entry, now time.Duration) {
	if !e.unwanted() {
		return
	}
	s := e.shard
	d := s.toDiscard[e.Seq]
	d.struck = true
	s.toDiscard[e.Seq] = d
	s.commanded[d.command] = struct{}{}
	c := e.chain
	if c != nil {
		c.remove(e)
	}
	f.finish(onDone, e, store.TallyDiscarded, now)
	f.urgent = true
	if c != nil {
		f.advance(c)
	}
}

// discardDrafted drafts the end of the command that e was discarded by.
func (s *shard) discardDrafted(e *entry) {
	s.draft.done = append(s.draft.done, s.toDiscard[e.Seq].command)
	delete(s.toDiscard, e.Seq)
}

// forgetDiscards forgets commands that the turn before did not bring, if it covered every
// shard: the store has closed them.
func (f *Flow) forgetDiscards() {
	if !f.round.heard {
		return
	}
	for _, s := range f.shards {
		for seq, d := range s.toDiscard {
			if !d.struck && d.seen < f.round.landed {
				delete(s.toDiscard, seq)
			}
		}
	}
}

package memstore

import (
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// step gives the command of an operation to its next n messages, and returns how many have it, and how many had changed.
func (s *Store) step(o *operation, n int) (given, changed int64, err error) {
	var parts [][]byte
	first, last := storekit.PartsOf(o.At, o.At+int64(n))
	for part := first; part <= last; part++ {
		parts = append(parts, o.parts[part])
	}
	messages, err := storekit.MessagesOf(parts, o.At, n)
	if err != nil {
		return 0, 0, err
	}
	b, err := s.box(o.Box)
	switch {
	case err != nil:
		return 0, 0, err
	case o.sub == nil:
		return s.stepScheduled(b, o, messages), 0, nil
	case b.subs[o.Subscription] != o.sub:
		return 0, 0, fmt.Errorf("%s: %w", o.Ref, store.ErrNoSubscription)
	}
	return s.stepLog(o, messages)
}

// stepScheduled changes scheduled messages.
func (s *Store) stepScheduled(b *box, o *operation, messages []store.OperationMessage) (given int64) {
	ids := make([]postbag.ID, len(messages))
	for i := range messages {
		ids[i] = messages[i].ID
	}
	done, _ := b.reschedule(o.Kind.Command(), ids, s.now().UTC())
	if len(done) > 0 {
		s.epoch++
	}
	return int64(len(done))
}

// stepLog queues the command for messages of the log.
func (s *Store) stepLog(o *operation, messages []store.OperationMessage) (given, changed int64, err error) {
	var seqs []int64
	for i := range messages {
		switch r := o.sub.rowAt(messages[i].Seq); {
		case r == nil || !storekit.SameMessage(&messages[i], r.ID):
			changed++
		case o.Of == store.StateDead && !o.sub.stillDead(r.Seq, o.Kind.Command(), o.AsOf):
			changed++
		default:
			seqs = append(seqs, r.Seq)
		}
	}
	rows, err := s.commanded(o.sub, o.Kind.Command(), seqs)
	if err != nil {
		return 0, 0, err
	}
	for _, r := range rows {
		s.lastCommand++
		o.sub.queue(&command{id: s.lastCommand, kind: o.Kind.Command(), row: r})
	}
	return int64(len(rows)), changed, nil
}

// rowAt returns the row of a message of the log, or of one that is parked.
func (sub *subscription) rowAt(seq int64) *row {
	if p := sub.lot.bySeq[seq]; p != nil {
		return p.row
	}
	return sub.box.log.at(seq)
}

// stillDead says whether a message is dead as it was at a time, and no other command waits for it.
func (sub *subscription) stillDead(seq int64, kind store.CommandKind, asOf time.Time) bool {
	p := sub.lot.bySeq[seq]
	if p == nil || p.park.State != store.ParkDead || p.due.After(asOf) {
		return false
	}
	for _, c := range sub.orders[seq] {
		if c.kind != kind {
			return false
		}
	}
	return true
}

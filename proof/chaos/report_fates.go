package chaos

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/proof/history"
)

// Some messages need not arrive: a filter refused them, or a newer message of their key superseded them. The histories of producers and
// of the consumer say which these can be.

// fates collects what is needed to say so.
type fates struct {
	*tally

	supersedes bool
	refused    []span
	extra      map[history.ID]time.Duration // when they were begun
	poison     map[history.ID]history.Intent
	keys       map[string][]history.Intent // of keys that have poison
	replayed   map[string]map[history.ID]bool
}

// fatesOf reads the histories of a run.
func (r *run) fatesOf(files []string) (*fates, error) {
	f := &fates{
		tally: newTally(), supersedes: r.supersedes(), refused: r.operator.refused, extra: map[history.ID]time.Duration{},
		poison: map[history.ID]history.Intent{}, keys: map[string][]history.Intent{}, replayed: map[string]map[history.ID]bool{},
	}
	for _, name := range files {
		if _, err := history.ReadFile(name, f); err != nil {
			return nil, fmt.Errorf("chaos: %w", err)
		}
	}
	return f, nil
}

// Intend takes what is extra, poison, or of a key with poison.
func (f *fates) Intend(r history.Intent) {
	f.tally.Intend(r)
	if typeOf(r.Key) == extraType {
		f.extra[r.ID] = r.Begin
	}
	if isBad(r.Key) {
		f.keys[r.Key] = append(f.keys[r.Key], r)
	}
	if r.Poison {
		f.poison[r.ID] = r
	}
}

// Deliver takes what arrived, and what replays sent again.
func (f *fates) Deliver(r history.Delivery) {
	if f.tally.Deliver(r); !isReplay(&r) {
		return
	}
	if f.replayed[r.Subscription] == nil {
		f.replayed[r.Subscription] = map[history.ID]bool{}
	}
	f.replayed[r.Subscription][r.ID] = true
}

// filtered says whether a filter may have refused a message: it was begun before the last filter that refuses it was over.
func (f *fates) filtered(id history.ID) bool {
	begun, extra := f.extra[id]
	return extra && len(f.refused) > 0 && begun <= f.refused[len(f.refused)-1].to
}

// superseded says whether a newer message of a refused one's key arrived.
func (f *fates) superseded(id history.ID) bool {
	old, poison := f.poison[id]
	if !poison || !f.supersedes {
		return false
	}
	for _, other := range f.keys[old.Key] {
		newer := other.Begin > old.Begin || other.Tx == old.Tx && other.Index > old.Index
		if _, came := f.arrived[other.ID]; came && newer {
			return true
		}
	}
	return false
}

// found looks for a message that did not arrive among those that need not.
func (f *fates) found(id history.ID) (history.Found, bool) {
	switch {
	case f.filtered(id):
		return history.Found{Broker: true, Note: "the filter refused it"}, true
	case f.superseded(id):
		return history.Found{Broker: true, Note: "a newer one of its key superseded it"}, true
	}
	return history.Found{}, false
}

// judgeReplays wants replays to have sent nothing but what was committed, as it was, in the order of keys, and twice only after faults.
func (r *run) judgeReplays(f *fates, files []string) error {
	for name, came := range f.replayed {
		verdict, err := history.CheckFiles(files, history.Options{
			Subscription: name, Wants: func(m *history.Intent) bool { return came[m.ID] }, InFlight: inFlight, Slack: slack, MayPend: true,
			OpenTransaction: mostOpen, LockWait: mostWaited,
		}, history.Space{})
		if err != nil {
			return err
		}
		if err := verdict.Err(); err != nil {
			r.failf("%s: %v", name, err)
		}
	}
	r.sayf("%s sent something", count(len(f.replayed), "replay"))
	return nil
}

// judgeLedger wants the store to count what there is in its log.
func (r *run) judgeLedger(ctx context.Context) {
	var lines []string
	err := r.operator.eventually(ctx, func(ctx context.Context, s orders) (err error) {
		lines, err = s.AcceptLedger(ctx, audit, ref.Box)
		return err
	})
	if err != nil {
		r.failf("the ledger cannot be compared: %v", err)
	}
	for _, line := range lines {
		r.failf("the ledger differs from the log: %s", line)
	}
}

// judgeSuperseded wants the store to count no more superseded messages than there can be.
func (r *run) judgeSuperseded(ctx context.Context, f *fates) {
	var most, counted int64
	for id := range f.poison {
		if f.superseded(id) {
			most++
		}
	}
	err := r.operator.eventually(ctx, func(ctx context.Context, s orders) error {
		v, err := s.Overview(ctx)
		for i := range v.Boxes {
			for j := range v.Boxes[i].Subscriptions {
				if sub := &v.Boxes[i].Subscriptions[j]; sub.Ref == ref {
					counted = sub.Superseded
				}
			}
		}
		return err
	})
	if err != nil || counted > most {
		r.failf("the store counts %d superseded messages, of %d that can be: %v", counted, most, err)
	}
	r.sayf("%d messages were superseded", counted)
}

package mysqlstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// settling is a settlement on its way.
type settling struct {
	*store.Settlement

	at int   // in the Turn
	id int64 // of the subscription; zero: there is none
}

// inOrder returns settlements in the order in which their shards are locked,
// no matter who settles.
func (s *Store) inOrder(ctx context.Context, all []store.Settlement) ([]settling, error) {
	out := make([]settling, 0, len(all))
	for i := range all {
		sub, err := s.subscription(ctx, all[i].Ref)
		if err != nil {
			return nil, err
		}
		if sub.id != 0 && all[i].Token != 0 {
			out = append(out, settling{Settlement: &all[i], at: i, id: sub.id})
		}
	}
	slices.SortFunc(out, func(a, b settling) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.Lo, b.Lo)) })
	return out, nil
}

// settle applies all settlements of a Turn in one transaction.
func (s *Store) settle(ctx context.Context, life *serverState, all []store.Settlement) ([]store.Verdict, error) {
	work, err := s.inOrder(ctx, all)
	if err != nil {
		return nil, err
	}
	var verdicts []store.Verdict
	err = s.write(ctx, "settle", func(t *transaction) error {
		verdicts, t.room = make([]store.Verdict, len(all)), s.producer.statement()
		if t.full() != life.full() {
			return errNewLife
		}
		t.MostSuperseded = storekit.MostSuperseded(all)
		sums := storekit.Tallies{}
		for i := range work {
			v, err := t.settle(&work[i], sums)
			if err != nil {
				return err
			}
			verdicts[work[i].at] = v
		}
		if len(sums) == 0 {
			return nil
		}
		_, err := t.Exec(ledgerText(sums, ""))
		return err
	})
	if err == nil && slices.ContainsFunc(all, hasLetters) {
		s.Wake("")
	}
	return verdicts, err
}

// settle applies one settlement, or finds that it was applied before or is lost.
func (t *transaction) settle(s *settling, sums storekit.Tallies) (store.Verdict, error) {
	v := store.Verdict{Applied: true}
	if err := t.SupersedeFirst(s.id, int64(s.Lo), s.Settlement, sums, &v); err != nil || v.More {
		v.Applied = false
		return v, err
	}
	o := advance(s)
	moved, err := t.Exec(o.Text, o.Args...)
	if err != nil {
		return store.Verdict{}, err
	}
	if moved > 0 {
		err = t.apply(s, sums, &v)
	} else {
		v.Applied, err = appliedBefore(t.Query, s)
	}
	if err != nil || !v.Applied {
		return store.Verdict{}, err
	}
	if v.Cleared, err = t.SettleHeads(s.id, s.Slots, storekit.Touched(s.Settlement)); err == nil {
		v.Waiting, err = t.StillWaiting(s.id, s.Settlement)
	}
	return v, err
}

// apply writes what a settlement says beside the position of its shard.
func (t *transaction) apply(s *settling, sums storekit.Tallies, v *store.Verdict) (err error) {
	if err := t.exceptions(s); err != nil {
		return err
	}
	if v.Letters, err = t.Letters(s.Settlement); err != nil {
		return err
	}
	sums.Add(s.id, int64(s.Lo), s.Tally)
	return t.SupersedeLast(s.id, int64(s.Lo), s.Settlement, sums, v)
}

// advance moves the shard on under its lease.
func advance(s *settling) sqlkit.Order {
	args := []any{s.id, s.Lo, s.Hi, s.Token, s.Version}
	if s.To == "" {
		return sqlkit.Order{Text: sqlSettleInPlace, Args: args}
	}
	return sqlkit.Order{Text: sqlAdvance, Args: append([]any{[]byte(s.To)}, args...)}
}

func appliedBefore(query sqlkit.Querier, s *settling) (bool, error) {
	return sqlkit.Row(query, sqlApplied, []any{s.id, s.Lo, s.Hi, s.Token, s.Version}, new(int))
}

// exceptions writes what a settlement says about parked messages and commands.
func (t *transaction) exceptions(s *settling) error {
	if err := t.done(s.id, s.Done); err != nil {
		return err
	}
	if err := t.park(s); err != nil {
		return err
	}
	discarding := storekit.Discarding(s.Done)
	if err := t.resolve(s.id, s.Resolve, discarding); err != nil {
		return err
	}
	return t.discardPending(s, storekit.DiscardedPending(s.Settlement, discarding))
}

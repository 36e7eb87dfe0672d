package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// settle applies all settlements of a Turn in one write transaction.
func (s *Store) settle(ctx context.Context, all []store.Settlement) ([]store.Verdict, error) {
	for i := range all {
		if _, err := placeOf(all[i].To); err != nil {
			return nil, err
		}
	}
	verdicts, err := s.settleAll(ctx, all, nil)
	if ended, is := errors.AsType[*endedByLetterError](err); is { // once more, without the letters
		verdicts, err = s.settleAll(ctx, all, ended.why)
	}
	if err == nil && slices.ContainsFunc(all, hasLetters) {
		s.Wake("")
	}
	return verdicts, err
}

// settleAll is settle. Dead letters are left out if there is a reason for that.
func (s *Store) settleAll(ctx context.Context, all []store.Settlement, noLetters error) ([]store.Verdict, error) {
	verdicts := make([]store.Verdict, len(all))
	err := s.write(ctx, "settle", func(t *transaction) error {
		t.NoLetters, t.MostSuperseded = noLetters, storekit.MostSuperseded(all)
		sums := storekit.Tallies{}
		for i := range all {
			v, err := t.settle(&all[i], sums)
			if err != nil {
				return err
			}
			verdicts[i] = v
		}
		return tally(&t.Tx, sums)
	})
	return verdicts, err
}

// settle applies one settlement, or finds that it was applied before or is lost.
func (t *transaction) settle(s *store.Settlement, sums storekit.Tallies) (store.Verdict, error) {
	id, err := t.Subscription(s.Ref)
	if err != nil || id == 0 {
		return store.Verdict{}, err
	}
	if s.Token == 0 {
		return store.Verdict{}, nil
	}
	v := store.Verdict{Applied: true}
	if err := t.SupersedeFirst(id, 0, s, sums, &v); err != nil || v.More {
		v.Applied = false
		return v, err
	}
	fresh, err := t.advance(id, s)
	if err != nil {
		return store.Verdict{}, err
	}
	if fresh {
		err = t.apply(id, s, sums, &v)
	} else {
		v.Applied, err = t.Row(sqlApplied, []any{id, s.Lo, s.Hi, s.Token, s.Version}, new(int))
	}
	if err != nil || !v.Applied {
		return store.Verdict{}, err
	}
	if v.Cleared, err = t.SettleHeads(id, s.Slots, storekit.Touched(s)); err == nil {
		v.Waiting, err = t.StillWaiting(id, s)
	}
	return v, err
}

// apply writes what a settlement says beside the position of its shard.
func (t *transaction) apply(id int64, s *store.Settlement, sums storekit.Tallies, v *store.Verdict) (err error) {
	if err := t.exceptions(id, s); err != nil {
		return err
	}
	if v.Letters, err = t.Letters(s); err != nil {
		return err
	}
	sums.Add(id, 0, s.Tally)
	return t.SupersedeLast(id, 0, s, sums, v)
}

// advance moves the shard on under its lease, and says whether it did.
func (t *transaction) advance(id int64, s *store.Settlement) (bool, error) {
	text, args := sqlSettleInPlace, []any{id, s.Lo, s.Hi, s.Token, s.Version}
	if s.To != "" {
		text, args = sqlAdvance, append(args, []byte(s.To))
	}
	moved, err := t.Exec(text, args...)
	return moved > 0, err
}

// exceptions writes what a settlement says about parked messages and commands.
func (t *transaction) exceptions(id int64, s *store.Settlement) error {
	if err := t.done(id, s.Done); err != nil {
		return err
	}
	text := fmt.Sprintf(sqlPark, quoted(s.Box))
	for i := range s.Park {
		if err := t.park(text, id, &s.Park[i]); err != nil {
			return err
		}
	}
	discarding := storekit.Discarding(s.Done)
	for _, r := range s.Resolve {
		if err := t.resolve(id, r.Seq, discarding[r.Seq]); err != nil {
			return err
		}
	}
	text = fmt.Sprintf(sqlDiscardedPending, quoted(s.Box))
	for _, seq := range storekit.DiscardedPending(s, discarding) {
		if _, err := t.Exec(text, id, seq); err != nil {
			return err
		}
	}
	return nil
}

// done closes commands.
func (t *transaction) done(id int64, list []store.Done) error {
	for _, d := range list {
		if _, err := t.Exec(sqlkit.SQLDone, int64(d.ID), id, int(d.Kind), d.Seq); err != nil {
			return err
		}
	}
	return nil
}

// park writes a parked row.
func (t *transaction) park(text string, id int64, p *store.Park) error {
	_, err := t.Exec(text, sqlkit.ParkArgs(t.Now, id, p)...)
	return err
}

// resolve removes a parked row and the commands for it. What failed of it is kept.
func (t *transaction) resolve(id, seq int64, discarded bool) error {
	if _, err := t.Exec(sqlkit.SQLPast, id, seq); err != nil {
		return err
	}
	gone, err := t.Exec(sqlResolve, id, seq)
	if err != nil || gone == 0 {
		return err
	}
	if discarded {
		if _, err := t.Exec(sqlDiscarded, id, seq); err != nil {
			return err
		}
	}
	_, err = t.Exec(sqlCloseCommands, id, seq)
	return err
}

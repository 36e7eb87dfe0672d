package mysqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/postbag/postbag/internal/sqlstore"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// settling is a settlement on its way.
type settling struct {
	*store.Settlement

	at int   // in the Turn
	id int64 // of the subscription; zero: there is none
}

// inOrder returns settlements in the order in which their shards are locked,
// whoever settles.
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
func (s *Store) settle(ctx context.Context, life *sight, all []store.Settlement) ([]store.Verdict, error) {
	work, err := s.inOrder(ctx, all)
	if err != nil {
		return nil, err
	}
	var verdicts []store.Verdict
	err = s.write(ctx, "settle", func(t *transaction) error {
		verdicts = make([]store.Verdict, len(all))
		if t.full() != life.full() {
			return errNewLife
		}
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
	return verdicts, err
}

// settle applies one settlement, or finds that it was applied before or is lost.
func (t *transaction) settle(s *settling, sums storekit.Tallies) (store.Verdict, error) {
	o := advance(s)
	moved, err := t.Exec(o.Text, o.Args...)
	if err != nil {
		return store.Verdict{}, err
	}
	if moved == 0 {
		if before, err := appliedBefore(t.Query, s); err != nil || !before {
			return store.Verdict{}, err
		}
	} else if err := t.exceptions(s); err != nil {
		return store.Verdict{}, err
	} else {
		sums.Add(s.id, int64(s.Lo), s.Tally)
	}
	cleared, err := t.SettleHeads(s.id, s.Slots, storekit.Touched(s.Settlement))
	return store.Verdict{Applied: true, Cleared: cleared}, err
}

// advance moves the shard on under its lease.
func advance(s *settling) sqlstore.Order {
	args := []any{s.id, s.Lo, s.Hi, s.Token, s.Version}
	if s.To == "" {
		return sqlstore.Order{Text: sqlStay, Args: args}
	}
	return sqlstore.Order{Text: sqlAdvance, Args: append([]any{[]byte(s.To)}, args...)}
}

func appliedBefore(query sqlstore.Querier, s *settling) (bool, error) {
	return sqlstore.Row(query, sqlApplied, []any{s.id, s.Lo, s.Hi, s.Token, s.Version}, new(int))
}

// exceptions writes what a settlement says about parked messages and commands.
func (t *transaction) exceptions(s *settling) error {
	if err := t.done(s.id, s.Done); err != nil {
		return err
	}
	text := fmt.Sprintf(sqlPark, tableOf(s.Box))
	parks := make([]sqlstore.Order, len(s.Park))
	for i := range s.Park {
		parks[i] = sqlstore.Order{Text: text, Args: t.parkArgs(s.id, &s.Park[i])}
	}
	if _, err := t.All(parks); err != nil {
		return err
	}
	discarding := storekit.Discarding(s.Done)
	if err := t.resolve(s.id, s.Resolve, discarding); err != nil {
		return err
	}
	text = fmt.Sprintf(sqlDiscardedPending, tableOf(s.Box))
	var ended []sqlstore.Order
	for _, seq := range storekit.DiscardedPending(s.Settlement, discarding) {
		ended = append(ended, sqlstore.Order{Text: text, Args: []any{s.id, seq}})
	}
	_, err := t.All(ended)
	return err
}

// done closes commands.
func (t *transaction) done(id int64, list []store.Done) error {
	for _, d := range list {
		if _, err := t.Exec(sqlstore.SQLDone, int64(d.ID), id, int(d.Kind), d.Seq); err != nil {
			return err
		}
	}
	return nil
}

// parkArgs are those of a parked row. One that others wait behind gets its time
// when it is found to be the first of its chain.
func (t *transaction) parkArgs(id int64, p *store.Park) []any {
	var due, chain, ready any = t.Now, nil, nil
	if p.State == store.Waiting {
		due = t.Now + max(p.Delay, 0).Microseconds()
	}
	switch {
	case p.Blocking && p.Hash != 0:
		chain = int64(p.Hash)
	case p.State == store.Waiting, p.State == store.Blocked:
		ready = due
	}
	reason := storekit.Reason(p.Reason)
	return []any{
		id, p.Slot, int64(p.Hash), int(p.State), chain, p.Attempts, due, ready, t.Now, reason, sqlstore.Held(p),
		t.Now, int(p.State), reason, p.Seq,
	}
}

// resolve removes parked rows and what was ordered for them. What failed of them is
// kept.
func (t *transaction) resolve(id int64, all []store.Resolved, discarding map[int64]bool) error {
	orders := make([]sqlstore.Order, 0, 2*len(all))
	for i := range all {
		args := []any{id, all[i].Seq}
		orders = append(orders, sqlstore.Order{Text: sqlstore.SQLPast, Args: args}, sqlstore.Order{Text: sqlResolve, Args: args})
	}
	gone, err := t.All(orders)
	if err != nil {
		return err
	}
	var closing []sqlstore.Order
	for i := range all {
		if gone[2*i+1] == 0 {
			continue
		}
		if discarding[all[i].Seq] {
			closing = append(closing, sqlstore.Order{Text: sqlDiscarded, Args: []any{id, all[i].Seq}})
		}
		closing = append(closing, sqlstore.Order{Text: sqlCloseCommands, Args: []any{id, all[i].Seq}})
	}
	_, err = t.All(closing)
	return err
}

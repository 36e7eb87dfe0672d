package mysqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// plainly says whether settlements touch nothing but their shards and the ledger.
func plainly(all []store.Settlement) bool {
	return !slices.ContainsFunc(all, func(s store.Settlement) bool {
		return len(s.Park) > 0 || len(s.Resolve) > 0 || len(s.Done) > 0
	})
}

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

// settlePlainly applies settlements that only move shards on, in one round trip:
// the server itself judges each, by whether its UPDATE found the row.
func (s *Store) settlePlainly(ctx context.Context, life *sight, all []store.Settlement) ([]store.Verdict, error) {
	verdicts := make([]store.Verdict, len(all))
	work, err := s.inOrder(ctx, all)
	if err != nil || len(work) == 0 {
		return verdicts, err
	}
	text, args := s.plainText(work, life)
	var found string
	applied := make([]sql.NullInt64, len(work))
	err = s.retry(ctx, "settle", func() error {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		dest := []any{&found}
		for i := range applied {
			dest = append(dest, &applied[i])
		}
		rows, err := conn.QueryContext(ctx, text, args...)
		if err == nil {
			err = scanAll(rows, func(rows *sql.Rows) error { return rows.Scan(dest...) })
		}
		if err != nil { // the transaction may be open
			return fmt.Errorf("%w", joinRelease(err, (&transaction{ctx: ctx, conn: conn}).release()))
		}
		return conn.Close()
	})
	if err != nil {
		return nil, err
	}
	if found != life.full() {
		return nil, errNewLife
	}
	for i := range work {
		if verdicts[work[i].at].Applied = applied[i].Int64 == 1; applied[i].Int64 == 1 {
			continue
		}
		if verdicts[work[i].at].Applied, err = appliedBefore(s.query(ctx), &work[i]); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

func joinRelease(err, release error) error {
	if release != nil {
		return fmt.Errorf("%w (and it could not be ended: %w)", err, release)
	}
	return err
}

// plainText is the transaction of settlements that only move shards on.
func (s *Store) plainText(work []settling, life *sight) (string, []any) {
	var text strings.Builder
	var args []any
	add := func(statement string, more ...any) {
		text.WriteString(statement)
		text.WriteString(";\n")
		args = append(args, more...)
	}
	add("START TRANSACTION")
	add(fmt.Sprintf(sqlLife, s.server.Load().id))
	answers := []string{"SELECT @postbag_life"}
	for i := range work {
		o := advance(&work[i])
		add(o.text+sqlIfLife, append(o.args, life.full())...)
		add(fmt.Sprintf(sqlNote, i))
		sums := storekit.Tallies{}
		sums.Add(work[i].id, int64(work[i].Lo), work[i].Tally)
		for _, o := range tallyOrders(sums, fmt.Sprintf(sqlNoted, i)) {
			add(o.text, o.args...)
		}
		answers = append(answers, fmt.Sprintf("@postbag_%d", i))
	}
	add("COMMIT")
	text.WriteString(strings.Join(answers, ", "))
	return text.String(), args
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
		_, err := t.all(tallyOrders(sums, "TRUE"))
		return err
	})
	return verdicts, err
}

// settle applies one settlement, or finds that it was applied before or is lost.
func (t *transaction) settle(s *settling, sums storekit.Tallies) (store.Verdict, error) {
	o := advance(s)
	moved, err := t.exec(o.text, o.args...)
	if err != nil {
		return store.Verdict{}, err
	}
	if moved == 0 {
		if before, err := appliedBefore(t.query, s); err != nil || !before {
			return store.Verdict{}, err
		}
	} else if err := t.exceptions(s); err != nil {
		return store.Verdict{}, err
	} else {
		sums.Add(s.id, int64(s.Lo), s.Tally)
	}
	cleared, err := t.settleHeads(s.id, s.Slots, storekit.Touched(s.Settlement))
	return store.Verdict{Applied: true, Cleared: cleared}, err
}

// advance moves the shard on under its lease.
func advance(s *settling) order {
	args := []any{s.id, s.Lo, s.Hi, s.Token, s.Version}
	if s.To == "" {
		return order{text: sqlStay, args: args}
	}
	return order{text: sqlAdvance, args: append([]any{[]byte(s.To)}, args...)}
}

func appliedBefore(query querier, s *settling) (bool, error) {
	return firstRow(query, sqlApplied, []any{s.id, s.Lo, s.Hi, s.Token, s.Version}, []any{new(int)})
}

// exceptions writes what a settlement says about parked messages and commands.
func (t *transaction) exceptions(s *settling) error {
	discarding, err := t.done(s.id, s.Done)
	if err != nil {
		return err
	}
	text := fmt.Sprintf(sqlPark, tableOf(s.Box))
	parks := make([]order, len(s.Park))
	for i := range s.Park {
		parks[i] = order{text: text, args: t.parkArgs(s.id, &s.Park[i])}
	}
	if _, err := t.all(parks); err != nil {
		return err
	}
	return t.resolve(s.id, s.Resolve, discarding)
}

// done closes commands, and returns the seqs of those that discard.
func (t *transaction) done(id int64, commands []store.CommandID) (map[int64]bool, error) {
	discarding := make(map[int64]bool)
	for _, command := range commands {
		var kind store.CommandKind
		var seq int64
		found, err := t.row(sqlOrdered, []any{int64(command), id}, &kind, &seq)
		if err != nil {
			return nil, err
		}
		if found && kind == store.Discard {
			discarding[seq] = true
		}
		if _, err := t.exec(sqlDone, int64(command), id); err != nil {
			return nil, err
		}
	}
	return discarding, nil
}

// parkArgs are those of a parked row. One that others wait behind gets its time
// when it is found to be the first of its chain.
func (t *transaction) parkArgs(id int64, p *store.Park) []any {
	var due, chain, ready any = t.now, nil, nil
	if p.State == store.Waiting {
		due = t.now + max(p.Delay, 0).Microseconds()
	}
	switch {
	case p.Blocking && p.Hash != 0:
		chain = int64(p.Hash)
	case p.State == store.Waiting, p.State == store.Blocked:
		ready = due
	}
	reason := storekit.Reason(p.Reason)
	return []any{
		id, p.Slot, int64(p.Hash), int(p.State), chain, p.Attempts, due, ready, t.now, reason,
		t.now, int(p.State), reason, p.Seq,
	}
}

// resolve removes parked rows and what was ordered for them.
func (t *transaction) resolve(id int64, all []store.Resolved, discarding map[int64]bool) error {
	orders := make([]order, len(all))
	for i := range all {
		orders[i] = order{text: sqlResolve, args: []any{id, all[i].Seq}}
	}
	gone, err := t.all(orders)
	if err != nil {
		return err
	}
	var closing []order
	for i := range all {
		if gone[i] == 0 {
			continue
		}
		if discarding[all[i].Seq] {
			closing = append(closing, order{text: sqlDiscarded, args: []any{id, all[i].Seq}})
		}
		closing = append(closing, order{text: sqlCloseCommands, args: []any{id, all[i].Seq}})
	}
	_, err = t.all(closing)
	return err
}

// tallyOrders add sums to the ledger, on a condition.
func tallyOrders(sums storekit.Tallies, condition string) []order {
	var out []order
	for _, at := range sums.Lines() {
		sum := sums[at]
		out = append(out, order{text: fmt.Sprintf(sqlTally, condition), args: []any{
			at.Subscription, at.Span, int(at.Fate), at.Shard, sum.Count,
			int64(sum.SeqSum >> 32), int64(sum.SeqSum & 0xffffffff),
			int64(sum.IDSum >> 32), int64(sum.IDSum & 0xffffffff),
		}})
	}
	return out
}

package mysqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/sqlstore"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Declare creates the subscriptions that are missing; see [store.Store]. What is
// wrong with one spec keeps no other from being declared.
func (s *Store) Declare(ctx context.Context, specs []store.Spec) error {
	var faults []error
	err := s.change(ctx, "declare subscriptions", func(t *transaction) error {
		faults = nil
		for _, spec := range specs {
			fault, err := t.ensure(spec)
			if err != nil {
				return err
			}
			if fault != nil {
				faults = append(faults, fmt.Errorf("mysqlstore: declare %s: %w", spec.Ref, fault))
			}
		}
		return nil
	})
	return errors.Join(append(faults, err)...)
}

// defaultShards is how many shards a subscription has if nothing is said.
const defaultShards = 4

// ensure creates one subscription, or compares the filter of the one there is.
// A fault is of the spec, an error of the database.
func (t *transaction) ensure(spec store.Spec) (fault, err error) {
	if err := postbag.ValidSubscription(spec.Subscription); err != nil {
		return err, nil
	}
	if spec.Shards < 0 || spec.Shards > store.SlotCount {
		return fmt.Errorf("%d shards; ask for 1 to %d, or for 0 to have the default", spec.Shards, store.SlotCount), nil
	}
	if found, err := t.row(sqlLockBox, []any{spec.Box}, new(int64)); err != nil || !found {
		return store.ErrNoBox, err
	}
	if spec.Shards == 0 {
		spec.Shards = defaultShards
	}
	types, err := storekit.TypesText(spec.Types)
	if err != nil {
		return nil, err
	}
	var has string
	found, err := t.row(sqlstore.SQLSubscription, []any{spec.Box, spec.Subscription}, new(int64), &has)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, t.create(spec, types)
	case has != types:
		return fmt.Errorf("declared with types %s, it has %s: %w", types, has, store.ErrFilterDiffers), nil
	}
	return nil, nil
}

func (t *transaction) create(spec store.Spec, types string) error {
	at, err := t.startOf(spec.Box, spec.From)
	if err != nil {
		return err
	}
	return t.declare(spec, types, &at)
}

// declare writes a new subscription that begins at a position, and its shards.
// What it will pass below is open there: so its ledger begins where everything
// was passed before.
func (t *transaction) declare(spec store.Spec, types string, at *position) error {
	shards := store.Split(spec.Shards)
	started := at.floor()
	span := storekit.SpanOf(started + 1)
	result, err := t.conn.ExecContext(t.ctx, sqlInsertSubscription,
		spec.Box, spec.Subscription, types, len(shards), started, t.now, span, started, started)
	if err != nil {
		return err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return err
	}
	var orders []order
	for _, slots := range shards {
		orders = append(orders, order{text: sqlstore.SQLInsertShard, args: []any{id, slots.Lo, slots.Hi, "", 0, []byte(at.encode())}})
	}
	_, err = t.all(orders)
	t.Moved = true
	return err
}

// startOf returns the position at which a subscription begins.
func (t *transaction) startOf(box string, from store.Start) (position, error) {
	swept, err := swept(t.query, box)
	switch {
	case err != nil:
		return position{}, err
	case from.Now:
		last, err := lastSeq(t.query, box)
		if err != nil {
			return position{}, err
		}
		return t.passedUpTo(box, swept, last)
	case !from.At.IsZero():
		before, err := dialect.Before(t.Query, box, from.At)
		if err != nil {
			return position{}, err
		}
		return t.passedUpTo(box, swept, before)
	}
	return position{high: swept}, nil
}

// seqsAtATime is how many seqs one statement looks for holes in.
const seqsAtATime = 20_000

// passedUpTo returns the position that has passed what there is up to a seq, and
// nothing that may still appear there. Other subscriptions' positions know of
// most of that; the rest of the log is looked through for holes.
func (t *transaction) passedUpTo(box string, swept, last int64) (position, error) {
	p := position{high: swept}
	readers, err := readersOf(t.query, box)
	if err != nil {
		return p, err
	}
	for i := range readers {
		for _, h := range readers[i].shards {
			if h.at.high > p.high {
				p = h.at
			}
		}
	}
	if p.high >= last {
		return position{high: last, open: p.open.upTo(last)}, nil
	}
	b := builder{w: &reading{seen: t.sight}, high: p.high}
	for b.high < last {
		seqs, err := t.numbers(fmt.Sprintf(sqlSeqs, tableOf(box)), []any{b.high, last, seqsAtATime})
		if err != nil {
			return p, err
		}
		for _, seq := range seqs {
			b.holes = append(b.holes, b.missing(seq)...)
			b.high = seq
		}
		if len(seqs) < seqsAtATime {
			break
		}
	}
	p = position{high: b.high, open: p.open.plus(b.holes)}
	if len(p.encode()) > maxPosition {
		return p, fmt.Errorf("box %s has too many transactions under way, or rolled back just now, for a position in it; try again in a minute", box)
	}
	return p, nil
}

// swept returns the seq after which the log of box begins.
func swept(query querier, box string) (swept int64, err error) {
	_, err = firstRow(query, sqlSwept, []any{box}, []any{&swept})
	return swept, err
}

// lastSeq returns the highest seq of box that is committed, zero if none.
func lastSeq(query querier, box string) (last int64, err error) {
	_, err = firstRow(query, fmt.Sprintf(sqlLastSeq, tableOf(box)), nil, []any{&last})
	return last, err
}

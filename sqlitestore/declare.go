package sqlitestore

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
	err := s.write(ctx, "declare subscriptions", func(t *transaction) error {
		for _, spec := range specs {
			fault, err := t.ensure(spec)
			if err != nil {
				return err
			}
			if fault != nil {
				faults = append(faults, fmt.Errorf("sqlitestore: declare %s: %w", spec.Ref, fault))
			}
		}
		return nil
	})
	return errors.Join(append(faults, err)...)
}

// ensure creates one subscription, or compares the filter of the one there is.
// A fault is of the spec, an error of the database.
func (t *transaction) ensure(spec store.Spec) (fault, err error) {
	if err := postbag.ValidSubscription(spec.Subscription); err != nil {
		return err, nil
	}
	if spec.Shards < 0 || spec.Shards > store.SlotCount {
		return fmt.Errorf("%d shards; ask for 1 to %d, or for 0 to have the default", spec.Shards, store.SlotCount), nil
	}
	if found, err := t.row(sqlstore.SQLHasBox, []any{spec.Box}, new(int)); err != nil || !found {
		return store.ErrNoBox, err
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
	started, err := t.startOf(spec.Box, spec.From)
	if err != nil {
		return err
	}
	return t.declare(spec, types, started)
}

// declare writes a new subscription that begins after seq started, and its shards.
func (t *transaction) declare(spec store.Spec, types string, started int64) error {
	shards := store.Split(max(spec.Shards, 1))
	var id int64
	args := []any{spec.Box, spec.Subscription, types, len(shards), started, t.now, storekit.SpanOf(started + 1)}
	if _, err := t.row(sqlInsertSubscription, args, &id); err != nil {
		return err
	}
	for _, slots := range shards {
		if _, err := t.exec(sqlstore.SQLInsertShard, id, slots.Lo, slots.Hi, "", 0, []byte(positionOf(started))); err != nil {
			return err
		}
	}
	t.Moved = true
	return nil
}

// startOf returns the seq after which a subscription begins.
func (t *transaction) startOf(box string, from store.Start) (int64, error) {
	switch {
	case from.Now:
		return lastSeq(t.Query, box)
	case !from.At.IsZero():
		return t.Before(t.Query, box, from.At)
	}
	return sqlstore.Swept(t.Query, box)
}

// lastSeq returns the last seq that box has given out, zero if none.
func lastSeq(query sqlstore.Querier, box string) (last int64, err error) {
	_, err = sqlstore.Row(query, sqlLastSeq, []any{tableOf(box)}, &last)
	return last, err
}

// tableOf returns the name of a box's table.
func tableOf(box string) string { return "postbag_" + box }

// quoted returns the same for use in a statement.
func quoted(box string) string { return `"` + tableOf(box) + `"` }

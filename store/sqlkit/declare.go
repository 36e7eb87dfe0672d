package sqlkit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Declare creates the subscriptions that are missing; see [store.Store]. A faulty spec
// does not keep the others from being declared.
func (s *Base) Declare(ctx context.Context, specs []store.Spec) error {
	var faults []error
	err := s.hooks.Change(ctx, "declare subscriptions", func(t *Tx) error {
		faults = nil
		for _, spec := range specs {
			fault, err := s.ensure(t, spec)
			if err != nil {
				return err
			}
			if fault != nil {
				faults = append(faults, fmt.Errorf("%s: declare %s: %w", s.dialect.Package, spec.Ref, fault))
			}
		}
		return nil
	})
	return errors.Join(append(faults, err)...)
}

// ensure creates one subscription, or compares the filter of the one there is.
// A fault is of the spec, an error of the database.
func (s *Base) ensure(t *Tx, spec store.Spec) (fault, err error) {
	if err := postbag.ValidSubscription(spec.Subscription); err != nil {
		return err, nil
	}
	if spec.Shards < 0 || spec.Shards > store.SlotCount {
		return fmt.Errorf("%d shards; ask for 1 to %d, or for 0 to have the default", spec.Shards, store.SlotCount), nil
	}
	// Under this lock a subscription is declared, and rows are deleted.
	if found, err := t.Row(SQLHasBox+t.Lock, []any{spec.Box}, new(int)); err != nil || !found {
		return store.ErrNoBox, err
	}
	if spec.DeadTo != "" {
		if fault, err := t.checkLetters(spec.Box, spec.DeadTo); fault != nil || err != nil {
			return fault, err
		}
	}
	if spec.Shards == 0 {
		spec.Shards = t.Shards
	}
	types, takes, err := filterTexts(spec.Filter())
	if err != nil {
		return err, nil
	}
	var has, hasTakes, by string
	found, err := t.Row(sqlFilterOf, []any{spec.Box, spec.Subscription}, &has, &hasTakes, &by)
	switch {
	case err != nil:
		return nil, err
	case !found:
		if removed, err := t.Row(sqlIsRemoved, []any{spec.Box, spec.Subscription}, new(int)); err != nil || removed {
			return nil, err
		}
		if err := storekit.CheckNewFilter(spec.Filter()); err != nil {
			return err, nil
		}
		at, err := s.hooks.Start(t, spec.Box, spec.From)
		if err != nil {
			return nil, err
		}
		return nil, t.Declare(spec, types, takes, at)
	}
	kind, err := t.isReplay(spec.Ref)
	switch {
	case err != nil:
		return nil, err
	case kind == replaySubscription:
		return store.ErrIsReplay, nil
	case (has != types || hasTakes != takes) && by == "":
		f, err := FilterOf([]byte(has), []byte(hasTakes))
		if err != nil { // a later version declared it: this relay does not work it, and says why
			return nil, nil //nolint:nilerr // View tells of it
		}
		return storekit.FilterDiffers(spec.Filter(), f), nil
	}
	return nil, nil
}

// Declare writes a new subscription that begins at a position, and its shards. types and
// takes are the stored form of its filter. At that position some seqs below may still be open, and
// the subscription will pass them later. So its ledger begins where everything was
// passed before.
func (t *Tx) Declare(spec store.Spec, types, takes string, at store.Position) error {
	passed, err := t.Position(at)
	if err != nil {
		return err
	}
	started := passed.LowWatermark()
	shards := store.Split(spec.Shards)
	id, err := t.Insert(sqlInsertSubscription, spec.Box, spec.Subscription, types, takes, len(shards), started, t.Now,
		storekit.SpanOf(started+1), started, started)
	if err != nil {
		return err
	}
	orders := make([]Order, len(shards))
	for i, slots := range shards {
		orders[i] = Order{Text: sqlInsertShard, Args: []any{id, slots.Lo, slots.Hi, "", 0, []byte(at)}}
	}
	_, err = t.All(orders)
	t.Moved = true
	return err
}

// EnterBox returns the statements that enter a new box: its row, and the pseudo-subscription
// whose shard is the right to maintain it. now is the time in microseconds since 1970, as a
// number or an expression, by the rule for its slots. The name of a box is letters, digits and
// underscores. Programs that do not know a box by number have to stay away once there is one.
func EnterBox(box, now string, by store.SlotRule) []string {
	fill := strings.NewReplacer("{box}", box, "{now}", now, "{maintenance}", store.Maintenance,
		"{span}", strconv.FormatInt(storekit.SpanOf(1), 10), "{slots}", strconv.Itoa(store.SlotCount))
	out := []string{fill.Replace(sqlEnterBox), fill.Replace(sqlEnterSubscription), fill.Replace(sqlEnterShard)}
	if by == store.SlotsByNumber {
		out = append(out, fill.Replace(sqlByNumber), sqlNewReaders)
	}
	return out
}

// Enter runs the statements of EnterBox.
func (t *Tx) Enter(box string, by store.SlotRule) error {
	for _, text := range EnterBox(box, strconv.FormatInt(t.Now, 10), by) {
		if _, err := t.Exec(text); err != nil {
			return err
		}
	}
	t.Moved = true
	return nil
}

// BoxStep returns the step that makes a box: the statements of its table, and those of
// EnterBox.
func BoxStep(box string, statements ...string) store.Step {
	var b strings.Builder
	for _, text := range statements {
		b.WriteString(strings.TrimRight(strings.TrimSpace(text), ";"))
		b.WriteString(";\n")
	}
	return store.Step{Name: "box " + box, SQL: b.String()}
}

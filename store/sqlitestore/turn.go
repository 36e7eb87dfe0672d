package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// Turn settles and reads; see [store.Store]. The settlements are one short write
// transaction; one without any writes nothing. Reads run beside it or follow, each a
// statement of its own, so that no read transaction outlives them. On the store's own
// connections a Turn that only reads, like the last one that found nothing, costs
// one PRAGMA as long as nobody has committed.
func (s *Store) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	if err := begun(ctx, "turn"); err != nil {
		return store.TurnResult{NextDue: -1}, err
	}
	return s.poll.turn(ctx, s, t, func() (store.TurnResult, error) { return s.settleAndRead(ctx, t) })
}

func (s *Store) settleAndRead(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	take := s.concurrent.start(ctx, s, t)
	result, found, err := s.settleAndLook(ctx, t)
	early := take()
	if err != nil {
		return result, err
	}
	if !early.hold(found) {
		early = s.readAll(ctx, found, t.Read)
	}
	if early.err == nil {
		early.err = s.sameLogs(ctx, t.Read)
	}
	result.Batches = early.batches
	return result, early.err
}

// settleAndLook is a Turn without its reads.
func (s *Store) settleAndLook(ctx context.Context, t store.Turn) (store.TurnResult, map[store.Ref]subscribed, error) {
	result := store.TurnResult{NextDue: -1}
	if len(t.Settle) > 0 {
		verdicts, err := s.settle(ctx, t.Settle)
		if err != nil {
			return result, nil, err
		}
		result.Verdicts = verdicts
	}
	found, err := s.readTurnStatus(ctx, t, &result)
	if err != nil {
		return result, nil, err
	}
	slices.SortFunc(result.Commands, func(a, b store.Command) int { return cmp.Compare(a.ID, b.ID) })
	s.concurrent.learn(found)
	return result, found, nil
}

// subscribed is what a Turn needs to know of a subscription.
type subscribed struct {
	store.Ref

	id     int64
	asks   store.Filter
	filter storekit.Filter // the same, ready to be asked
	fault  error           // of a filter that cannot be read
	swept  int64           // the log begins after this seq
	slots  store.SlotRule
}

// readTurnStatus fills in what a Turn says of the subscriptions in it: commands, the
// next due time and the epoch.
func (s *Store) readTurnStatus(ctx context.Context, t store.Turn, result *store.TurnResult) (map[store.Ref]subscribed, error) {
	slots := make(map[store.Ref][]store.Slots)
	var order []store.Ref
	mention := func(r store.Ref, more ...store.Slots) {
		if _, ok := slots[r]; !ok {
			order = append(order, r)
		}
		slots[r] = append(slots[r], more...)
	}
	for i := range t.Settle {
		mention(t.Settle[i].Ref, t.Settle[i].Slots)
	}
	for i := range t.Read {
		mention(t.Read[i].Ref, t.Read[i].Slots...)
	}
	if len(order) == 0 {
		order = append(order, store.Ref{})
	}
	found := make(map[store.Ref]subscribed, len(order))
	for _, ref := range order {
		about, err := s.status(ctx, ref, storekit.SlotsOf(slots[ref]), result)
		if err != nil {
			return nil, err
		}
		found[ref] = about
	}
	return found, nil
}

// status asks about one subscription. None is no error here: its id is zero.
func (s *Store) status(ctx context.Context, ref store.Ref, slots storekit.SlotSet, result *store.TurnResult) (subscribed, error) {
	about := subscribed{Ref: ref}
	var identity, types, takes string
	var next sql.NullInt64
	var commands bool
	var rule int
	found, err := s.row(ctx, sqlStatus, []any{ref.Box, ref.Subscription},
		&identity, &result.Epoch, &about.id, &types, &takes, &about.swept, &rule, &next, &commands)
	about.slots = storekit.RuleOf(rule)
	if err == nil && !found {
		err = store.ErrSchema
	}
	if err == nil {
		err = s.accepted.same(identity)
	}
	if err == nil {
		err = sqlkit.NotSettingBack(ref.Box, about.swept)
	}
	if err == nil {
		about.asks, about.fault = sqlkit.FilterOf([]byte(types), []byte(takes))
		about.filter = storekit.FilterOf(about.asks)
	}
	if err == nil && next.Valid && !slots.All {
		next, err = dialect.FirstReady(s.querier(ctx), about.id, slots)
	}
	if err == nil && commands {
		result.Commands, err = s.base.AppendCommands(ctx, result.Commands, ref, about.id, slots, s.micros())
	}
	if next.Valid {
		if wait := sqlkit.Until(next.Int64, s.micros()); result.NextDue < 0 || wait < result.NextDue {
			result.NextDue = wait
		}
	}
	return about, translateError("look at "+ref.String(), err)
}

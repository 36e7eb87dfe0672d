package sqlkit

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Beat renews a heartbeat and changes who owns what; see [store.Store].
func (s *Base) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	switch {
	case b.Relay == "":
		return store.View{}, fmt.Errorf("%s: beat: the relay's id is empty; draw one at each start", s.dialect.Package)
	case b.TTL <= 0 && !b.Leave:
		return store.View{}, fmt.Errorf("%s: beat: the time to live is %s; give a positive one", s.dialect.Package, b.TTL)
	}
	var view store.View
	err := s.hooks.Change(ctx, "beat", func(t *Tx) (err error) {
		view = store.View{Epoch: t.Epoch, Now: time.UnixMicro(t.Now)}
		if view.Alive, err = t.beat(b); err != nil || !view.Alive && !b.Leave {
			return err
		}
		if view.Pauses, err = t.endPauses(); err != nil {
			return err
		}
		return t.view(b.Works, &view)
	})
	if err != nil {
		return store.View{}, err
	}
	return view, nil
}

// beat does the changes of one heartbeat, and says whether the relay lives.
func (t *Tx) beat(b store.Beat) (alive bool, err error) {
	if b.Leave {
		return false, t.leave(b.Relay)
	}
	if alive, err = t.renew(b); err != nil || !alive {
		return alive, err
	}
	for _, l := range b.Give {
		if err := t.give(b.Relay, l); err != nil {
			return false, err
		}
	}
	for _, r := range b.Reshape {
		if err := t.reshape(b.Relay, r); err != nil {
			return false, err
		}
	}
	if err := t.buryDead(); err != nil {
		return false, err
	}
	for _, shard := range b.Take {
		if err := t.take(b.Relay, shard); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (t *Tx) leave(relay string) error {
	gone, err := t.Exec(sqlDeleteRelay, relay, t.Now)
	if err != nil || gone == 0 {
		return err
	}
	t.Moved = true
	_, err = t.Exec(sqlGiveAll, relay)
	return err
}

// renew makes the row if it is new, or renews it if it lives.
func (t *Tx) renew(b store.Beat) (bool, error) {
	works, err := storekit.WorksText(b.Works)
	if err != nil {
		return false, err
	}
	conditions, err := storekit.ConditionsText(b.Conditions)
	if err != nil {
		return false, err
	}
	expires := t.Now + b.TTL.Microseconds()
	if b.New {
		made, err := t.Exec(t.InsertRelay, b.Relay, b.Name, works, expires, conditions)
		if err != nil || made > 0 {
			t.Moved = t.Moved || made > 0
			return made > 0, err
		}
	}
	var name, worked string
	var alive bool
	if _, err := t.Row(sqlRelayWorks+t.Lock, []any{t.Now, b.Relay}, &name, &worked, &alive); err != nil || !alive {
		return false, err
	}
	t.Moved = t.Moved || name != b.Name || worked != works
	_, err = t.Exec(sqlRenew, expires, b.Name, works, conditions, b.Relay, t.Now)
	return true, err
}

func (t *Tx) give(relay string, l store.Lease) error {
	id, err := t.Subscription(l.Ref)
	if err != nil || id == 0 {
		return err
	}
	given, err := t.Exec(sqlGive, id, l.Lo, l.Hi, l.Token, relay)
	t.Moved = t.Moved || given > 0
	return err
}

// keepDead is how long a dead relay's row stays.
const keepDead = int64(time.Hour / time.Microsecond)

// buryDead marks relays dead whose time is over, before anybody takes what they
// had: what is dead is never renewed.
func (t *Tx) buryDead() error {
	died, err := t.Exec(sqlMarkDead, t.Now)
	if err != nil || died == 0 {
		return err
	}
	t.Moved = true
	if _, err := t.Exec(sqlGiveDead); err != nil {
		return err
	}
	_, err = t.Exec(sqlForgetDead, t.Now-keepDead)
	return err
}

// take makes a shard the relay's if nobody alive has it, with a new token.
func (t *Tx) take(relay string, shard store.Shard) error {
	id, err := t.Subscription(shard.Ref)
	if err != nil || id == 0 {
		return err
	}
	free, err := t.Row(sqlFree+t.Lock, []any{id, shard.Lo, shard.Hi}, new(int))
	if err != nil || !free {
		return err
	}
	token, err := t.token()
	if err != nil {
		return err
	}
	if _, err := t.Exec(sqlTake, relay, token, id, shard.Lo, shard.Hi); err != nil {
		return err
	}
	t.Moved = true
	return t.land(id, shard.Slots)
}

// land makes what was in flight in a shard due: its answers went to another.
func (t *Tx) land(id int64, slots store.Slots) error {
	var touched storekit.Hashes
	var orders []Order
	err := t.Query(SQLInFlight+t.Lock, []any{id, slots.Lo, slots.Hi}, func(rows *sql.Rows) error {
		var seq int64
		var chain sql.NullInt64
		if err := rows.Scan(&seq, &chain); err != nil {
			return err
		}
		if chain.Valid {
			touched.Add(uint64(chain.Int64))
		}
		orders = append(orders, Order{Text: sqlLanded, Args: []any{t.Now, t.Now, id, seq}})
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := t.All(orders); err != nil {
		return err
	}
	_, err = t.SettleHeads(id, slots, touched)
	return err
}

func (t *Tx) token() (token int64, err error) {
	if _, err := t.Exec(sqlDraw); err != nil {
		return 0, err
	}
	_, err = t.Row(sqlDrawn, nil, &token)
	return token, err
}

// view fills in what there is after the changes.
func (t *Tx) view(works []store.Ref, view *store.View) error {
	relays, err := t.relays()
	if err != nil {
		return err
	}
	view.Relays = relays
	for _, ref := range works {
		state, err := t.state(ref)
		if err != nil {
			return err
		}
		if len(state.Shards) > 0 {
			view.Subscriptions = append(view.Subscriptions, state)
		}
	}
	view.Epoch = t.Epoch
	if t.Moved {
		view.Epoch++
	}
	return nil
}

func (t *Tx) relays() ([]store.RelayState, error) {
	var out []store.RelayState
	err := t.Query(sqlRelays, []any{t.Now}, func(rows *sql.Rows) error {
		var r store.RelayState
		var works, conditions string
		var expires int64
		err := rows.Scan(&r.ID, &r.Name, &works, &expires, &conditions)
		r.Expires = time.Duration(expires-t.Now) * time.Microsecond
		if err == nil {
			r.Works, err = storekit.ParseWorks(works)
		}
		if err == nil {
			r.Conditions, err = storekit.ParseConditions(conditions)
		}
		out = append(out, r)
		return err
	})
	return out, err
}

// state returns one subscription with its shards; without them there is none.
func (t *Tx) state(ref store.Ref) (store.SubscriptionState, error) {
	state := store.SubscriptionState{Ref: ref}
	err := t.Query(sqlShards, []any{ref.Box, ref.Subscription}, func(rows *sql.Rows) error {
		h := store.ShardState{Lease: store.Lease{Shard: store.Shard{Ref: ref}}}
		var id int64
		var position, types, takes []byte
		var settings string
		err := rows.Scan(&id, &state.Wanted, &state.Paused, &types, &takes, &state.TypesBy, &settings, &h.Lo, &h.Hi, &h.Owner, &h.Token, &h.Version, &position)
		h.Position = store.Position(position)
		if state.Shards = append(state.Shards, h); err == nil && len(state.Shards) == 1 {
			var f store.Filter
			f, state.Unreadable = FilterOf(types, takes)
			state.Types, state.Where = f.Types, f.Where
			state.Settings = storekit.ParseSettings(settings)
		}
		return err
	})
	return state, err
}

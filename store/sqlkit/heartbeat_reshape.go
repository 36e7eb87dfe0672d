package sqlkit

import (
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// reshape replaces all shards of a subscription, if the relay holds them all and
// they stand at one position; otherwise it does nothing.
func (t *Tx) reshape(relay string, r store.Reshape) error {
	id, err := t.Subscription(r.Ref)
	if err != nil || id == 0 {
		return err
	}
	if _, err := Numbers(t.Query, sqlLockShards+t.Lock, []any{id}); err != nil { // so that no settlement moves them now
		return err
	}
	state, err := t.state(r.Ref)
	if err != nil {
		return err
	}
	if r.Shards < 1 || r.Shards > store.SlotCount || !storekit.HoldsAll(relay, state.Shards, r.Leases) {
		return nil
	}
	if _, err := t.Exec(sqlDeleteShards, id); err != nil {
		return err
	}
	split, err := t.spread(id)
	if err != nil {
		return err
	}
	position := state.Shards[0].Position
	for _, slots := range store.Split(r.Shards) {
		token, err := t.token()
		if err != nil {
			return err
		}
		if _, err := t.Exec(sqlInsertShard, id, slots.Lo, slots.Hi, relay, token, []byte(position)); err != nil {
			return err
		}
		if _, err := t.SettleHeads(id, slots, split); err != nil {
			return err
		}
	}
	t.Moved = true
	return nil
}

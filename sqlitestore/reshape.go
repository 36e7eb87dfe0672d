package sqlitestore

import (
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// reshape replaces all shards of a subscription, if the relay holds them all and
// they stand at one position; otherwise it does nothing.
func (t *transaction) reshape(relay string, r store.Reshape) error {
	state, err := t.state(r.Ref)
	if err != nil {
		return err
	}
	if r.Shards < 1 || r.Shards > store.SlotCount || !storekit.HoldsAll(relay, state.Shards, r.Leases) {
		return nil
	}
	id, err := t.subscription(r.Ref)
	if err != nil {
		return err
	}
	if _, err := t.exec(sqlDeleteShards, id); err != nil {
		return err
	}
	position := state.Shards[0].Position
	for _, slots := range store.Split(r.Shards) {
		token, err := t.token()
		if err != nil {
			return err
		}
		if _, err := t.exec(sqlInsertShard, id, slots.Lo, slots.Hi, relay, token, []byte(position)); err != nil {
			return err
		}
		if err := t.Rehead(id, slots); err != nil {
			return err
		}
	}
	t.Moved = true
	return nil
}

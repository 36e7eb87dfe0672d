package core

import "github.com/postbag/postbag/store"

// FloorOf returns the seq up to which a position has passed everything, as store.Replayer does.
type FloorOf func(store.Position) (int64, error)

// ReadReplay returns q as it is made of a replay: nothing is read behind the end. A read that ends where another group
// stands is made in any case: it brings the two together.
func ReadReplay(r *store.Replay, q store.Request, floorOf FloorOf) store.Request {
	if q.Until == "" && ReplayEnds(r, q.From, floorOf) {
		q.Limit = 0
	}
	return q
}

// ReplayEnds says that nothing of a replay can come behind a position.
func ReplayEnds(r *store.Replay, p store.Position, floorOf FloorOf) bool {
	floor, err := floorOf(p)
	return err == nil && floor >= r.Through // a read says what is wrong with the position
}

// FilterReplay marks as filtered what a replay does not send again.
func FilterReplay(r *store.Replay, records []store.Record) {
	for i := range records {
		if m := &records[i]; !m.Filtered && !r.Takes(m) {
			bare := store.Record{Seq: m.Seq, Slot: m.Slot, Hash: m.Hash, At: m.At, Filtered: true}
			bare.ID = m.ID
			*m = bare
		}
	}
}

// ReplayProgress is how far a replay is, by what the store has of it.
type ReplayProgress struct {
	// Floor is the seq up to which it has looked at everything, between the two that bound the replay.
	Floor int64
	// Waiting is how many messages are parked that are not dead. Commands wait for a relay.
	Waiting, Commands int64
}

// ReplayFloor returns the Floor of a replay whose shards are at these positions.
func ReplayFloor(r *store.Replay, shards []store.ShardState, floorOf FloorOf) (int64, error) {
	out := int64(0)
	for i := range shards {
		floor, err := floorOf(shards[i].Position)
		if err != nil {
			return 0, err
		}
		if i == 0 || floor < out {
			out = floor
		}
	}
	return min(max(out, r.After), r.Through), nil
}

// Through says that nothing of the replay can come any more, and nothing waits but what is dead.
func (p *ReplayProgress) Through(r *store.Replay) bool {
	return p.Floor >= r.Through && p.Waiting == 0 && p.Commands == 0
}

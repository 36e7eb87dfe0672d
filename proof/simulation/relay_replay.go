package simulation

import (
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// replayLook is how often a process that works a replay asks how far it is.
const replayLook = 500 * time.Millisecond

// readsReplay bounds what a turn reads, as package relay does.
func (r *relay) readsReplay(t *store.Turn) {
	of := r.w.replay
	if of == nil {
		return
	}
	for i := range t.Read {
		t.Read[i] = core.ReadReplay(&of.Replay, t.Read[i], r.w.server.floorOf)
	}
}

// filtersReplay leaves out what the replay does not send, as package relay does.
func (r *relay) filtersReplay(pages []store.Batch) {
	if of := r.w.replay; of != nil {
		for i := range pages {
			core.FilterReplay(&of.Replay, pages[i].Records)
		}
	}
}

func (s *server) floorOf(p store.Position) (int64, error) { return s.log.floor(p), nil }

// standing is how a replay stands, by the store.
type standing uint8

const (
	replayGoes standing = iota
	replayThrough
	replayDead // it is through but for dead messages
	replayOver // somebody has ended it
)

// looks asks the store how far the replay is, now and then.
func (r *relay) looks() {
	w := r.w
	if r.told {
		return
	}
	w.schedule(r.own(replayLook), r, r, relayLooks)
	if w.fault(LostRequests, 10) {
		return
	}
	w.after(w.lag(), nil, func() {
		seen := w.standing()
		w.after(w.lag(), r, func() { r.sees(seen) })
	})
}

// standing is what the store says of a replay.
func (w *world) standing() standing {
	s := w.server
	if w.replay.over {
		return replayOver
	}
	shards := make([]store.ShardState, 0, len(s.shards))
	for i := range s.shards {
		shards = append(shards, s.shards[i].state(w.ref))
	}
	p := core.ReplayProgress{}
	p.Floor, _ = core.ReplayFloor(&w.replay.Replay, shards, s.floorOf)
	for i := range s.rows {
		p.Waiting += bit(s.rows[i].State != store.ParkDead)
	}
	for i := range s.commands {
		p.Commands += bit(!s.commands[i].done)
	}
	switch {
	case !p.Through(&w.replay.Replay):
		return replayGoes
	case len(s.rows) > 0:
		w.judgeThrough()
		return replayDead
	}
	w.judgeThrough()
	return replayThrough
}

// sees goes by what the store has said.
func (r *relay) sees(seen standing) {
	w := r.w
	switch {
	case r.told:
		return
	case seen == replayThrough, seen == replayOver:
		r.through = seen == replayThrough
		r.told = true
		w.schedule(0, r, r, relayStops)
	case seen == replayDead && !w.calm:
		w.seesToDead()
	case w.pardon && w.unreachable():
		w.endReplay()
	}
}

// seesToDead has an operator see to the dead messages of a replay that is through but for them: he retries them, or ends it.
func (w *world) seesToDead() {
	if w.below(4) == 3 {
		w.cancelReplay()
		return
	}
	for i := range w.server.rows {
		w.server.order(store.Retry, w.server.rows[i].m)
	}
}

// unreachable says that the end of a replay lies beyond all that there is, since the database was set back. An operator ends it.
func (w *world) unreachable() bool { return w.lastCommitted() < w.replay.Through && w.settled() }

// worksNoMore is the end of a process: it removes the replay if that is through.
func (r *relay) worksNoMore() {
	if w := r.w; r.through && !w.replay.over {
		w.counts.Replays++
		w.endReplay()
	}
}

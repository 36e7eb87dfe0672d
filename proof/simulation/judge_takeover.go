package simulation

import (
	"slices"
	"strconv"
	"time"

	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// death is that of a relay that had a shard.
type death struct {
	lo, hi int
	token  int64
	at     time.Duration
}

// clean are the faults beside which a takeover has its time: none of the others, which keep relays from their store, or
// set a clock.
const clean = Kills | Rollbacks | Savepoints | Strangers | LongTransactions | UnknownCommits | Prepared | Rejects | Replays

// takeover is within what the shards of a dead relay are another's: P8.
func (p *plan) takeover() time.Duration {
	if p.faults&^clean != 0 {
		return 0
	}
	return p.ttl + 2*time.Second
}

// died notes which shards a relay had that was killed. The relay that was about to take those of one before may have been it.
func (w *world) died(r *relay) {
	now := w.instant()
	for i := range w.deaths {
		w.deaths[i].at = now
	}
	for i := range w.server.shards {
		if sh := &w.server.shards[i]; sh.owner == r.id() {
			w.deaths = append(w.deaths, death{sh.lo, sh.hi, sh.token, now})
		}
	}
}

// tookOver records that a shard of a dead relay is another's.
func (w *world) tookOver(sh *store.ShardState) {
	w.deaths = slices.DeleteFunc(w.deaths, func(d death) bool {
		if d.lo != sh.Lo || d.hi != sh.Hi || d.token == sh.Token {
			return false
		}
		w.tookOverBy(&d, w.instant())
		return true
	})
}

func (w *world) tookOverBy(d *death, at time.Duration) {
	w.recorders.takeovers++
	w.recorders.history.Wait(history.Gap{Kind: history.Takeover, Of: "the shard from " + strconv.Itoa(d.lo), Begin: d.at, End: at})
}

// stillDead records what nobody has taken over yet, if that takes longer than it may.
func (w *world) stillDead() {
	now := w.instant()
	for i := range w.deaths {
		if d := &w.deaths[i]; now-d.at > w.plan.takeover() {
			w.tookOverBy(d, now)
		}
	}
}

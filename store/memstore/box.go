package memstore

import (
	"cmp"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// box is a log with its schedule and its subscriptions.
type box struct {
	name     string
	slots    store.SlotRule // SlotsByHash or SlotsByNumber
	log      log
	schedule schedule
	subs     map[string]*subscription
	dropped  map[int64]sums // by span: what retention has removed
	floors   []floorMark    // see Maintain

	retention storekit.RetentionRow
	removed   map[string]store.Removed
}

func newBox(name string) *box {
	b := &box{
		name:     name,
		slots:    store.SlotsByHash,
		log:      log{base: 1},
		schedule: schedule{byID: map[postbag.ID][]*scheduled{}},
		subs:     map[string]*subscription{},
		dropped:  map[int64]sums{},
		removed:  map[string]store.Removed{},
	}
	b.subs[store.Maintenance] = newSubscription(b, store.Maintenance, 1)
	return b
}

// readers returns the subscriptions that read the log, sorted by name.
func (b *box) readers() []*subscription {
	var out []*subscription
	for name, sub := range b.subs {
		if name != store.Maintenance {
			out = append(out, sub)
		}
	}
	slices.SortFunc(out, func(a, c *subscription) int { return cmp.Compare(a.ref.Subscription, c.ref.Subscription) })
	return out
}

// subscription is a reader of a box.
type subscription struct {
	ref       store.Ref
	box       *box
	made      time.Time
	begun     int64 // it began behind this seq
	types     []string
	where     store.Where
	filter    storekit.Filter // types and where
	typesBy   string          // who set them with a command
	wantedBy  string
	settings  string // those of operators, see storekit.ParseSettings
	wanted    int
	replay    *store.Replay // nil: it is none
	shards    []*shard      // in order of lo
	lot       lot
	commands  []*command           // oldest first
	orders    map[int64][]*command // the open ones, by seq
	past      map[int64]*parked    // what was resolved, as long as the log has it
	tallies   map[tallyKey]sums
	before    map[int64]sums     // by span: what lay before its start
	accepted  map[int64]sums     // by span: what the ledger lacks, as an operator accepted
	discarded map[int64]struct{} // seqs that were discarded, as long as the log has them
}

func newSubscription(b *box, name string, shards int) *subscription {
	sub := &subscription{
		ref:       store.Ref{Box: b.name, Subscription: name},
		box:       b,
		wanted:    shards,
		lot:       newLot(),
		tallies:   map[tallyKey]sums{},
		before:    map[int64]sums{},
		accepted:  map[int64]sums{},
		discarded: map[int64]struct{}{},
		orders:    map[int64][]*command{},
		past:      map[int64]*parked{},
	}
	for _, r := range store.Split(shards) {
		sub.shards = append(sub.shards, &shard{slots: r, version: 1})
	}
	return sub
}

// filtered gives sub a filter.
func (sub *subscription) filtered(f store.Filter) {
	sub.types, sub.where, sub.filter = slices.Clone(f.Types), f.Where.Clone(), storekit.FilterOf(f)
}

// shard is the state of a shard.
type shard struct {
	slots          store.Slots
	owner          string // a relay's id; empty: free
	token, version int64
	settledUnder   int64 // the token of the last settlement
	position       store.Position
}

// shard returns the shard of exactly these slots, or nil.
func (sub *subscription) shard(r store.Slots) *shard {
	i, found := slices.BinarySearchFunc(sub.shards, r.Lo, func(sh *shard, lo int) int { return cmp.Compare(sh.slots.Lo, lo) })
	if !found || sub.shards[i].slots != r {
		return nil
	}
	return sub.shards[i]
}

// shardOf returns the shard that slot lies in.
func (sub *subscription) shardOf(slot int) *shard {
	i, found := slices.BinarySearchFunc(sub.shards, slot, func(sh *shard, slot int) int { return cmp.Compare(sh.slots.Lo, slot) })
	if !found {
		i--
	}
	return sub.shards[i]
}

// state returns what a View shows of sub.
func (sub *subscription) state(paused bool) store.SubscriptionState {
	out := store.SubscriptionState{Ref: sub.ref, Wanted: sub.wanted, Paused: paused, Types: slices.Clone(sub.types), TypesBy: sub.typesBy, Where: sub.where.Clone(), Settings: storekit.ParseSettings(sub.settings)}
	for _, sh := range sub.shards {
		out.Shards = append(out.Shards, store.ShardState{
			Lease:    store.Lease{Shard: store.Shard{Ref: sub.ref, Slots: sh.slots}, Token: sh.token, Version: sh.version},
			Owner:    sh.owner,
			Position: sh.position,
		})
	}
	return out
}

// floorMark is a floor that all subscriptions of a box had passed by a time.
type floorMark struct {
	at  time.Time
	seq int64
}

package engine

import (
	"slices"

	"github.com/postbag/postbag/store"
)

// Owner keeps what a relay knows of the shards of a subscription besides what its
// flow has: those that it asked for, those that are being loaded, and those of them
// that it is to give back. The zero Owner is ready to use.
type Owner struct {
	// Whole: every shard that is the relay's is taken up, asked for or not.
	Whole bool

	claimed  map[int]bool  // asked for, and not yet the flow's
	loading  map[int]int64 // and their tokens
	unwanted map[int]bool  // of those being loaded, the ones that another relay is to have
	knew     []store.Lease // what the flow had when the last heartbeat was sent
	sight    Sight
}

// Sight is what a view means for a flow: places in the view, and leases of the flow.
type Sight struct {
	// Lost are leases that are another's, or were set back. Old are those of ranges
	// that there are no more.
	Lost, Old []store.Lease
	// Gained are shards to be loaded, Disowned those that are ours though we did not ask
	// for them: a settlement of it was refused, or the store was set back to when we had
	// it. What is in flight there was put there by us, and is nobody's until the shard is
	// taken again.
	Gained, Disowned []int
}

// Asks notes what the flow has as a heartbeat is sent.
func (o *Owner) Asks(leases []store.Lease) { o.knew = leases }

// Claim notes that a heartbeat takes a shard.
func (o *Owner) Claim(lo int) {
	if o.claimed == nil {
		o.claimed = make(map[int]bool)
	}
	o.claimed[lo] = true
}

// Look compares what relay me has with a view. gives says that a shard is its own
// only until the next heartbeat gives it back. The answer is good until the next.
func (o *Owner) Look(me string, view []store.ShardState, has []store.Lease, gives func(*store.Lease) bool) *Sight {
	s := &o.sight
	*s = Sight{Lost: s.Lost[:0], Old: s.Old[:0], Gained: s.Gained[:0], Disowned: s.Disowned[:0]}
	o.stillLoading(me, view)
	for i := range view {
		sh := &view[i]
		mine := sh.Owner == me
		if !mine {
			delete(o.claimed, sh.Lo)
		}
		at := slices.IndexFunc(has, func(l store.Lease) bool { return l.Lo == sh.Lo })
		switch {
		case at >= 0 && (!mine || has[at].Token != sh.Token || o.wasSetBack(sh)):
			s.Lost = append(s.Lost, has[at])
		case !mine, at >= 0, o.loading[sh.Lo] != 0, gives(&sh.Lease):
		case o.claimed[sh.Lo], o.Whole:
			s.Gained = append(s.Gained, i)
		default:
			s.Disowned = append(s.Disowned, i)
		}
	}
	for _, l := range has {
		if !slices.ContainsFunc(view, func(sh store.ShardState) bool { return sh.Lo == l.Lo }) {
			s.Old = append(s.Old, l)
		}
	}
	return s
}

// stillLoading forgets shards that are being loaded and are not the relay's any more.
func (o *Owner) stillLoading(me string, view []store.ShardState) {
	for lo, token := range o.loading {
		if !slices.ContainsFunc(view, func(sh store.ShardState) bool { return sh.Lo == lo && sh.Token == token && sh.Owner == me }) {
			delete(o.loading, lo)
		}
	}
}

// wasSetBack says that the store has forgotten settlements of a shard that the flow
// has: it fell back to a standby or to a backup.
func (o *Owner) wasSetBack(sh *store.ShardState) bool {
	return slices.ContainsFunc(o.knew, func(l store.Lease) bool {
		return l.Lo == sh.Lo && l.Token == sh.Token && l.Version > sh.Version
	})
}

// Load notes that a shard is being loaded.
func (o *Owner) Load(l store.Lease) {
	if o.loading == nil {
		o.loading = make(map[int]int64)
	}
	o.loading[l.Lo] = l.Token
}

// Loading says that shards are being loaded.
func (o *Owner) Loading() bool { return len(o.loading) > 0 }

// Loaded notes that a shard is not being loaded any more, and says whether it was: it
// may have become another's meanwhile, or been replaced.
func (o *Owner) Loaded(l store.Lease) bool {
	if o.loading[l.Lo] != l.Token {
		return false
	}
	delete(o.loading, l.Lo)
	return true
}

// Got notes that the flow has a shard now, and says whether it is to leave it at once.
func (o *Owner) Got(lo int) (leave bool) {
	delete(o.claimed, lo)
	return o.unwanted[lo]
}

// Unwanted says that a shard that is being loaded is another's to have.
func (o *Owner) Unwanted(lo int) bool { return o.unwanted[lo] }

// Give notes which shards are another's to have, and calls leave for those that are
// not being loaded.
func (o *Owner) Give(los []int, leave func(lo int)) {
	clear(o.unwanted)
	for _, lo := range los {
		if o.loading[lo] == 0 {
			leave(lo)
			continue
		}
		if o.unwanted == nil {
			o.unwanted = make(map[int]bool)
		}
		o.unwanted[lo] = true
	}
}

// Forget has the relay begin again under another name: nothing is asked for or loaded.
func (o *Owner) Forget() {
	clear(o.claimed)
	clear(o.loading)
	o.knew = nil
}

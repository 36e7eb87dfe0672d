package lane

import "time"

// Lifecycle is what a relay remembers of a subscription's lane. The relay works all of the
// subscription's shards or none. An entry or a transaction holds the lane and Known while
// it is at work.
type Lifecycle struct {
	// Known are the messages in the broker that may not be settled.
	Known Marks
	// Waiting: the relay has all shards, and the lane is not open.
	Waiting bool
	// Failures is how many tries in a row to enter the lane have failed. There is no
	// other try before RetryAt.
	Failures int
	RetryAt  time.Duration

	busy    bool
	life    int   // grows with Forget
	held    int   // shards, when they were given to the flow; zero: none were
	leaving bool  // they are to be given back
	stale   bool  // versions in a view may be old: a turn with settlements may be out
	dry     int64 // turns when the flow was first seen drained, to forget what is known
}

// Move is what a Lifecycle wants done about shards.
type Move uint8

// What may be wanted. Stay: nothing. Forget: drop all in hand, see Lifecycle.Forget.
// Enter: enter the lane. Later: enter it at RetryAt.
const (
	Stay Move = iota
	Forget
	Enter
	Later
)

// Gain says what to do about gained shards: a view says that the relay has them, and the
// flow does not have them yet. all is how many shards there are.
func (k *Lifecycle) Gain(gained, all int, now time.Duration, dying bool) Move {
	k.Waiting = gained > 0 && gained == all
	switch {
	case gained == 0:
		return Stay
	case k.held > 0: // one came back that was lost: begin again with all of them
		return Forget
	case !k.Waiting || k.busy || k.stale || dying:
		return Stay
	case now < k.RetryAt:
		return Later
	}
	return Enter
}

// Take begins an acquisition or a transaction, and returns the life in which it does.
func (k *Lifecycle) Take() (known Marks, life int) {
	known, k.Known, k.busy = k.Known, nil, true
	return known, k.life
}

// Reclaim takes back what an acquisition or a transaction held, when it is over. It returns
// false if everything was dropped meanwhile: then close the lane.
func (k *Lifecycle) Reclaim(known Marks, life int) bool {
	k.busy = false
	if k.life == life {
		k.Known = known
	}
	return k.life == life
}

// Lives says that nothing was dropped since a life began.
func (k *Lifecycle) Lives(life int) bool { return k.life == life }

// Entered notes that the lane is open and all shards are given to the flow.
func (k *Lifecycle) Entered(shards int) {
	k.Failures, k.Waiting, k.held, k.leaving = 0, false, shards, false
}

// Whole says that the flow has all shards that it was given.
func (k *Lifecycle) Whole(leases int) bool { return leases >= k.held }

// Forget notes that everything in hand is dropped. Shards come back with a heartbeat, if
// the relay still has them.
func (k *Lifecycle) Forget() {
	k.life++
	k.Known, k.held, k.leaving, k.stale = nil, 0, false, true
}

// Reshaped notes that the shards were replaced. The lane stays the same.
func (k *Lifecycle) Reshaped() { k.held = 0 }

// Leave notes that a shard is to be given back, and says whether the flow has it.
func (k *Lifecycle) Leave() bool {
	k.leaving = k.leaving || k.held > 0
	return k.held > 0
}

// Lost says whether a shard is gone that was not to be given back. Then drop everything.
func (k *Lifecycle) Lost(leases int, stopping bool) bool {
	return leases < k.held && (leases == 0 || !k.leaving && !stopping)
}

// Look says whether it is time for a heartbeat after everything was dropped: no heartbeat
// and no turn is out.
func (k *Lifecycle) Look(idle bool) bool {
	if !k.stale || !idle || k.busy {
		return false
	}
	k.stale = false
	return true
}

// Unlearn forgets what is known to be in the broker, once everything was read and settled,
// parked messages too. What it forgets was settled before. turns is how many turns there
// were so far.
func (k *Lifecycle) Unlearn(turns int64, settled func() bool) {
	switch {
	case k.busy || len(k.Known) == 0 || k.held == 0 || !settled():
		k.dry = 0
	case k.dry == 0:
		k.dry = turns + 1
	case turns > k.dry+2:
		k.Known = nil
	}
}

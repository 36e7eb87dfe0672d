package store

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/postbag/postbag"
)

// SlotCount is how many slots a box has. It never changes.
const SlotCount = 4096

// Slots is the half-open range of slots from Lo to Hi.
type Slots struct{ Lo, Hi int }

// AllSlots is every slot of a box.
var AllSlots = Slots{Lo: 0, Hi: SlotCount}

// Contains says whether slot lies in s.
func (s Slots) Contains(slot int) bool { return slot >= s.Lo && slot < s.Hi }

// String returns the range as "lo-hi", with hi the last slot of it.
func (s Slots) String() string { return fmt.Sprintf("%d-%d", s.Lo, s.Hi-1) }

// Split divides all slots into n ranges whose sizes differ by at most one. An n below 1
// counts as 1, one above SlotCount as SlotCount.
func Split(n int) []Slots {
	n = min(max(n, 1), SlotCount)
	out := make([]Slots, n)
	for i := range out {
		out[i] = Slots{Lo: i * SlotCount / n, Hi: (i + 1) * SlotCount / n}
	}
	return out
}

// SlotOf returns the slot of a message in a box whose slots are made by hash: the first
// twelve bits of SHA-256 of its shard key, else of its key, else of the bytes of its id.
// [SlotRule.SlotOf] is for every box.
func SlotOf(m *postbag.Message) int {
	var sum [32]byte
	switch {
	case m.ShardKey != "":
		sum = sha256.Sum256([]byte(m.ShardKey))
	case m.Key != "":
		sum = sha256.Sum256([]byte(m.Key))
	default:
		sum = sha256.Sum256(m.ID[:])
	}
	return int(sum[0])<<4 | int(sum[1])>>4
}

// StrictHash is the Hash of each row that is parked under strict order of a shard.
const StrictHash = 1

// KeyHash returns the first eight bytes of SHA-256 of key. It returns zero for the empty
// key, which orders nothing. Two keys with the same hash are ordered as one.
func KeyHash(key string) uint64 {
	if key == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(key))
	var h uint64
	for _, b := range sum[:8] {
		h = h<<8 | uint64(b)
	}
	return max(h, 1)
}

// Ref names a subscription of a box.
type Ref struct{ Box, Subscription string }

// String returns "box/subscription".
func (r Ref) String() string { return r.Box + "/" + r.Subscription }

// Shard names a range of slots of a subscription: the unit of ownership.
type Shard struct {
	Ref
	Slots
}

// String returns "box/subscription[lo-hi]".
func (s Shard) String() string { return s.Ref.String() + "[" + s.Slots.String() + "]" }

// Lease is a relay's right to work a shard. Token is new each time the shard gets another
// owner. It comes from a counter of the store, so no token ever repeats for a Ref,
// whatever happens to its shards. Version grows by one at each settlement.
type Lease struct {
	Shard
	Token, Version int64
}

// Position says how far a subscription has come in a shard. Only the store can read it.
// It has at most 8 KiB, and its first byte says its format. "" is the beginning of the
// box. Compare positions only for equality.
type Position string

// Spec declares a subscription.
type Spec struct {
	Ref
	// From says where a new subscription starts.
	From Start
	// Types filters by Message.Type: exact names, or a prefix followed by ".*".
	// Empty: every message.
	Types []string
	// Where narrows that by topic, header and exceptions. Zero: it does not.
	Where Where
	// Shards is how many shards a new subscription has. Zero: 4, or 1 if the store has
	// Features.OneGroup.
	Shards int
	// DeadTo is the box that dead letters of the subscription go to, see Park.DeadTo.
	// Nothing is kept of it: Declare only checks that the box is there (ErrNoBox) and that
	// the caller may write to it (ErrDenied). Empty: none.
	DeadTo string
}

// Start says where a new subscription begins. The zero Start is the first
// message that the box still holds.
type Start struct {
	// Now: only what commits after the declaration.
	Now bool
	// At: what was stored at or after this time, found by a bounded search.
	// A little more may come. Zero: not used.
	At time.Time
	// After: what has a higher seq. A little more may come. Zero: not used. Of Now, At
	// and After give one at most.
	After int64
}

// Beat is one heartbeat.
type Beat struct {
	// Relay is the relay's id, new at each start; Name tells people what it is.
	Relay, Name string
	// New makes the heartbeat row. Only the first Beat of an id has it.
	New bool
	// Leave gives everything back and removes the heartbeat row; TTL, Take and
	// Reshape are then ignored.
	Leave bool
	// TTL is how long from now the heartbeat is good for.
	TTL time.Duration
	// Works lists the subscriptions that the relay can work.
	Works []Ref
	// Give are leases to be given back. One that is no longer held is ignored.
	Give []Lease
	// Reshape replaces the shards of subscriptions. See Reshape.
	Reshape []Reshape
	// Take are the shards that the relay wants. A shard that another live relay holds, or
	// that does not exist any more, is ignored.
	Take []Shard
	// Conditions are how this relay's destinations are, for people to see. They
	// replace those of the last Beat.
	Conditions []Condition
}

// Condition is the state of a subscription's destination, as the relay that works it
// reports it.
type Condition struct {
	Ref
	// State is "closed" while messages flow, "open" while the destination is left
	// alone, "probing" while it is tried, "held" while too many messages wait for
	// topics that do not work, or for the end of pauses, and ConditionUnreadable while the
	// relay cannot read the filter.
	State string
	// Since is how long ago the state began, as of the heartbeat.
	Since time.Duration
	// Lease is how long that heartbeat was good for: less RelayState.Expires, it
	// is how long ago that was.
	Lease time.Duration
	// Error is the last failure, scrubbed. Empty: none since the state began.
	Error string
	// Topics are those that do not work, with the error of each, at most 20.
	Topics []TopicCondition
	// Unsettled is how many messages were accepted and not settled yet. They count as
	// backlog, and are in the broker.
	Unsettled int
	// Destination is what the relay calls the destination. Empty: it has no name.
	Destination string
	// Pauses: the relay obeys pauses of some messages, and of destinations, and filters by
	// Where. False: it is of version 0.1.0, which knows pauses of whole subscriptions and
	// types alone.
	Pauses bool
}

// ConditionUnreadable is the state of a subscription whose filter a relay cannot read. It has no
// shard of it, and others share them.
const ConditionUnreadable = "unreadable"

// TopicCondition is a topic that does not work.
type TopicCondition struct {
	Topic string
	Since time.Duration
	Error string
}

// Reshape replaces all shards of a subscription with Shards new ones of equal size, at
// the one position that all of them have. Leases must be all shards of the subscription,
// held by the caller at token and version. Otherwise, or if positions differ, nothing
// happens. The new shards belong to the caller, with new tokens. Parked rows keep their
// state: this is not a take.
type Reshape struct {
	Ref
	Shards int
	Leases []Lease
}

// View is what Beat saw after its changes.
type View struct {
	// Alive: the heartbeat was renewed. False: all leases of this relay id are
	// void, and only a new id can go on.
	Alive bool
	// Epoch is TurnResult.Epoch at this moment.
	Epoch int64
	// Now is the time of the database's clock, which Record.At is by, too. A relay tells
	// from it how old messages are. Zero: the store does not say, and no message ages.
	Now time.Time
	// Relays are the live relays, the caller among them, sorted by id.
	Relays []RelayState
	// Subscriptions are those of Works that exist, with all their shards.
	Subscriptions []SubscriptionState
	// Pauses are all that are in force in the store, if it is a Pauser, oldest first.
	Pauses []Pause
}

// RelayState is one live relay.
type RelayState struct {
	ID, Name string
	// Expires is how long its heartbeat is still good for.
	Expires time.Duration
	// Works lists the subscriptions it can work.
	Works []Ref
	// Conditions are those of its last Beat.
	Conditions []Condition
}

// SubscriptionState is one subscription in a View.
type SubscriptionState struct {
	Ref
	// Wanted is the number of shards an operator asked for; it differs from
	// len(Shards) until a relay has reshaped the subscription.
	Wanted int
	// Paused: an operator holds the subscription, and no end of that is over; its shards
	// stay owned.
	Paused bool
	// Types is its filter, see Spec. TypesBy is who set that with a command. Empty: the
	// filter is the one that it was declared with.
	Types   []string
	TypesBy string
	// Where is the rest of its filter.
	Where Where
	// Unreadable says why this version cannot read the filter: a later one may have written it.
	// Types and Where are not to be used then, and relays do not work the subscription. Nil:
	// it can be read.
	Unreadable error
	// Settings are those that operators have set, by name, if the store is a Tuner. A relay
	// leaves those out that it does not know.
	Settings []Setting
	// Shards are all of them, in order of Lo.
	Shards []ShardState
}

// ShardState is one shard in a View. Its Token and Version are those of its last
// owner.
type ShardState struct {
	Lease
	// Owner is the relay that holds the shard. Empty: free, or its owner is dead.
	Owner string
	// Position is how far the shard is settled.
	Position Position
}

package operations

import (
	"time"

	"github.com/postbag/postbag/store"
)

// Status is the state of a store in JSON. Names of fields are a contract.
type Status struct {
	// When it was, by the database's clock.
	Now time.Time `json:"now"`
	// The boxes.
	Boxes []Box `json:"boxes"`
	// The live relays.
	Relays []Relay `json:"relays"`
	// What operators hold, oldest first.
	Pauses []Pause `json:"pauses"`
}

// Box is the state of a box in JSON.
type Box struct {
	// The box.
	Name string `json:"name"`
	// About how many messages its log holds.
	Messages int64 `json:"messages"`
	// The last number that the log has given out.
	LastSeq int64 `json:"last_seq"`
	// How many messages wait for their time.
	Scheduled int64 `json:"scheduled"`
	// Whether somebody dropped its table.
	Missing bool `json:"missing,omitempty"`
	// With --watch: about how many messages a second were published since the last
	// look.
	Rate *float64 `json:"published_per_second,omitempty"`
	// How long its messages stay; none: the store does not hold it.
	Retention *Retention `json:"retention,omitempty"`
	// The subscriptions.
	Subscriptions []Subscription `json:"subscriptions"`
	// What the store did of its own accord, such as after its log was emptied: of the last
	// day, until postbag ledger accept, newest first.
	Notices []Notice `json:"notices,omitempty"`
}

// Retention is how long messages of a box stay, in JSON. Where each time comes from is operator, deployment or default.
type Retention struct {
	// How long a message stays in the log after every subscription has passed it.
	Delivered float64 `json:"delivered_seconds"`
	// Where that comes from.
	DeliveredFrom string `json:"delivered_from"`
	// How long a discarded message stays in the log after every subscription has passed it.
	Discarded float64 `json:"discarded_seconds"`
	// Where that comes from.
	DiscardedFrom string `json:"discarded_from"`
	// How long a dead message stays parked; none: until somebody discards it.
	Dead *float64 `json:"dead_seconds,omitempty"`
	// Where that comes from.
	DeadFrom string `json:"dead_from"`
	// The relay that said the deployed times last.
	DeployedBy string `json:"deployed_by,omitempty"`
	// How long ago that was.
	DeployedAgo float64 `json:"deployed_seconds_ago,omitempty"`
}

// Notice is something that people should know of a box in JSON.
type Notice struct {
	// How long ago it was.
	Ago float64 `json:"seconds_ago"`
	// What was done.
	What string `json:"what"`
	// Why.
	Why string `json:"why"`
}

// Subscription is the state of a subscription in JSON.
type Subscription struct {
	// The subscription.
	Name string `json:"name"`
	// Its filter of types; none: all types. Where has what narrows that.
	Types []string `json:"types,omitempty"`
	// What narrows it further: topics, headers and exceptions.
	Where *store.Where `json:"where,omitempty"`
	// Why this version cannot read the filter, which types and where then leave out; none: it can.
	Unreadable string `json:"filter_unreadable,omitempty"`
	// It is a replay of this subscription.
	ReplayOf string `json:"replay_of,omitempty"`
	// An operator holds all of it.
	Paused bool `json:"paused,omitempty"`
	// What operators hold of it.
	Pauses []Pause `json:"pauses,omitempty"`
	// How many shards it has.
	Shards int `json:"shards"`
	// How many it is to have.
	Wanted int `json:"shards_wanted"`
	// How many of them a live relay owns.
	Owned int `json:"shards_owned"`
	// How many relays own them.
	Owners int `json:"owners"`
	// About how many messages wait to be read or settled.
	Backlog int64 `json:"backlog"`
	// How many of the backlog the destination has accepted, whose settlement is to come.
	Unsettled int64 `json:"unsettled"`
	// The age of the oldest message that waits to be read or is parked; zero: there
	// is none.
	Oldest float64 `json:"oldest_seconds"`
	// Parked messages by state.
	Parked map[string]int64 `json:"parked"`
	// The states of which there may be more than were counted.
	AtLeast []string `json:"parked_at_least,omitempty"`
	// Why no live relay works it although an operator has given it a destination; none: one does, or nobody gave one.
	Unworked string `json:"unworked,omitempty"`
	// Live relays of version 0.1.0 that work it and know the types of its filter alone, by name: they deliver what the rest
	// refuses; none: there is none, or the filter asks for types alone.
	Older []string `json:"older_relays,omitempty"`
	// How the destination is, as the relays say; none: no relay says.
	Destination *Destination `json:"destination,omitempty"`
	// The topics that do not work, for which messages are held.
	Held []HeldTopic `json:"held,omitempty"`
	// How many messages were delivered since the beginning.
	Delivered int64 `json:"delivered"`
	// How many were discarded since the beginning.
	Discarded int64 `json:"discarded"`
	// How many a newer message of their key has superseded since the beginning.
	Superseded int64 `json:"superseded"`
	// How many commands wait for a relay.
	Queued int64 `json:"commands_queued"`
	// With --watch: how many messages a second were delivered since the last look.
	Rate *float64 `json:"delivered_per_second,omitempty"`
	// The shards.
	Detail []Shard `json:"shard_list"`
}

// Destination is how a destination is in JSON: of several relays, as the one says that
// is worst off.
type Destination struct {
	// closed: messages flow; probing: it is tried; open: it is left alone; held: too many
	// messages wait for topics that do not work, or for the end of pauses.
	State string `json:"state"`
	// For how long.
	Since float64 `json:"since_seconds"`
	// Its last failure since then.
	Error string `json:"error,omitempty"`
	// The relay that says so.
	Relay string `json:"relay"`
}

// HeldTopic is a topic that does not work in JSON.
type HeldTopic struct {
	// The topic.
	Topic string `json:"topic"`
	// How many messages are held for it; those behind them do not count.
	Messages int64 `json:"messages"`
	// For how long it has not worked, as a relay says.
	Since float64 `json:"since_seconds,omitempty"`
	// Why, as a relay says, or as one of the messages does.
	Error string `json:"error,omitempty"`
}

// Shard is the state of a shard in JSON.
type Shard struct {
	// Its slots, from the first to the last.
	Slots string `json:"slots"`
	// The id of the relay that owns it; none: it is free.
	Owner string `json:"owner,omitempty"`
	// It grows when the shard changes hands.
	Token int64 `json:"token"`
	// It grows with each settlement.
	Version int64 `json:"version"`
}

// Relay is the state of a live relay in JSON.
type Relay struct {
	// The relay's id, new at each start.
	ID string `json:"id"`
	// What people call it.
	Name string `json:"name"`
	// How many seconds ago its last heartbeat was; none: it works on nothing.
	Seen *float64 `json:"last_seen_seconds,omitempty"`
	// Seconds until its heartbeat is no longer good.
	Expires float64 `json:"expires_seconds"`
	// The subscriptions that it can work.
	Works []string `json:"works"`
	// How many shards it owns.
	Shards int `json:"shards"`
}

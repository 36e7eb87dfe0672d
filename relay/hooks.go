package relay

import (
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// Hooks are functions that hear what a relay does: for metrics, traces, alarms, copies. Set
// those that you need. A relay takes any number of Hooks (Options.Hooks).
//
// They are called one after the other, in the sequence of what happened, from a goroutine
// of their own. So a slow one holds up other hooks and no message. While 50,000
// events or more wait for them, or 4,096 batches of events, new batches are dropped, and their
// events counted in Stats.HooksDropped. A panic is caught, logged once for each kind of hook,
// and counted in Stats.HookPanics. When Run ends it gives them what waits, for at most
// Options.Grace.
//
// To do something around a call, or to change what is sent, use Subscription.Use and
// Subscription.Render. Errors go to Options.OnError.
type Hooks struct {
	// PageRead hears of each page of the log that was read, or that failed to be read.
	PageRead func(PageEvent)
	// Call hears of each call to a destination when it is over.
	Call func(CallEvent)
	// Message hears of each message of a call when the call is over, after Call.
	Message func(MessageEvent)
	// Settled hears of each settlement that the store has taken: from then on no crash
	// repeats what it says.
	Settled func(ProgressEvent)
	// Parked hears of each row that was written into the parking lot, after Settled.
	Parked func(ParkEvent)
	// Died hears of each message that becomes dead, before that is settled: a message may
	// be told of twice. Of more than a thousand in one step it hears of the first thousand,
	// and Parked of all. Subscription.OnDead hears the same with the payload, from the loop.
	Died func(DeathEvent)
	// Circuit hears when the state of a destination changes.
	Circuit func(CircuitEvent)
	// Lease hears of shards that the relay has from now on, or not any more.
	Lease func(LeaseEvent)
	// Maintained hears of each round of a box's housekeeping that this relay has done.
	Maintained func(MaintenanceEvent)
}

// MessageFacts say which message it is. They never hold its payload or headers.
type MessageFacts struct {
	ID               postbag.ID
	Topic, Key, Type string
	// Seq is its place in the box, and At when the database stored it, by its own clock.
	Seq int64
	At  time.Time
}

// PageEvent is a page of the log that was read.
type PageEvent struct {
	store.Ref
	// Messages is how many came, and Filtered how many of them the filter refuses.
	Messages, Filtered int
	// Took is the time of the round trip, which other subscriptions may share.
	Took time.Duration
	// Err says why the page could not be read. Errors of whole round trips go to OnError.
	Err error
}

// CallEvent is a call to a destination that is over.
type CallEvent struct {
	store.Ref
	// Messages is how many it had. Those below count them by outcome, as Classify has it.
	Messages                                                         int
	Accepted, Rejected, Misconfigured, Unavailable, Unknown, NotSent int
	// Took is how long the destination took, with middleware and rendering.
	Took time.Duration
	// Last is the highest place in the box of those that were accepted. Zero: none was.
	Last int64
	// Acceptances are of the messages that were accepted. They must not be changed.
	Acceptances []Acceptance
	// Err is one error of it, if anything failed.
	Err error
}

// Acceptance is of a message that was accepted.
type Acceptance struct {
	// Age is how long it took from when the message was stored to when it was accepted. The
	// clocks of relay and database are compared at each heartbeat. Zero or more.
	Age time.Duration
	// Attempt is one for the first delivery.
	Attempt int
}

// MessageEvent is what became of a message in a call.
type MessageEvent struct {
	store.Ref
	MessageFacts

	// Attempt is one for the first delivery, and one more for each counted failure.
	Attempt int
	Outcome broker.Outcome
	// Reason is the error, at most 1,024 bytes. Empty if it was accepted.
	Reason string
	// Age is as in Acceptance, of any outcome.
	Age time.Duration
}

// ProgressEvent is a settlement of one shard that the store has taken.
type ProgressEvent struct {
	store.Ref
	// Lo is the first slot of the shard.
	Lo int
	// Delivered, Filtered and Discarded are how many messages are done by it, Parked how
	// many rows it wrote into the parking lot, Resolved how many it took out, and Superseded
	// how many others it ended because a newer message of their key was delivered.
	Delivered, Filtered, Discarded, Parked, Resolved, Superseded int64
	// Took is the time of the round trip, which other shards and subscriptions may share.
	Took time.Duration
}

// ParkEvent is a row in the parking lot that was written.
type ParkEvent struct {
	store.Ref
	// Seq is the message's place in the box.
	Seq      int64
	State    store.ParkState
	Attempts int
	// Delay is how long until the next attempt, of ParkRetrying.
	Delay time.Duration
	// Reason is the last error. Empty: none.
	Reason string
}

// DeathEvent is a message that gets no other attempt.
type DeathEvent struct {
	store.Ref
	MessageFacts

	Attempts int
	// Reason is the last error, or says that the message is too old.
	Reason string
	// Cause is why it gets no other attempt.
	Cause store.DeathCause
}

// CircuitEvent is a change of the state of a destination.
type CircuitEvent struct {
	store.Ref
	// From and To are states as in SubscriptionStats.Circuit.
	From, To string
	// Reason is the latest error of the destination. Empty: none.
	Reason string
}

// LeaseEvent says which shards a relay has gained and lost. What it lost it may have given
// back itself.
type LeaseEvent struct {
	store.Ref

	Gained, Lost []store.Shard
	// Held is how many shards of the subscription it has now.
	Held int
}

// MaintenanceEvent is a round of housekeeping of a box.
type MaintenanceEvent struct {
	Box string
	// Report says what was done.
	store.Report

	Took time.Duration
}

package core

import "github.com/postbag/postbag/internal/engine"

// Operation is what a Core wants carried out.
type Operation struct {
	Kind Kind
	// Flow is what it is about, unless it is about all, or about housekeeping.
	Flow *Flow
	// Beat and Round are to be sent.
	Beat  *Heartbeat
	Round *Round
	// Upkeep is to be done, or ended.
	Upkeep *Upkeep
	// Loading is some shards that are to be loaded, or a lane to be entered for them.
	Loading *Loading
	// Call is to be made, and ID is of one to be ended.
	Call *engine.Call
	ID   int64
	// Due asks for parked messages.
	Due *DueCall
	// Unanswered is how many messages are given up with the calls that are ended.
	Unanswered int
}

// Kind says what an Operation is.
type Kind uint8

// The kinds; the package's page says how each ends.
const (
	// Beat sends a heartbeat.
	Beat Kind = iota
	// Turn settles and reads.
	Turn
	// Check verifies the store.
	Check
	// Load reads the blocked keys of shards that were just taken.
	Load
	// Enter enters the lane of Flow with shards that are all there are.
	Enter
	// Maintain does a round of housekeeping.
	Maintain
	// EndMaintain ends one.
	EndMaintain
	// Send makes Call to the destination.
	Send
	// Try makes Call, of one message, to find out whether the destination works again.
	Try
	// Probe asks the destination's prober that.
	Probe
	// Due reads parked messages that can be tried.
	Due
	// EndCall ends the call ID to the destination, which then has a moment to answer.
	EndCall
	// EndCalls ends all of Flow.
	EndCalls
	// DropLane ends what is under way in the lane of Flow, and closes it.
	DropLane
	// Stopping: a stop has begun.
	Stopping
	// Expired: the heartbeat ran out, and others may own our shards.
	Expired
	// NewIdentity: all was dropped, and the relay has another identity.
	NewIdentity
	// Reshaped: the shards of Flow were replaced.
	Reshaped
	// Vanished: the subscription of Flow is not in the store, and all that it had in hand is dropped.
	// Unanswered messages were sent and not settled.
	Vanished
	// Returned: it is there again.
	Returned
	// Back: what had failed of the store works again.
	Back
)

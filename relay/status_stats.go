package relay

import (
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// Stats is what a relay has done since Run began, and its state now.
type Stats struct {
	// ID is the relay's id in the store; it changes when its heartbeat expired.
	ID string
	// Ready: the store answers and leases are held as they should be.
	Ready bool
	// Relays is how many relays are live, this one among them.
	Relays int
	// Turns, Beats and Faults count round trips to the store and their failures.
	Turns, Beats, Faults int64
	// Graceful: the relay has shut down gracefully. What was accepted is settled, and all
	// leases are given back. It is false while the relay works, and after a stop in which
	// the store did not answer.
	Graceful bool
	// HooksDropped is how many events were not given to Options.Hooks because those were too
	// slow, and HookPanics how often one panicked.
	HooksDropped, HookPanics int64
	Subscriptions            []SubscriptionStats
}

// SubscriptionStats is the state of one subscription on this relay.
type SubscriptionStats struct {
	store.Ref
	// Shards is how many of the subscription's shards this relay holds.
	Shards int
	// Circuit is "closed", "open", "probing", or "held" while so many messages wait
	// for topics that do not work, or for the end of a pause, that nothing is read.
	Circuit string
	// LastError is the latest error of the destination, and empty after a
	// success.
	LastError string
	// AcceptedAt is when a message was last accepted.
	AcceptedAt time.Time

	// What was done since Run began. Messages that were Read, Sent in calls, Accepted and Rejected by the destination, and
	// Unknown, whose answer was lost; that were Parked, are Dead, or were settled as Delivered, Filtered, Discarded or
	// Superseded.
	Read, Sent, Accepted, Rejected, Unknown, Parked, Dead, Delivered, Filtered, Discarded, Superseded int64
	// DeadAttempts, DeadExpired and DeadRejected are the Dead by their store.DeathCause.
	DeadAttempts, DeadExpired, DeadRejected int64
	// Settles counts settlements, Lost those that were refused because the lease was lost, and Opened how often the circuit
	// opened.
	Settles, Lost, Opened int64

	// Unsettled is how many messages were sent and are not answered or not settled, Unsent how many were read and not
	// sent, Chains of how many keys something is known, and Bytes what the messages in hand weigh.
	Unsettled, Unsent, Chains, Bytes int
	// Topics is how many topics do not work, and Held how many messages wait for such, or
	// for the end of a pause.
	Topics, Held int
	// Pauses are those in force, as of the last heartbeat.
	Pauses Pauses
	// UnsettledLimit, HeldLimit and BytesLimit are the most that Unsettled, Held and Bytes are
	// to be: InFlight, MaxHeld and Buffer of the subscription, with their defaults.
	UnsettledLimit, HeldLimit, BytesLimit int
	// Throttled is the time in which only Rate kept messages from being sent.
	Throttled time.Duration
}

func subscriptionStats(f *flow) SubscriptionStats {
	n := f.Engine.Stats()
	unsettled, held, bytes := f.Engine.Limits()
	return SubscriptionStats{
		Ref: f.Ref, Shards: len(f.Engine.Leases()), Circuit: f.state(), LastError: f.lastError, AcceptedAt: f.acceptedAt,
		Read: n.Read, Sent: n.Sent, Accepted: n.Accepted, Rejected: n.Rejected, Unknown: n.Unknown, Parked: n.Parked, Dead: n.Dead,
		Delivered: n.Delivered, Filtered: n.Filtered, Discarded: n.Discarded, Superseded: n.Superseded, Settles: n.Settles, Lost: n.Lost, Opened: n.Opened,
		Unsettled: n.Unsettled, Unsent: n.Unsent, Chains: n.Chains, Bytes: n.Bytes, Topics: n.Topics, Held: n.Held,
		DeadAttempts: n.DeadBy[store.CauseAttempts], DeadExpired: n.DeadBy[store.CauseExpired], DeadRejected: n.DeadBy[store.CauseRejected],
		UnsettledLimit: unsettled, HeldLimit: held, BytesLimit: bytes,
		Throttled: n.Throttled, Pauses: pausesOf(f),
	}
}

func circuitName(c engine.CircuitState) string {
	switch c {
	case engine.Open:
		return "open"
	case engine.Probing:
		return "probing"
	default:
		return "closed"
	}
}

// stats is called by the loop, or after it has ended.
func (l *loop) stats() Stats {
	s := Stats{
		ID: l.core.ID(), Ready: l.ready(), Relays: l.core.Relays(),
		Turns: l.core.Turns(), Beats: l.core.Beats(), Faults: l.core.Faults(), Graceful: l.core.Left(),
	}
	s.HooksDropped, s.HookPanics = l.hooks.counts()
	for _, f := range l.flows {
		s.Subscriptions = append(s.Subscriptions, subscriptionStats(f))
	}
	return s
}

func (l *loop) ready() bool { return l.core.Viewed() && l.core.Well() && !l.core.Stops() }

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
	// HandedOver: the relay has ended, what was accepted is settled, and all leases
	// are given back.
	HandedOver    bool
	Subscriptions []SubscriptionStats
}

// SubscriptionStats is the state of one subscription on this relay.
type SubscriptionStats struct {
	store.Ref
	// Shards is how many of the subscription's shards this relay holds.
	Shards int
	// Circuit is "closed", "open", "probing", or "held" while so many messages wait
	// for topics that do not work that nothing is read.
	Circuit string
	// LastError is the latest error of the destination, and empty after a
	// success.
	LastError string
	// Accepted is when a message was last accepted.
	Accepted time.Time
	engine.Stats
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
		ID: l.id, Ready: l.ready(), Relays: l.relays,
		Turns: l.turns, Beats: l.beats, Faults: l.faults, HandedOver: l.left,
	}
	for _, f := range l.flows {
		s.Subscriptions = append(s.Subscriptions, SubscriptionStats{
			Ref: f.ref, Shards: len(f.core.Leases()), Circuit: f.state(),
			LastError: f.lastError, Accepted: f.acceptedAt, Stats: f.core.Stats(),
		})
	}
	return s
}

func (l *loop) ready() bool { return l.viewed && l.storeFault == 0 && !l.stopping }

package simulation

import (
	"fmt"
	"strings"
)

// Faults is a set of kinds of fault.
type Faults uint64

// The kinds of fault.
const (
	// Rollbacks and the five behind it are of producers' transactions.
	Rollbacks Faults = 1 << iota
	Savepoints
	Strangers
	LongTransactions
	UnknownCommits
	Deadlocks

	// LostRequests and the four behind it are of calls to the store.
	LostRequests
	LostAnswers
	SlowCalls
	HungCalls
	BadReads

	// StoreClock and the four behind it are of the store.
	StoreClock
	Crashes
	FailOvers
	Restores
	Moves

	// Rejects and the nine behind it are of the broker.
	Rejects
	Silence
	Lies
	LateDeliveries
	Closes
	Unroutable
	Blocked
	Throttled
	SlowAnswers
	Wipes

	// Pauses and the three behind it are of relays.
	Pauses
	Kills
	Stops
	RelayClocks

	// Commands and the three behind it are of operators.
	Commands
	Holds
	Reshapes
	Policies

	// Prepared is of producers' transactions too: prepared, and ended by a second phase
	// that may come long after.
	Prepared
	// Sequences and GrowingIDs are what a broker keeps a repeat out by, as a Kafka topic
	// and a Redis stream do; they last when faults end.
	Sequences
	GrowingIDs

	// Topics fail one at a time, for a while, and the broker takes all others.
	Topics

	// Breakers are messages that break each call that they are in: the connection is
	// cut, or a handler panics.
	Breakers

	// Damage is of rows: they cannot be read whole until an operator has repaired them.
	Damage

	// Emptied logs have their numbering begun again, by their owner's hand.
	Emptied

	// Housekeeping is done by relays, and fails now and then.
	Housekeeping

	// Drains are relays that end when they have delivered all they can.
	Drains

	// Unshaped changes of shards take the store longer than a heartbeat may take.
	Unshaped

	// Retries are rules of a subscription: pauses and ages by type, and an end at once.
	Retries

	// Rates bound what is sent. They last when faults end.
	Rates

	// ScopedHolds are pauses of a key, a topic, a type, a destination or the subscription,
	// with an end or without.
	ScopedHolds

	// Filters are changed while messages are read.
	Filters
	// Removals are of the subscription, which is declared again after a while.
	Removals

	// Superseding is a policy: what was rejected ends once a newer message of its key was delivered.
	Superseding

	// Settings of the policy are set and reset by operators.
	Settings

	// UnreadableFilters are of a later version, and older relays cannot read them.
	UnreadableFilters

	// Replays send messages again that the log holds, beside all else. Each ends by itself, or by an operator's hand.
	Replays

	faultsEnd
)

// EarlierFaults are those that there were before [Prepared]: of these alone, seeds that
// were found then draw what they drew.
const EarlierFaults = Prepared - 1

// AllFaults is all of them.
const AllFaults = faultsEnd - 1

var faultNames = [...]string{
	"rollbacks", "savepoints", "strangers", "long-transactions", "unknown-commits", "deadlocks",
	"lost-requests", "lost-answers", "slow-calls", "hung-calls", "bad-reads",
	"store-clock", "crashes", "fail-overs", "restores", "moves",
	"rejects", "silence", "lies", "late-deliveries", "closes", "unroutable", "blocked", "throttled", "slow-answers", "wipes",
	"pauses", "kills", "stops", "relay-clocks",
	"commands", "holds", "reshapes", "policies",
	"prepared", "sequences", "growing-ids",
	"topics", "breakers", "damage", "emptied", "housekeeping", "drains", "unshaped", "retries", "rates", "scoped-holds", "filters", "removals", "supersede", "settings", "unreadable-filters", "replays",
}

func (f Faults) has(k Faults) bool { return f&k != 0 }

// each calls do for every kind in f.
func (f Faults) each(do func(i int, k Faults)) {
	for i := range faultNames {
		if k := Faults(1) << i; f.has(k) {
			do(i, k)
		}
	}
}

// String returns the names, with commas between: "none", "all", or as ParseFaults
// reads them.
func (f Faults) String() string {
	if f == 0 {
		return "none"
	}
	if f == AllFaults {
		return "all"
	}
	var names []string
	f.each(func(i int, _ Faults) { names = append(names, faultNames[i]) })
	return strings.Join(names, ",")
}

// ParseFaults reads a list of names: "none", "all", or the names of kinds with
// commas between. One with a minus before it is left out of all.
func ParseFaults(s string) (Faults, error) {
	var out Faults
	for i, name := range strings.Split(s, ",") {
		name, without := strings.CutPrefix(strings.TrimSpace(name), "-")
		k, err := faultOf(name)
		switch {
		case err != nil:
			return 0, err
		case without && i == 0:
			out = AllFaults &^ k
		case without:
			out &^= k
		default:
			out |= k
		}
	}
	return out, nil
}

func faultOf(name string) (Faults, error) {
	switch name {
	case "none":
		return 0, nil
	case "all":
		return AllFaults, nil
	}
	for i, n := range faultNames {
		if n == name {
			return 1 << i, nil
		}
	}
	return 0, fmt.Errorf("simulation: there is no fault %q; use all, none, or some of %s", name, strings.Join(faultNames[:], ", "))
}

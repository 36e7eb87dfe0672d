package operations

import (
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// States are all states of messages.
func States() []store.State {
	return append(ParkedStates(), store.StatePending, store.StateDelivered, store.StateDiscarded, store.StateSuperseded, store.StateFiltered, store.StateScheduled)
}

// ParkedStates are those of messages that have failed, or wait behind one that has.
func ParkedStates() []store.State {
	return []store.State{store.StateDead, store.StateRetrying, store.StateBlocked, store.StateInFlight, store.StateHeld}
}

// CommandStates are the states of messages that take a command. A retry of what is only pending means nothing; see
// docs/design/074-no-retry-of-pending-messages.md.
func CommandStates(kind store.CommandKind) []store.State {
	if kind == store.Discard {
		return append(ParkedStates(), store.StatePending, store.StateScheduled)
	}
	return append(ParkedStates(), store.StateScheduled)
}

// Choice says which messages of a subscription a command is for.
type Choice struct {
	store.Ref
	Kind store.CommandKind
	// IDs are the messages; or else Query chooses them. A query without a state is about dead messages.
	IDs   []postbag.ID
	Query store.Query
	// Only: messages that IDs name and that are in another state are ErrNotFound. Empty: in any that takes the command.
	Only store.State
	// All: the query may choose all messages of its state.
	All bool
	// Filter is Query in the words of the one who gave it, for the audit log. Empty with IDs.
	Filter string
}

// ErrNoChoice is ErrInvalid, and says that a choice names no messages: nothing is not everything, which has to be said with All.
var ErrNoChoice error = &refusal{ErrInvalid, "no messages are chosen; name ids, say what the messages have in common, or say that all are meant"}

// Check says what is wrong with a choice by itself. Nothing is chosen: ErrNoChoice.
func (c *Choice) Check() error {
	narrow := narrows(&c.Query)
	switch {
	case len(c.IDs) > 0 && (narrow || c.All || c.Query.State != ""):
		return refusef(ErrInvalid, "ids and other selections are both given; use one of them")
	case len(c.IDs) == 0 && !narrow && !c.All:
		return ErrNoChoice
	}
	return Takes(c.Kind, c.Query.State)
}

// noRetryOfPending says why, and what to look at: docs/design/074-no-retry-of-pending-messages.md.
const noRetryOfPending = "a pending message has nothing to retry: it goes out in its turn, as soon as its destination takes messages; postbag status says what it waits for"

// Takes says whether messages of a state take a command. No state is none that could be wrong.
func Takes(kind store.CommandKind, state store.State) error {
	switch {
	case state == "" || slices.Contains(CommandStates(kind), state):
		return nil
	case state == store.StatePending:
		return refusef(ErrInvalid, "%s", noRetryOfPending)
	}
	return refusef(ErrInvalid, "a message that is %.20q takes no %s; choose another state", state, CommandName(kind))
}

// narrows says whether a query selects less than all messages of its state.
func narrows(q *store.Query) bool {
	return !q.ID.IsZero() || q.Topic != "" || q.Key != "" || len(q.AllTypes()) > 0 || q.Error != "" || !q.After.IsZero() || !q.Before.IsZero()
}

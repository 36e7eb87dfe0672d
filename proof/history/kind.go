package history

import (
	"fmt"
	"slices"
	"strconv"
)

// Fate is what became of a transaction.
type Fate uint8

// The fates of a transaction.
const (
	// Unknown: the answer was lost, or never recorded. Its messages may be delivered, all or none.
	Unknown Fate = iota
	Committed
	RolledBack
)

// State is what a store holds of a message.
type State uint8

// The states of a message in a store.
const (
	Absent  State = iota // not there, or settled
	Pending              // to be sent, now or when it is due
	Parked               // waits to be tried again, or behind another one of its key
	Dead                 // given up, for an operator to decide
)

// Action is what an operator commanded.
type Action uint8

// The commands of an operator.
const (
	Retry   Action = iota
	Discard        // of a message that is parked or dead
	Cancel         // of a scheduled message: once it is answered the message must not arrive
)

// Pause is the kind of a Gap.
type Pause uint8

// The kinds of gaps.
const (
	Takeover Pause = iota // a relay died, and others take its shards
	Resume                // a fault ended
)

// Harm is the kind of a Watch.
type Harm uint8

// What is watched for.
const (
	OpenTransaction Harm = iota // a relay's transaction was open while the relay spoke to its destination
	LockWait                    // a producer waited for a lock that a relay held
	BurnedAttempts              // the store was asked which attempts it counts; those that it does are recorded as Stored
)

// Effects is what is promised of the effects of messages.
type Effects uint8

// What can be promised of effects.
const (
	// NoEffects: they were not recorded, or not all. Those that were are judged by what there must not be: a second effect, or one of a
	// message that nobody published.
	NoEffects Effects = iota
	// OnceEach: each committed message has its effect exactly once.
	OnceEach
	// OnceInOrder: and the effects of a key stand in the order of its commits.
	OnceInOrder
)

var (
	fates   = []string{"unknown", "committed", "rolled back"}
	states  = []string{"absent", "pending", "parked", "dead"}
	actions = []string{"retry", "discard", "cancel"}
	pauses  = []string{"takeover", "resume"}
	effects = []string{"none", "once", "order"}
	harms   = []string{"open transaction", "lock wait", "burned attempts"}
)

func word(words []string, n uint8) string {
	if int(n) < len(words) {
		return words[n]
	}
	return "no. " + strconv.Itoa(int(n))
}

func (f Fate) String() string    { return word(fates, uint8(f)) }
func (s State) String() string   { return word(states, uint8(s)) }
func (a Action) String() string  { return word(actions, uint8(a)) }
func (p Pause) String() string   { return word(pauses, uint8(p)) }
func (h Harm) String() string    { return word(harms, uint8(h)) }
func (e Effects) String() string { return word(effects, uint8(e)) }

// MarshalText is String.
func (f Fate) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// MarshalText is String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText is String.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// MarshalText is String.
func (p Pause) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// MarshalText is String.
func (h Harm) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// MarshalText is String.
func (e Effects) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads what String writes.
func (e *Effects) UnmarshalText(text []byte) error {
	i := slices.Index(effects, string(text))
	if i < 0 {
		return fmt.Errorf("history: no promise about effects is called %q; write one of %q", text, effects)
	}
	*e = Effects(i)
	return nil
}

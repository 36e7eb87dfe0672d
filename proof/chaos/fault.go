package chaos

import (
	"context"
	"math/rand/v2"
	"time"
)

// Fault is a kind of fault: a line of the table of what can go wrong.
type Fault struct {
	// Name says what happens, in lower case: "cut of the database".
	Name string
	// Room is where it happens. Faults of one room come one after another, those of different rooms at the same time too.
	Room Room
	// Least and Most bound how long it lasts. Zero: it is over when Begin returns.
	Least, Most time.Duration
	// Throughout: it begins with the run and ends with it, beside all others.
	Throughout bool
	// Repeats is how many relays it may make send again what they had in flight.
	Repeats Repeats
	// Stops: nothing is delivered while it lasts, so that how soon something is after it is measured.
	Stops bool
	// Topic is the only one that it breaks, of a place that is Branched: its messages are held, all others go on. Empty: it breaks
	// more, or something else.
	Topic string
	// Wipes: it takes away what the broker had accepted. It does not come where that is taken in.
	Wipes bool
	// Outbox: it concerns the outbox alone. It does not come in a run of an inbox.
	Outbox bool
	// Begin makes it happen. end, which may be nil, ends it, and returns when what was broken can be used again.
	Begin func(ctx context.Context, s *Strike) (end func(context.Context) error, err error)
}

// Room is where a fault happens.
type Room string

// The rooms.
const (
	Processes      Room = "process"
	DatabaseWire   Room = "wire to the database"
	BrokerWire     Room = "wire to the broker"
	Databases      Room = "database"
	Brokers        Room = "broker"
	OperatorOrders Room = "operator"
)

// Repeats is a number of relays.
type Repeats int

// The numbers.
const (
	// NoRelay: it explains no duplicate.
	NoRelay Repeats = iota
	// OneRelay: what one relay had in flight may come twice.
	OneRelay
	// EveryRelay: what each had.
	EveryRelay
)

// Strike is one occurrence of a fault.
type Strike struct {
	// Rand makes its choices, from the seed.
	Rand *rand.Rand
	// For is how long it shall last.
	For time.Duration

	run   *run
	notes []string
	idle  bool
}

// Note adds something to the report's line of the strike.
func (s *Strike) Note(text string) { s.notes = append(s.notes, text) }

// Idle adds to the report's line why the fault had no effect, such as that nothing went over a wire. It is counted apart from those
// that had one.
func (s *Strike) Idle(text string) {
	s.Note(text)
	s.idle = true
}

// Pause lets time pass, or returns ctx's error.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Until asks every few milliseconds whether something is so, until it is or ctx ends.
func Until(ctx context.Context, is func() bool) error {
	for !is() {
		if err := Pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

package chaos

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/source"
)

// A run of an inbox goes the other way, and its pair begins with the broker: producers publish straight to the broker, and consumers
// take the messages in and apply them, each with a row in a table of effects. At the end that table must have each message once, and
// those of a key in the order in which they were published.

// Taker is implemented by a Broker that messages can be taken in from in order.
type Taker interface {
	// CanTake says whether they can: an adapter may have places from which they cannot.
	CanTake() bool
	// Take opens a source of the topic, as one of the members of a group. dsn is that of the Place.
	Take(ctx context.Context, dsn string) (source.Source, error)
}

// Applier is implemented by a Store that has an inbox. Its Start makes the table of effects, without a rule that keeps a second row of
// a message out.
type Applier interface {
	// Consume takes messages in and applies them until ctx ends. It closes the source, also if it fails.
	Consume(ctx context.Context, dsn string, c *Consumption) error
	// Effects calls each for all rows of the table of effects, and ends with its first error. dsn is that of Operators.
	Effects(ctx context.Context, dsn string, each func(e Effect) error) error
}

// Consumers is the role of the processes that take messages in. They connect to the database as Relays.
const Consumers Role = "consumer"

// ConsumerName is the name by which consumers mark messages.
const ConsumerName = "chaos"

// Consumption is what a consumer has to do.
type Consumption struct {
	// Source is where the messages come from.
	Source source.Source
	// Logger is the consumer's.
	Logger *slog.Logger

	clock *history.Clock
}

// Effect is a row of the table of effects.
type Effect struct {
	// Position is drawn by the database when the row is written: the later one of a key has the greater one.
	Position int64
	// ID is the message's id as text, Key its key. Sum is a hash of all that must arrive as it was sent, as text.
	ID, Key, Sum string
	// At is when the handler was at work, on the clock of the run.
	At time.Duration
}

// Effect returns the row that a message leaves, up to its position. Call it in the handler.
func (c *Consumption) Effect(m *inbox.Message) Effect {
	return Effect{ID: m.ID.String(), Key: m.Key, Sum: sumOf(m.Key, m.Headers, m.Payload).String(), At: c.clock.Now()}
}

// errFirst is the error of a handler that has written its row already.
var errFirst = errors.New("chaos: the handler fails on purpose, at the first attempt")

// After is what the handler does when it has written the row: for some messages it takes its time, and of some it fails at the first
// attempt, so that the row must not stay.
func (*Consumption) After(ctx context.Context, m *inbox.Message) error {
	if m.Attempt == 1 && m.ID[14] == 0 {
		return errFirst
	}
	if m.ID[15]%8 > 0 {
		return nil
	}
	return Pause(ctx, 5*time.Millisecond)
}

// takes says whether there are runs of an inbox from a broker to a store.
func takes(s Store, b Broker) bool {
	_, applies := s.(Applier)
	taker, taken := b.(Taker)
	return applies && taken && taker.CanTake()
}

// Junction is implemented by a Taker that can have relays before it and consumers behind it: both topics of its Place have one order,
// and who reads what lies there takes nothing away.
type Junction interface {
	Taker
	Joins() bool
}

// joins says whether there are runs of an outbox and an inbox with a broker between them.
func joins(b Broker, sink Store) bool {
	j, is := b.(Junction)
	return is && j.Joins() && takes(sink, b)
}

// pair is what the options call the pair.
func (o *Options) pair() string {
	if o.Sink != nil {
		return o.Store.Name() + "-" + o.Broker.Name() + "-" + o.Sink.Name()
	}
	if o.Inbox {
		return o.Broker.Name() + "-" + o.Store.Name()
	}
	return o.Store.Name() + "-" + o.Broker.Name()
}

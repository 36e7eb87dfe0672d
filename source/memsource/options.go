package memsource

import (
	"time"

	"github.com/postbag/postbag/source"
)

// Options make a broker. The zero Options make a queue: messages have no order, and each is
// acked by itself. Every value of them has a meaning, so that New cannot fail.
type Options struct {
	// Name is the topic, what partitions are named after, and Place.Source. Defaults to
	// "memory".
	Name string
	// Order is declared and kept. With OrderStream there is one partition. One that is not
	// known is taken for OrderNone.
	Order source.Order
	// Partitions is how many there are. A key decides the partition. Zero or less: one.
	Partitions int
	// Cumulative makes it a broker that keeps a position for each partition, if it has an
	// order: what was acked behind a gap comes again when the assignment ends.
	Cumulative bool
	// NoPlaces and NoCounts leave out Place and Deliveries.
	NoPlaces, NoCounts bool
	// AckWait is declared and kept. Zero or less: a message may be at work for ever.
	AckWait time.Duration
	// MaxUnacked is declared and kept, for each source. Zero or less: no limit.
	MaxUnacked int
	// MaxMessages is how many messages the broker holds. Publish refuses more. Zero or
	// less: 100,000.
	MaxMessages int
	// Fail is called before each Fetch, Ack, Extend, Release and Close takes effect, and
	// before each attempt of a Fetch that waits. If it returns an error, the call returns
	// that, and nothing has happened; a Close closes the source all the same. It is called
	// from several goroutines, and must not call the broker or a source. Nil: nothing
	// fails.
	Fail func(op Op, s *Source) error
	// Clock is the broker's. Defaults to that of the machine.
	Clock Clock
}

// Op names a call.
type Op string

// The calls that Options.Fail can make fail.
const (
	OpFetch   Op = "fetch"
	OpAck     Op = "ack"
	OpExtend  Op = "extend"
	OpRelease Op = "release"
	OpClose   Op = "close"
)

// Clock tells the time, and waits. It is safe for concurrent use.
type Clock interface {
	Now() time.Time
	// After sends the time when d has passed. Only the receiver keeps the channel.
	After(d time.Duration) <-chan time.Time
}

type machineClock struct{}

func (machineClock) Now() time.Time                         { return time.Now() }
func (machineClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

func (o Options) filled() Options {
	if o.Name == "" {
		o.Name = "memory"
	}
	if o.Order < source.OrderNone || o.Order > source.OrderStream {
		o.Order = source.OrderNone
	}
	if o.Partitions < 1 || o.Order == source.OrderStream {
		o.Partitions = 1
	}
	o.Cumulative = o.Cumulative && o.Order != source.OrderNone
	o.AckWait, o.MaxUnacked = max(o.AckWait, 0), max(o.MaxUnacked, 0)
	if o.MaxMessages < 1 {
		o.MaxMessages = 100_000
	}
	if o.Clock == nil {
		o.Clock = machineClock{}
	}
	return o
}

package source

import (
	"context"
	"time"
)

// Extender is implemented by a source whose messages have an ack wait
// (Features.AckWait), if it can be made longer while they are at work.
type Extender interface {
	// Extend says that these messages are still at work: their ack wait begins again. Call
	// it after a third of AckWait or so. lost is how many were taken away from this source
	// meanwhile, as for Ack. Receipts that were acked are left out. Errors are as for Ack;
	// after one, call again, or let the messages come again.
	Extend(ctx context.Context, receipts []Receipt) (lost int, err error)
}

// Pauser is implemented by a source that can leave out single partitions. It is safe for
// concurrent use, and does no I/O.
type Pauser interface {
	// Pause makes Fetch return no message of these partitions, from the next call on, until
	// Resume. Their acks work. A Fetch that waits may still return one. The partitions stay
	// this source's. A loss ends the pause. A partition that the source does not have is
	// left out.
	Pause(partitions ...Partition)
	// Resume ends the pause of these partitions, and wakes a Fetch that waits. To resume
	// what is not paused is harmless.
	Resume(partitions ...Partition)
}

// Lagger is implemented by a source that can tell how far its group is behind.
type Lagger interface {
	// Lag returns one entry for each partition that this source has, or one for all if the
	// broker knows no better. It asks the broker, bounded by ctx. Errors are as for Fetch.
	Lag(ctx context.Context) ([]Lag, error)
}

// Lag is how far a group is behind in a partition.
type Lag struct {
	Partition Partition
	// Messages is how many messages are not acked yet, those at work included. Negative:
	// not known.
	Messages int64
	// Age is how long ago the oldest of them was sent or stored, by the broker's times and
	// this machine's clock. Zero if there is none. Negative: not known.
	Age time.Duration
}

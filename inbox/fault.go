package inbox

import (
	"errors"
	"fmt"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store"
)

// FailedHeader is a header of messages that a [Consumer] has parked because its handler did not
// apply them. It says why. No sender and no publisher can set it. Unlike store.FaultHeader it is
// no fault: the message is whole, and a relay delivers it as any other. A handler behind a
// [Destination] finds it in Message.From alone, so that it can publish Message.Headers again.
const FailedHeader = store.FailedHeader

// FaultPolicy says what a Receiver does with a message that it cannot store as it is.
type FaultPolicy int

const (
	// ParkFaults stores what fits of the message, with the fault as its reason
	// (store.FaultHeader), and acknowledges it. The relay does not send it: it is shown
	// among the parked and the dead, where an operator sees and discards it. What becomes of a
	// payload that is too large, ReceiverOptions.TooLarge says. A message whose key a box by
	// number refuses keeps its key, and gets a number as its shard key.
	ParkFaults FaultPolicy = iota
	// StopOnFaults ends Run with the fault as its error. The message is not acknowledged,
	// nor is what came after it. A message whose mark is there is acknowledged, as with
	// StopIfTooLarge.
	StopOnFaults
)

// SizePolicy says what becomes of a message whose payload is too large: most of it can be kept
// nowhere but in the broker.
type SizePolicy int

const (
	// StopIfTooLarge ends Run with an error that names the message. It is not acknowledged, nor
	// is what came after it in its partition. A message whose mark is there is acknowledged: it was
	// taken in before, and its acknowledgement was lost.
	StopIfTooLarge SizePolicy = iota
	// KeepHead stores the first 4 KiB of the payload. The fault (store.FaultHeader) has the size
	// and the SHA-256 of all of it. The message is acknowledged. A payload that the source has left
	// out (source.ErrTooLarge) has no head: only the fault is stored then.
	KeepHead
)

// valid refuses a policy that there is not.
func (p SizePolicy) valid(options string) error {
	if p != StopIfTooLarge && p != KeepHead {
		return fmt.Errorf("inbox: %s.TooLarge is %d; give StopIfTooLarge or KeepHead", options, p)
	}
	return nil
}

// stops returns the error that ends Run, because most of the item's payload would be lost. It is nil if there is no such reason.
func (p SizePolicy) stops(it *item, options string) error {
	leftOut := errors.Is(it.from.Err, source.ErrTooLarge) // by the source, which says how large it is
	switch {
	case p != StopIfTooLarge || !it.cut && !leftOut:
		return nil
	case leftOut:
		return fmt.Errorf("%w; have its sender make it smaller, or have the message stored without its payload: set %s.TooLarge to KeepHead, and in a file too_large: head",
			it.from.Err, options)
	}
	return fmt.Errorf("%w: %d bytes; have its sender make it smaller, or have its head and its hash stored: set %s.TooLarge to KeepHead, and in a file too_large: head",
		errTooLarge, len(it.from.Payload), options)
}

var errTooLarge = errors.New("the payload is too large for the box")

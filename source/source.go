package source

import (
	"context"
	"time"
)

// Source is one member of a group that takes messages from a broker. One goroutine calls
// Fetch. All other methods are safe for concurrent use, also beside a Fetch that waits.
//
// What only some sources can do is in interfaces of their own: Extender, Pauser and
// Lagger. A source implements them with its methods; a type assertion finds them.
//
// Errors are of four classes: ErrUnavailable, ErrMisconfigured, ErrClosed, and the error
// of a context that ended (context.Cause). errors.Is tells them apart. An error that is
// none of them counts as ErrUnavailable. No error quotes a payload, key, header value or
// credential.
type Source interface {
	// Fetch waits until there is a message or a partition was lost, and returns at once
	// what there is of both, within limits. It does not wait to fill a batch. A
	// partition that is in Lost was lost before the messages of the same batch came:
	// those of it belong to a new assignment. Each loss is told once, and only of
	// partitions of which a message was returned since the last one.
	//
	// Payload, headers and slices of a batch belong to the caller. The source never
	// reads, changes or reuses them.
	//
	// If the error is not nil, the batch is empty. If ctx has ended, or ends while nothing
	// has come, the error is that of ctx; what arrives at that moment is kept for the next
	// call.
	// ErrUnavailable: the broker is away; call again after a pause, and go on with what
	// is at work, its acks may still count. ErrMisconfigured: it comes again until
	// somebody changes the settings, here or at the broker; say so, and call again after
	// a longer pause, or stop. ErrClosed: after Close, also if it began meanwhile.
	// ErrBusy: another Fetch waits; nothing was taken.
	//
	// The source may read ahead, within a bound that its options say. What it has read
	// and not returned is not at work, and goes back to the group when the source is
	// closed. If Features.MaxUnacked messages are at work, Fetch waits until one is not. A
	// source may hold a partition back while thousands of its messages are acked behind
	// one that is not.
	Fetch(ctx context.Context, limits Limits) (Batch, error)

	// Ack says that the messages of these receipts are done, and must not come again. The
	// source acks those and no others, in whatever sequence it is told. If the broker only
	// knows a position, or wants acks in sequence, the source works that out, and waits
	// with those that are behind a gap.
	//
	// Ack may return before the broker knows. The source then sends the acks by itself,
	// within a second if the broker can be reached, and at the latest in Close.
	//
	// lost is how many of the messages had been taken away from this source: their
	// partition was lost, their ack wait ran out, or they were released. They come again,
	// here or elsewhere. That is no error: their marks drop them. All that a Fetch has
	// said to be lost is counted. A source that cannot tell of an ack wait counts none of
	// those. A receipt that was acked before changes nothing; while its assignment lasts,
	// it is not counted.
	//
	// After an error it is not known of any of the receipts whether its ack will reach the
	// broker. To call again with the same receipts is harmless, and so is to leave it.
	// After Close the error is ErrClosed.
	Ack(ctx context.Context, receipts []Receipt) (lost int, err error)

	// Release gives messages back that are at work: they come again, not before after has
	// passed, to any member of the group. Zero or less: at once. If the process dies
	// meanwhile, they can come earlier. Messages that are not at work any more are left
	// out.
	//
	// If the source has an order, Release ends the assignment of each partition of these
	// messages. The next Fetch names it in Lost. The partition goes on after that time
	// with the earliest message that is not acked. Without an order nothing but these
	// messages is concerned.
	//
	// After an error it is not known which were given back. To call again is harmless.
	// After Close the error is ErrClosed.
	Release(ctx context.Context, receipts []Receipt, after time.Duration) error

	// Features says what the source can do. It never changes after the first call, and
	// does no I/O.
	Features() Features

	// Close ends a Fetch that waits, sends the acks that are outstanding, gives back what
	// was not acked, so that others get it at once and not after a time, leaves the group,
	// and frees what the source itself opened. A client of the caller stays open. It does
	// not wait for messages that are at work: finish and ack them first. A broker that keeps
	// what it sent for one member (MQTT) gives it to the next source of that name.
	//
	// It waits no longer than ctx. An error says that acks may not have arrived, or that
	// what was at work may come late. The source is closed all the same. Calling it twice,
	// or from several goroutines, is harmless: each call waits for the same end.
	Close(ctx context.Context) error
}

// Limits bound one batch. A field that is zero or less: the source decides.
type Limits struct {
	// Messages is how many messages a batch has at most.
	Messages int
	// Bytes is how many bytes all its messages have together at most: payloads, keys,
	// names and values of headers. One message is always returned, however large.
	Bytes int
	// Payload is the largest payload that the caller takes, in bytes. A message with a
	// larger one comes without payload, and its Err is ErrTooLarge, with both sizes. So
	// does one that is larger than the source itself takes, whatever this says.
	Payload int
}

// Batch is what a Fetch returned.
type Batch struct {
	// Lost names partitions that this source had and has no more, each once. The messages
	// of earlier batches that are at work there come again, to anybody. Acks of them count
	// as lost.
	Lost []Partition
	// Messages came, those of a partition in its order.
	Messages []Message
}

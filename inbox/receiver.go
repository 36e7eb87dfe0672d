package inbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
	"github.com/postbag/postbag/store"
)

// Store is what a [Receiver] needs of a store: to write messages, and to mark them, in
// transactions Tx. All of Postbag's stores have it.
type Store[Tx any] interface {
	postbag.Appender[Tx]
	store.Inbox[Tx]
}

// Receiver takes messages from a source into a box: the durable inbox. It stores what a
// Fetch returns in one transaction, with a mark for each message, and acknowledges when
// that has committed. So a message that the broker delivers again is not stored again, and
// none is acknowledged that is not stored. From the box a relay works the messages, with
// all that an outbox has: order per key, retries, parking, commands.
//
// Messages of a partition are stored in the partition's order. Make it with [NewReceiver].
type Receiver[Tx any] struct {
	o     ReceiverOptions[Tx]
	rules *postbag.Publisher[int]
	log   *slog.Logger

	intake intake
	stower stower[Tx]

	acks *trouble // of Ack and Extend, which this one calls in turn

	fetched, stored, repeated, faulty, lost, failedAcks, failedExtends, lostPartitions atomic.Int64
}

// ReceiverOptions say what a Receiver takes in, and where to. Store and Source are needed.
type ReceiverOptions[Tx any] struct {
	// Store has the box, and the marks.
	Store Store[Tx]
	// Source is where messages come from. Open one for each Receiver. The Receiver does not
	// close it: do that after Run, so that what it acknowledged reaches the broker.
	Source source.Source
	// Box is where messages go; the store must have it. See postbag.ValidBox. Defaults to
	// "inbox".
	Box string
	// Consumer is the name under which messages are marked. Receivers that fill one box from
	// one stream of messages have one name. Defaults to Box.
	Consumer string
	// IDs find the id of a message, by which it is marked. Defaults to
	// sourcekit.DefaultIDsFor, for the source's binding.
	IDs sourcekit.IDs
	// Keys find the key of a message, by which it is ordered. Defaults to
	// sourcekit.DefaultKeys, for the source's binding.
	Keys sourcekit.Keys
	// Edit is called for each message with what the box will hold. It may change everything
	// but the ID. Properties of a transport (broker.IsProperty) are not among the headers of
	// out, so that senders cannot set them. Copy those that they may set from the headers of
	// from. The error is a fault of the message, and says what to do about it: see Faults. It
	// must be safe for concurrent use, and the same for each delivery of a message. Defaults
	// to nothing.
	Edit func(out *postbag.Message, from *source.Message) error
	// SumOff marks ids without a hash of the payload. By default an id that comes with
	// another payload is a fault.
	SumOff bool
	// Faults says what becomes of a message that no box can hold as it is, or that has no
	// id. Defaults to ParkFaults.
	Faults FaultPolicy
	// TooLarge says what becomes of a message whose payload is larger than MaxSize, or than
	// the store takes. StopOnFaults stops at it in any case. Defaults to StopIfTooLarge, since
	// the rest of the payload would be nowhere once the broker has forgotten it.
	TooLarge SizePolicy
	// MaxSize is the largest payload, in bytes. A larger one is too large. It is at most
	// postbag.MaxPayload, which is the default.
	MaxSize int
	// Messages and Bytes bound a batch, which is one transaction. Default to 500, and 4 MiB.
	// One message is always taken.
	Messages, Bytes int
	// Grace is how long a batch may take when Run is to end. Defaults to 10 s.
	Grace time.Duration
	// Logger gets one line for each change of state. Defaults to slog.Default().
	Logger *slog.Logger
	// OnError is called with each error of source and store, and each fault. It must return
	// soon. Optional.
	OnError func(error)
}

// Defaults of ReceiverOptions.
const (
	defaultBox   = "inbox"
	defaultGrace = 10 * time.Second
)

// NewReceiver returns a receiver. It does no I/O. The error names all bad options at once.
func NewReceiver[Tx any](o ReceiverOptions[Tx]) (*Receiver[Tx], error) {
	var errs []error
	if isNil(o.Store) {
		errs = append(errs, errors.New("inbox: ReceiverOptions.Store is nil; open one, such as pgstore.Open"))
	}
	if isNil(o.Source) {
		errs = append(errs, errors.New("inbox: ReceiverOptions.Source is nil; open one, such as natsbroker.OpenSource"))
	}
	errs = append(errs, o.fill()...)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("inbox: new receiver:\n%w", err)
	}
	marks, err := New[Tx](o.Store)
	if err != nil {
		return nil, err
	}
	rules, err := postbag.NewPublisher(nowhere{}, postbag.PublisherOptions{Box: o.Box, MaxSize: o.MaxSize})
	if err != nil {
		return nil, err
	}
	log := o.Logger.With("box", o.Box, "consumer", o.Consumer)
	r := &Receiver[Tx]{
		o: o, rules: rules, log: log, intake: newIntake(o.Source, o.IDs, o.Keys, o.SumOff), acks: ackTrouble(log, o.OnError),
	}
	r.stower = stower[Tx]{
		to: o.Store, marks: marks, consumer: o.Consumer, box: o.Box, verb: "receive",
		db: storeTrouble(log, o.OnError), refused: r.refused, failing: r.extend, done: r.finish,
	}
	return r, nil
}

// fill puts the defaults in, and returns what is wrong.
func (o *ReceiverOptions[Tx]) fill() (errs []error) {
	if o.Box == "" {
		o.Box = defaultBox
	}
	if o.Consumer == "" {
		o.Consumer = o.Box
	}
	if err := postbag.ValidBox(o.Box); err != nil {
		errs = append(errs, fmt.Errorf("inbox: ReceiverOptions.Box: %w", err))
	}
	if err := store.ValidConsumer(o.Consumer); err != nil {
		errs = append(errs, fmt.Errorf("inbox: ReceiverOptions.Consumer: %w", err))
	}
	if o.MaxSize < 0 || o.MaxSize > postbag.MaxPayload {
		errs = append(errs, fmt.Errorf("inbox: ReceiverOptions.MaxSize is %d; give bytes up to %d, or zero for that", o.MaxSize, postbag.MaxPayload))
	}
	if o.Messages < 0 || o.Messages > store.MaxMarks {
		errs = append(errs, fmt.Errorf("inbox: ReceiverOptions.Messages is %d; give up to %d, or zero for %d", o.Messages, store.MaxMarks, sourcekit.DefaultMessages))
	}
	if o.Bytes < 0 {
		errs = append(errs, fmt.Errorf("inbox: ReceiverOptions.Bytes is %d; give bytes, or zero for %d", o.Bytes, sourcekit.DefaultBytes))
	}
	if o.Grace < 0 {
		errs = append(errs, fmt.Errorf("inbox: ReceiverOptions.Grace is %s; give a time, or zero for %s", o.Grace, defaultGrace))
	}
	if o.Faults != ParkFaults && o.Faults != StopOnFaults {
		errs = append(errs, fmt.Errorf("inbox: ReceiverOptions.Faults is %d; give ParkFaults or StopOnFaults", o.Faults))
	}
	if err := o.TooLarge.valid("ReceiverOptions"); err != nil {
		errs = append(errs, err)
	}
	o.defaults()
	return errs
}

func (o *ReceiverOptions[Tx]) defaults() {
	if o.MaxSize == 0 {
		o.MaxSize = postbag.MaxPayload
	}
	if o.Messages == 0 {
		o.Messages = sourcekit.DefaultMessages
	}
	if o.Bytes == 0 {
		o.Bytes = sourcekit.DefaultBytes
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
}

// ReceiverStats are what a Receiver counted since it was made.
type ReceiverStats struct {
	// Fetched is how many messages came. Of these Stored are new in the box, those with a
	// fault among them, and Repeated were there already. Where a commit had no answer, what
	// is found there afterwards counts as Stored.
	Fetched, Stored, Repeated int64
	// Faulty is how many were stored with a fault.
	Faulty int64
	// Lost is how many acknowledgements came too late: the broker delivers those messages
	// again, and their marks drop them.
	Lost int64
	// FailedAcks is how many calls to acknowledge failed. If the broker did not hear them, it
	// delivers their messages again, and their marks drop them. FailedExtends is how many
	// calls failed that tell the broker, while the store is away, that messages are at work.
	FailedAcks, FailedExtends int64
	// LostPartitions is how many partitions went to others, or were taken away for a time
	// (source.Batch.Lost). A rebalance of a group costs some, and so does a process that was
	// frozen.
	LostPartitions int64
}

// Stats returns what r counted so far. It is safe for concurrent use.
func (r *Receiver[Tx]) Stats() ReceiverStats {
	return ReceiverStats{
		Fetched: r.fetched.Load(), Stored: r.stored.Load(), Repeated: r.repeated.Load(), Faulty: r.faulty.Load(), Lost: r.lost.Load(),
		FailedAcks: r.failedAcks.Load(), FailedExtends: r.failedExtends.Load(), LostPartitions: r.lostPartitions.Load(),
	}
}

// Run takes messages in until ctx ends, and then finishes the batch that it has, within
// ReceiverOptions.Grace. Then it returns nil. While the source or the store fails, it waits
// and tries again, and takes nothing more in. It ends early with an error if the source is
// closed, for a payload that is too large (ReceiverOptions.TooLarge), or for any fault, with
// StopOnFaults. Call it once.
func (r *Receiver[Tx]) Run(ctx context.Context) error {
	work, cancel := outlive(ctx, r.o.Grace)
	defer cancel()
	from := sourceTrouble(r.log, r.o.OnError)
	for ctx.Err() == nil {
		b, err := r.o.Source.Fetch(ctx, source.Limits{Messages: r.o.Messages, Bytes: r.o.Bytes})
		switch {
		case ctx.Err() != nil && err != nil:
			return nil
		case errors.Is(err, source.ErrClosed):
			return fmt.Errorf("inbox: receive: %w", err)
		case err != nil:
			from.met(ctx, fmt.Errorf("inbox: receive: fetch: %w", err))
			continue
		}
		from.over()
		r.lostPartitions.Add(int64(len(b.Lost)))
		if err := r.take(work, b.Messages); err != nil {
			if work.Err() != nil {
				return nil // what is not acknowledged comes again
			}
			return err
		}
	}
	return nil
}

// outlive returns a context that ends some time after ctx.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		pause(work, grace)
		cancel()
	})
	return work, func() {
		stop()
		cancel()
	}
}

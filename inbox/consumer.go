package inbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
	"github.com/postbag/postbag/store"
)

// Handler applies a message in tx, which has the mark of the message already. What it
// writes with tx is committed with the mark, or not at all. It neither commits nor rolls
// back. Several calls run at once, for messages of different keys.
//
// An error rolls tx back, and counts as an attempt: see [Retry], or the retries of a
// [Destination]'s subscription. A panic is an error. If
// the error is [ErrRejected] the message is parked at once. If it says that the transaction
// met another one (a deadlock, a lock timeout, a snapshot that is too old), it runs again,
// and nothing is counted. If that goes on, a [Consumer] counts fifty in a row as one
// attempt, and a [BatchDestination] counts one after twenty, or half of the page's time. The
// store knows such errors of its database's drivers (store.Rerunner). They and store.ErrAgain
// are found in whatever wraps them. So return them, and do not go on with tx. The same holds
// for errors by which the database itself fails, such as those of a full disk
// (store.OutageTeller): they are an outage of the store, and count nothing.
type Handler[Tx any] func(ctx context.Context, tx Tx, m *Message) error

// Message is a message as a handler gets it. The handler must not change what it points to.
type Message struct {
	// Message is what a box would hold of it: ID, Topic, Key, Type, Headers and Payload. The
	// headers are without properties of a transport (broker.IsProperty), which From has. The
	// ID is that of the mark if that is a UUID, else a UUID made of it. So it is the same
	// each time that the message comes.
	postbag.Message
	// From is the message as it came, with place and time. A Destination has made it of what
	// the box holds, without a place: the time is when it was stored.
	From *source.Message
	// Attempt is one for the first attempt, and one more for each that failed. A Consumer
	// counts those of its process, a relay all of them.
	Attempt int

	skipped *bool // set by a router that has no route for it; nil: nobody asks
}

// Consumer takes messages from a source, and calls a handler for each in a transaction of
// the user's database. It marks the message in the same transaction, and acknowledges it
// when that has committed. So a message that the broker delivers again is not applied
// again, and none is acknowledged that is neither applied nor stored.
//
// Messages of one key are applied one after another, in the sequence of their partition.
// Others run side by side. A message whose handler fails is tried again, and only those of
// its key wait. Make it with [NewConsumer].
type Consumer[Tx any] struct {
	o      ConsumerOptions[Tx]
	call   Handler[Tx]            // Handle behind the middleware
	tx     *postbag.Publisher[Tx] // its InTx wakes relays of what handlers publish
	marks  *Inbox[Tx]
	rules  *postbag.Publisher[int] // of boxes
	log    *slog.Logger
	intake intake
	stower stower[Tx]
	db     *trouble
	hand   *hand
	acks   *acks
	ran    atomic.Bool

	mu   sync.Mutex
	err  error // what Run returns
	stop context.CancelFunc

	fetched, applied, skipped, repeated, parked, failed, lost, dropped, failedAcks, failedExtends, lostPartitions atomic.Int64
}

// ConsumerOptions say what a Consumer takes in, and who applies it. Store, Source, Handle and
// Consumer are needed.
type ConsumerOptions[Tx any] struct {
	// Store has the marks. Its InTx makes the transactions.
	Store Store[Tx]
	// Source is where messages come from. Open one for each Consumer. Run closes it.
	Source source.Source
	// Handle applies a message. [NewRouter] makes one of several typed handlers.
	Handle Handler[Tx]
	// Use is middleware before Handle. The first sees a message first, and its error last.
	// Nil ones are left out. Defaults to none.
	Use []Middleware[Tx]
	// Consumer is the name under which messages are marked. All processes of one consumer
	// have one name.
	Consumer string
	// Box is where messages are parked: those whose attempts are used up or that the handler
	// rejected, and those that have no id or are not whole. They are stored and acknowledged;
	// later messages of their key go on. The first kind is stored as it is, with the reason in
	// FailedHeader: a relay delivers it, so a Destination with the same handler behind that box
	// has it applied later. Each consumer needs a box of its own for that. The other kind has the
	// reason in store.FaultHeader, and no relay delivers it. The store must have the box, else Run ends at its start. Empty: Run ends with
	// an error that names the message, and does not acknowledge it, unless its mark is there: it
	// was parked before.
	Box string
	// TooLarge says what becomes of a message that is to be parked, and whose payload is larger
	// than the box takes. Defaults to StopIfTooLarge, since the rest of the payload would be
	// nowhere once the broker has forgotten it.
	TooLarge SizePolicy
	// IDs find the id of a message, by which it is marked. Defaults to
	// sourcekit.DefaultIDsFor, for the source's binding.
	IDs sourcekit.IDs
	// Keys find the key of a message, by which it is ordered. A message without a key has no
	// order with others. Defaults to sourcekit.DefaultKeys, for the source's binding.
	Keys sourcekit.Keys
	// SumOff marks ids without a hash of the payload. By default an id that comes with
	// another payload is parked.
	SumOff bool
	// Concurrency is how many messages are at work at most. Each needs a connection of the
	// database. Defaults to 8.
	Concurrency int
	// Retry is the back-off of messages whose handler fails.
	Retry Retry
	// Timeout bounds one attempt. What takes longer has failed. Defaults to 30 s.
	Timeout time.Duration
	// Messages and Bytes bound what is in hand: fetched, and not acknowledged. While it is
	// that much, nothing more is fetched. Default to 1,000, and 16 MiB. One message is
	// always taken.
	Messages, Bytes int
	// Grace is how long handlers may go on when Run is to end, and how long the source may
	// then take to close. Defaults to 10 s.
	Grace time.Duration
	// Logger gets one line for each change of state. Defaults to slog.Default().
	Logger *slog.Logger
	// OnError is called with each error of source, store and handler, and each fault. It
	// must return soon. It is called from several goroutines. Optional.
	OnError func(error)
}

// Defaults of ConsumerOptions.
const (
	defaultConcurrency  = 8
	defaultTimeout      = 30 * time.Second
	defaultHandMessages = 1000
	defaultHandBytes    = 16 << 20
)

// NewConsumer returns a consumer. It does no I/O. The error names all bad options at once.
func NewConsumer[Tx any](o ConsumerOptions[Tx]) (*Consumer[Tx], error) {
	if err := errors.Join(o.fill()...); err != nil {
		return nil, fmt.Errorf("inbox: new consumer:\n%w", err)
	}
	call, err := wrap("ConsumerOptions", o.Handle, o.Use)
	if err != nil {
		return nil, fmt.Errorf("inbox: new consumer:\n%w", err)
	}
	marks, err := New[Tx](o.Store)
	if err != nil {
		return nil, err
	}
	tx, err := postbag.NewPublisher[Tx](o.Store, postbag.PublisherOptions{})
	if err != nil {
		return nil, err
	}
	rules, err := postbag.NewPublisher(nowhere{}, postbag.PublisherOptions{MaxSize: postbag.MaxPayload})
	if err != nil {
		return nil, err
	}
	log := o.Logger.With("consumer", o.Consumer)
	c := &Consumer[Tx]{
		o: o, call: call, tx: tx, marks: marks, rules: rules, log: log, intake: newIntake(o.Source, o.IDs, o.Keys, o.SumOff),
		db: storeTrouble(log, o.OnError), hand: newHand(o.Messages, o.Bytes), acks: newAcks(),
	}
	c.stower = stower[Tx]{
		to: o.Store, marks: marks, consumer: o.Consumer, box: o.Box, verb: "consume",
		db: c.db, refused: c.refused, failing: func(context.Context, []item) {}, done: c.stowed,
	}
	return c, nil
}

// fill puts the defaults in, and returns what is wrong.
func (o *ConsumerOptions[Tx]) fill() (errs []error) {
	if isNil(o.Store) {
		errs = append(errs, errors.New("inbox: ConsumerOptions.Store is nil; open one, such as pgstore.Open"))
	}
	if isNil(o.Source) {
		errs = append(errs, errors.New("inbox: ConsumerOptions.Source is nil; open one, such as natsbroker.OpenSource"))
	}
	if o.Handle == nil {
		errs = append(errs, errors.New("inbox: ConsumerOptions.Handle is nil; give the function that applies a message"))
	}
	if err := store.ValidConsumer(o.Consumer); err != nil {
		errs = append(errs, fmt.Errorf("inbox: ConsumerOptions.Consumer: %w", err))
	}
	if o.Box != "" {
		if err := postbag.ValidBox(o.Box); err != nil {
			errs = append(errs, fmt.Errorf("inbox: ConsumerOptions.Box: %w", err))
		}
	}
	for _, n := range []struct {
		name         string
		value        *int
		defaultValue int
	}{
		{"Concurrency", &o.Concurrency, defaultConcurrency}, {"Messages", &o.Messages, defaultHandMessages}, {"Bytes", &o.Bytes, defaultHandBytes},
	} {
		if *n.value < 0 {
			errs = append(errs, fmt.Errorf("inbox: ConsumerOptions.%s is %d; give 1 or more, or zero for %d", n.name, *n.value, n.defaultValue))
		}
		if *n.value == 0 {
			*n.value = n.defaultValue
		}
	}
	for _, d := range []struct {
		name         string
		value        *time.Duration
		defaultValue time.Duration
	}{{"Timeout", &o.Timeout, defaultTimeout}, {"Grace", &o.Grace, defaultGrace}} {
		if *d.value < 0 {
			errs = append(errs, fmt.Errorf("inbox: ConsumerOptions.%s is %s; give a time, or zero for %s", d.name, *d.value, d.defaultValue))
		}
		if *d.value == 0 {
			*d.value = d.defaultValue
		}
	}
	if err := o.TooLarge.valid("ConsumerOptions"); err != nil {
		errs = append(errs, err)
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return append(errs, o.Retry.fill()...)
}

// ConsumerStats are what a Consumer counted since it was made.
type ConsumerStats struct {
	// Fetched is how many messages came. Of these Applied are applied, Skipped are marked
	// without an effect (UnknownSkip), Repeated were applied, skipped or parked before,
	// Parked are in the box, and Dropped were given up before they began, because their
	// partition was lost. The rest is in hand. Where a commit had no answer, and the mark is
	// found afterwards, the message counts as Applied, Skipped or Parked.
	Fetched, Applied, Skipped, Repeated, Parked, Dropped int64
	// Failed is how many attempts failed, of those that count.
	Failed int64
	// Lost is how many acknowledgements came too late: the broker delivers those messages
	// again, and their marks drop them.
	Lost int64
	// FailedAcks is how many calls to acknowledge failed: they are made again. FailedExtends
	// is how many calls failed that tell the broker that messages are at work.
	FailedAcks, FailedExtends int64
	// LostPartitions is how many partitions went to others, or were taken away for a time
	// (source.Batch.Lost). A rebalance of a group costs some, and so does a process that was
	// frozen.
	LostPartitions int64
}

// Stats returns what c counted so far. It is safe for concurrent use.
func (c *Consumer[Tx]) Stats() ConsumerStats {
	return ConsumerStats{
		Fetched: c.fetched.Load(), Applied: c.applied.Load(), Skipped: c.skipped.Load(), Repeated: c.repeated.Load(), Parked: c.parked.Load(),
		Dropped: c.dropped.Load(), Failed: c.failed.Load(), Lost: c.lost.Load(),
		FailedAcks: c.failedAcks.Load(), FailedExtends: c.failedExtends.Load(), LostPartitions: c.lostPartitions.Load(),
	}
}

// Run applies messages until ctx ends. Then it begins no other, gives those at work
// ConsumerOptions.Grace to end, acknowledges what is applied, closes the source, and returns
// nil. After Grace their contexts end; Run waits for the handlers to return. What is not
// acknowledged comes again.
//
// While the source or the store fails, it waits and tries again, and fetches nothing more. If
// the store answers, and fails for what is in hand, one message at a time is fetched: it may
// work for others.
// It ends early with an error if somebody else closes the source, and for a message that
// cannot be applied if there is no ConsumerOptions.Box, or if it is too large for that
// (ConsumerOptions.TooLarge). Before it takes a message it looks
// whether the store has that box, and ends with postbag.ErrNoBox if not. It also returns an
// error of closing the source. Call it once.
func (c *Consumer[Tx]) Run(ctx context.Context) error {
	if c.ran.Swap(true) {
		return errors.New("inbox: consume: Run was called before; make another Consumer, with a source of its own")
	}
	begin, stop := context.WithCancel(ctx)
	defer stop()
	c.stop = stop
	work, cancel := outlive(begin, c.o.Grace)
	defer cancel()
	var workers, others sync.WaitGroup
	for range c.o.Concurrency {
		workers.Go(func() { c.work(begin, work) })
	}
	over := make(chan struct{})
	others.Go(func() { c.acknowledge(work, over) })
	others.Go(func() { c.extend(work, over) })
	c.fetch(begin)
	workers.Wait()
	close(over)
	others.Wait()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.o.Grace)
	defer cancel()
	err := c.o.Source.Close(closing)
	if err != nil {
		err = fmt.Errorf("inbox: consume: close the source: %w", err)
	}
	return errors.Join(c.cause(), err)
}

// end has Run return err. The first one counts.
func (c *Consumer[Tx]) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	c.stop()
}

func (c *Consumer[Tx]) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// fetch takes messages in, as there is room, until ctx ends.
func (c *Consumer[Tx]) fetch(ctx context.Context) {
	from := sourceTrouble(c.log, c.o.OnError)
	if !c.canPark(ctx) {
		return
	}
	for {
		limits, ok := c.room(ctx)
		if !ok {
			return
		}
		b, err := c.o.Source.Fetch(ctx, limits)
		switch {
		case ctx.Err() != nil && err != nil:
			return
		case errors.Is(err, source.ErrClosed):
			c.end(fmt.Errorf("inbox: consume: %w", err))
			return
		case err != nil:
			from.met(ctx, fmt.Errorf("inbox: consume: fetch: %w", err))
			continue
		}
		from.over()
		c.fetched.Add(int64(len(b.Messages)))
		c.lostPartitions.Add(int64(len(b.Lost)))
		tasks := make([]*task, len(b.Messages))
		for i := range b.Messages {
			tasks[i] = c.task(b.Messages[i])
		}
		c.dropped.Add(int64(c.hand.take(b.Lost, tasks)))
	}
}

// room waits until the store works, and there is room for a message.
func (c *Consumer[Tx]) room(ctx context.Context) (source.Limits, bool) {
	looked := time.Now()
	for c.db.lasts() && ctx.Err() == nil {
		if !c.hand.empty() {
			if time.Since(looked) < maxReceive {
				pause(ctx, firstReceive) // those who work try it
				continue
			}
			// It may fail for all that is in hand, and work for others: one more tries it.
			if looked = time.Now(); c.probe(ctx) == nil {
				limits, ok := c.hand.room(ctx)
				limits.Messages = 1
				return limits, ok
			}
			continue
		}
		if err := c.probe(ctx); err != nil {
			c.db.met(ctx, err)
			continue
		}
		c.db.over()
	}
	return c.hand.room(ctx)
}

// task makes a task of a message.
func (c *Consumer[Tx]) task(m source.Message) *task {
	t := &task{size: m.Size(), item: c.intake.item(&m)}
	t.name.key = t.out.Key
	if t.name.key == "" {
		t.name.id = t.mark.ID
	}
	return t
}

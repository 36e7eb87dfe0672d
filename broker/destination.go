package broker

import (
	"context"
	"time"

	"github.com/postbag/postbag"
)

// Destination takes messages. It is safe for concurrent use.
//
// What only some destinations can do is in interfaces of their own: Prober and
// Transactional. An adapter implements them with their methods. ProberOf and
// TransactionalOf find them, also behind middleware.
type Destination interface {
	// Publish sends msgs, and reports what became of each, by its place in msgs, as soon
	// as that is known. It calls report at most once per message, from any goroutine,
	// also from several at a time, and never after Publish has returned. A message that
	// is not reported is Unknown. report returns at once and is never nil.
	//
	// A message is Accepted only if a positive answer came for that message. Publish
	// retries nothing. It does not keep the slice after it returns. A client that cannot
	// take back what it sent may keep payload and headers; neither side ever changes
	// them. ctx ends the waiting, not the sending: what was sent and not answered by then
	// stays Unknown, what was not sent is NotSent. Publish never panics because of what a
	// message holds.
	//
	// Calls may run side by side. Two calls at the same time never hold messages of one
	// key. Within one call a key appears twice only if Features.Ordered.
	Publish(ctx context.Context, msgs []Delivery, report func(i int, r Result))

	// Features says what the destination can do. It never changes after the first call,
	// and does no I/O.
	Features() Features

	// Close waits for answers that are still out, until ctx ends, and frees what the
	// destination itself opened. A client of the caller stays open. Calling it twice is
	// harmless. A Publish after Close reports NotSent with ErrClosed.
	Close(ctx context.Context) error
}

// Publish makes one call to d, and returns what became of each message, in the order of
// msgs. Use it if you need no answer before the last one.
func Publish(ctx context.Context, d Destination, msgs []Delivery) []Result {
	results := make([]Result, len(msgs))
	d.Publish(ctx, msgs, func(i int, r Result) { results[i] = r })
	return results
}

// Prober is implemented by a destination that can tell whether it would take messages
// now. The relay asks it while the circuit is open. Without a Prober the relay tries one
// message instead.
type Prober interface {
	// Probe returns nil if the destination can be reached and used. It is bounded by ctx,
	// and leaves nothing behind at the destination. OutcomeOf says what an error means:
	// Misconfigured, or else Unavailable. After a Misconfigured message the relay does
	// not call Probe, and tries that message itself.
	Probe(ctx context.Context) error
}

// Delivery is a message on its way to a destination, with what the relay knows of it.
// Everything in it but Attempt and Life is the same in every delivery of a message.
type Delivery struct {
	postbag.Message
	// Box and Subscription say what the relay is working on.
	Box, Subscription string
	// Seq is the message's place in its box.
	Seq int64
	// Life numbers the lives of the message's database. It grows when a standby is
	// promoted, which can give out a lost Seq again. Life and Seq together never name two
	// messages. Zero: the store cannot tell.
	Life int64
	// At is when the database stored the message, by its own clock.
	At time.Time
	// Attempt is one for the first delivery and grows with each counted failure.
	Attempt int
	// Wire is what an encoder made of the message. Nil: the plain form, with the payload
	// as it is, and with id, key, type, time and Message.Headers as headers.
	Wire *Wire
}

// Result is what became of one message. The zero Result is Unknown.
type Result struct {
	Outcome Outcome
	// Scope says how far a Misconfigured or Unavailable reaches. With ScopeTopic the
	// relay holds the messages of that topic, counts no attempt, and tries one of them
	// now and then. All others go on.
	Scope Scope
	// Err says why, for every Outcome but Accepted. It quotes no payload, key, header
	// value or credential.
	Err error
	// After asks the relay to wait this long before the next attempt (a webhook's
	// Retry-After). Zero: the relay's own back-off. The relay limits it.
	After time.Duration
	// Dead, with Rejected: the message gets no other attempt, however many it may have. It
	// is kept as a dead message. An outcome other than Rejected ignores it.
	Dead bool
	// Note is a short word on the acceptance, such as "duplicate". Optional.
	Note string
}

// Features declares what a destination guarantees. The conformance suite tests each in
// both directions.
type Features struct {
	// Ordered: if one message of a call is not accepted, no later message of its key in
	// that call is. The relay then sends several messages of one key at once.
	Ordered bool
	// MaxBytes is the largest payload that the destination certainly takes. Zero: not
	// known, or no limit.
	MaxBytes int
	// MaxBatch is the most messages that a call should hold. Zero: the relay decides.
	// One: every message is a call of its own, and many calls run at once.
	MaxBatch int
	// Fences names what keeps the broker from storing a repeated message twice, such as
	// "Nats-Msg-Id". Empty: nothing does.
	Fences string
	// Binding names the protocol, one of the Binding constants. It tells an encoder how
	// to name and write headers. Empty: none of these; headers of any text arrive as they
	// are.
	Binding string
	// Transactions: the destination is Transactional, and set up for it.
	Transactions bool
	// CountsFirst: a message may end the process, so the relay writes the attempt down
	// before the call. It costs a row in the box's database for each message. Without
	// effect where the relay delivers in transactions.
	CountsFirst bool
}

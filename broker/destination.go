package broker

import (
	"context"
	"time"

	"github.com/postbag/postbag"
)

// Destination takes messages. It is safe for concurrent use.
//
// What some destinations can do and others not are interfaces of their own,
// Prober and Transactional. An adapter has them by having their methods; ProberOf
// and TransactionalOf find them, also behind middleware.
type Destination interface {
	// Publish sends msgs and reports what became of each, by its place in msgs, as
	// soon as that is known: at most once a message, from any goroutine, also from
	// several at a time, and never after Publish has returned. What is not reported
	// is Unknown. report returns at once and is never nil.
	//
	// A message is Accepted only on a positive answer for that very message.
	// Nothing is retried. The slice is not kept after Publish returns; payload
	// and headers may be, by a client that cannot take back what it sent, and
	// are never changed by either side. ctx ends the waiting, not the
	// sending: what was sent and not answered by then stays Unknown, what was
	// not sent is NotSent. Publish never panics for what a message holds.
	//
	// Calls may run side by side. No two of them at a time hold messages of one
	// key, and within one call a key appears twice only if Features.Ordered.
	Publish(ctx context.Context, msgs []Delivery, report func(i int, r Result))

	// Features says what the destination can do. It is constant after the first
	// call and does no I/O.
	Features() Features

	// Close waits, until ctx ends, for answers that are still out and frees what
	// the destination itself opened; a client that was handed in stays open.
	// Calling it twice is harmless. A Publish after Close answers NotSent with
	// ErrClosed.
	Close(ctx context.Context) error
}

// Publish makes one call to d and returns what became of each message, in the
// order of msgs: for a caller who needs no answer before the last one.
func Publish(ctx context.Context, d Destination, msgs []Delivery) []Result {
	results := make([]Result, len(msgs))
	d.Publish(ctx, msgs, func(i int, r Result) { results[i] = r })
	return results
}

// Prober is implemented by a destination that can be asked whether it would
// take messages now. The relay asks it while its circuit is open; without it,
// one message is tried instead.
type Prober interface {
	// Probe returns nil when the destination can be reached and used. It is
	// bounded by ctx and leaves nothing behind at the destination. An error is
	// classed with OutcomeOf: Misconfigured, or else Unavailable. It is not
	// asked after a Misconfigured message: then that message itself is tried.
	Probe(ctx context.Context) error
}

// Delivery is a message on its way to a destination, with what the relay knows
// of it. Everything here but Attempt and Life is the same in every delivery of a
// message.
type Delivery struct {
	postbag.Message
	// Box and Subscription say what the relay is working on.
	Box, Subscription string
	// Seq is the message's place in its box.
	Seq int64
	// Life numbers the lives of the message's database. It grows when a standby is
	// promoted, which can give out a Seq again that was lost: Life and Seq together
	// never name two messages. Zero: the store does not say.
	Life int64
	// At is when the database stored the message, by its own clock.
	At time.Time
	// Attempt is one for the first delivery and grows with each counted failure.
	Attempt int
	// Wire is what an encoder made of the message. Nil: the plain form, payload as
	// it is, facts and Message.Headers as headers.
	Wire *Wire
}

// Result is the fate of one message. The zero Result is Unknown.
type Result struct {
	Outcome Outcome
	// Scope says for how much of the destination a Misconfigured or Unavailable
	// holds. With ScopeTopic the relay parks the messages of that topic, counts no
	// attempt, and tries one of them now and then; all others go on.
	Scope Scope
	// Err says why, for any Outcome but Accepted. It names neither payload, key,
	// header value nor credential.
	Err error
	// After asks the relay to wait this long before the next try (a webhook's
	// Retry-After). Zero: the relay's own back-off. The relay bounds it.
	After time.Duration
	// Note is a short word on the acceptance, such as "duplicate". Optional.
	Note string
}

// Features declares what a destination guarantees. The conformance suite
// asserts each in both directions.
type Features struct {
	// Ordered: when one message of a call is not accepted, no later message of
	// its key in that call is. The relay then sends several of one key at once.
	Ordered bool
	// MaxBytes is the largest payload the destination is sure to take. Zero:
	// not known, or no limit.
	MaxBytes int
	// MaxBatch is the most messages a call should hold. Zero: the relay's own
	// choice. One: every message is a call of its own, and many run at once.
	MaxBatch int
	// Fences names what keeps a repeated message from being stored twice, such
	// as "Nats-Msg-Id". Empty: nothing does.
	Fences string
	// Binding names the protocol, one of the Binding constants, so that an encoder
	// knows how headers are named and written there. Empty: none of these; headers
	// of any text arrive as they are.
	Binding string
	// Transactions: the destination is Transactional, and set up for it.
	Transactions bool
}

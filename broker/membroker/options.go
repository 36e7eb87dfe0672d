package membroker

import (
	"time"

	"github.com/postbag/postbag/broker"
)

// Options make a broker. The zero Options make one that takes everything. Every value of
// them has a meaning, so that New cannot fail.
type Options struct {
	// Ordered declares and keeps broker.Features.Ordered: after a message that
	// was not accepted, the later ones of its key in that call are not sent.
	Ordered bool

	// MaxBytes rejects payloads of more bytes. Zero or less: no limit.
	MaxBytes int

	// MaxBatch is declared as broker.Features.MaxBatch, and not enforced.
	// Zero or less: no limit.
	MaxBatch int

	// Binding is declared as broker.Features.Binding: what an encoder takes this
	// broker for. Empty: none.
	Binding string

	// Fence stores a message of an id that is already there, with the same topic and
	// content, no second time; the answer is Accepted with the note "duplicate".
	Fence bool

	// Topics are those that exist; a message for another is Misconfigured in
	// the scope of its topic. Empty: every topic exists.
	Topics []string

	// Decide says what to do with a message; try counts, from one, how often its
	// id was sent. It is called from several goroutines and must not keep m. Nil:
	// every message gets the zero Act.
	Decide func(m broker.Delivery, try int) Act

	// Transactions makes it a broker with transactions: broker.Transactional. What
	// is not committed nobody sees, so Taken is what a reader of committed messages
	// sees.
	Transactions bool

	// Transact says what to do with a transaction. It is called from several
	// goroutines. Nil: every one gets the zero TxAct.
	Transact func(Tx) TxAct

	// Unfenced lets everybody commit on a lane who ever opened it. It is a broker
	// that breaks its promise, to see that a test notices.
	Unfenced bool

	// Now is the broker's clock. Defaults to time.Now.
	Now func() time.Time
}

package inbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/postbag/postbag/store"
)

// MessageID identifies a message for one consumer: 1 to store.MaxMessageID bytes, compared
// as bytes. Text of the sender's choice will do. See also [UUID] and [Place].
type MessageID = store.MessageID

// Mark is an id with the hash of what the message holds. A zero Sum compares nothing.
type Mark = store.Mark

// Inbox remembers what consumers have applied, in their transactions Tx. It is safe for
// concurrent use, and keeps no state of its own. The zero Inbox is not usable: see [New].
type Inbox[Tx any] struct {
	marks  store.Inbox[Tx]
	forget store.Forgetter // nil: the store cannot
}

// New returns an inbox whose marks are in s. The error says that s is nil.
func New[Tx any](s store.Inbox[Tx]) (*Inbox[Tx], error) {
	if isNil(s) {
		return nil, errors.New("inbox: the store is nil; open one, and pass it to New")
	}
	forget, _ := s.(store.Forgetter)
	return &Inbox[Tx]{marks: s, forget: forget}, nil
}

// Once marks the message id in tx as applied by consumer. If it is fresh, apply the
// message with tx. If it is not, skip it: the consumer has applied it, or is doing so in
// tx. It waits while another open transaction has the same mark. After an error roll tx
// back, unless the arguments were refused: then nothing was sent to the database. After
// store.ErrAgain, run the transaction again. If tx rolls back, the mark is gone too.
//
// A consumer's name is text without control characters, of 1 to store.MaxConsumer bytes.
func (in *Inbox[Tx]) Once(ctx context.Context, tx Tx, consumer string, id MessageID) (fresh bool, err error) {
	return in.once(ctx, tx, consumer, Mark{ID: id})
}

// OnceBytes is Once, and also compares the SHA-256 of body. If the consumer has applied
// another body with this id, the error is store.ErrOtherBytes: two messages share an id,
// or the message was changed on its way. Roll tx back, and do not apply the message. A
// mark that was made without a sum, by Once, is not compared.
func (in *Inbox[Tx]) OnceBytes(ctx context.Context, tx Tx, consumer string, id MessageID, body []byte) (fresh bool, err error) {
	return in.once(ctx, tx, consumer, Mark{ID: id, Sum: Sum(body)})
}

func (in *Inbox[Tx]) once(ctx context.Context, tx Tx, consumer string, m Mark) (bool, error) {
	fresh, err := in.OnceBatch(ctx, tx, consumer, []Mark{m})
	if err != nil {
		return false, err
	}
	return fresh[0], nil
}

// OnceBatch is Once for up to store.MaxMarks messages, in one or two round trips. The
// answers are in the order of marks. Of marks with one id the first can be fresh, the
// others are not. If a mark's Sum is another than the one that was recorded, and neither
// is zero, the error is store.ErrOtherBytes, and no message of the batch may be applied.
// Without marks it does nothing.
func (in *Inbox[Tx]) OnceBatch(ctx context.Context, tx Tx, consumer string, marks []Mark) ([]bool, error) {
	if err := check(tx, consumer, marks); err != nil {
		return nil, fmt.Errorf("inbox: %w", err)
	}
	if len(marks) == 0 {
		return nil, nil
	}
	fresh, err := in.marks.Mark(ctx, tx, consumer, marks)
	switch {
	case err != nil:
		return nil, err
	case len(fresh) != len(marks):
		return nil, fmt.Errorf("inbox: the store answered for %d of %d marks; roll back, and report it to the store's author", len(fresh), len(marks))
	}
	return fresh, nil
}

// Sum is the SHA-256 of a message's body, for [Mark]. If you give it several parts, it is
// the SHA-256 of their SHA-256s, so that a byte that moves from one part to the next
// changes it. Without parts it is the zero Sum, which compares nothing.
func Sum(body ...[]byte) store.Sum {
	switch len(body) {
	case 0:
		return store.Sum{}
	case 1:
		return sha256.Sum256(body[0])
	}
	sums := make([]byte, 0, len(body)*sha256.Size)
	for _, part := range body {
		sum := sha256.Sum256(part)
		sums = append(sums, sum[:]...)
	}
	return sha256.Sum256(sums)
}

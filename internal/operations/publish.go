package operations

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/ndjson"
)

// Appender appends messages to a box in a transaction of its own.
type Appender func(ctx context.Context, box string, msgs []postbag.Message) error

// LineBatch is how many messages Lines writes in one transaction.
const LineBatch = 1000

// BatchError says of which lines no message was written, and why. The messages of the lines before First are written.
type BatchError struct {
	// First and Last are the lines, from 1.
	First, Last int
	// Faulty is how many of them are wrong, and Faults says of the first of them what. Zero: the lines are not at fault.
	Faulty int
	Faults []error
	// Unread: what came could not be read.
	Unread bool
	// Err is why. If it is postbag.ErrCommitUnknown, the messages may be written.
	Err error
}

// Error says how many lines are wrong, or what failed.
func (e *BatchError) Error() string {
	if e.Faulty > 0 {
		return fmt.Sprintf("%d of lines %d to %d are wrong", e.Faulty, e.First, e.Last)
	}
	return fmt.Sprintf("lines %d to %d: %v", e.First, e.Last, e.Err)
}

// Unwrap returns what failed. Lines that are wrong are ErrInvalid.
func (e *BatchError) Unwrap() error { return e.Err }

// Lines publishes messages that come one a line, some in a transaction, and returns how many. onWritten hears of each transaction, in
// this goroutine. It ends with the first batch that cannot be written, of which the error is a *BatchError.
func (write Appender) Lines(ctx context.Context, box string, in *ndjson.Reader, onWritten func(messages int)) (published int, err error) {
	for {
		b, end := in.Batch(LineBatch)
		if end != nil && !errors.Is(end, io.EOF) {
			return published, &BatchError{First: b.First, Last: b.Last, Unread: true, Err: end}
		}
		if err := write.batch(ctx, box, b); err != nil {
			return published, err
		}
		published += len(b.Messages)
		onWritten(len(b.Messages))
		if errors.Is(end, io.EOF) {
			return published, nil
		}
	}
}

// batch writes a batch, or nothing of it.
func (write Appender) batch(ctx context.Context, box string, b *ndjson.Batch) error {
	var err error
	if b.Faulty == 0 && len(b.Messages) > 0 {
		err = write(ctx, box, b.Messages)
		for _, fault := range messageErrors(err) {
			reason := fault.Field + " " + fault.Reason
			if fault.Header != "" {
				reason = fmt.Sprintf("%s[%.64q] %s", fault.Field, fault.Header, fault.Reason)
			}
			b.Fault(b.Lines[fault.Index], errors.New("is wrong: "+reason))
		}
	}
	switch {
	case b.Faulty > 0:
		return &BatchError{First: b.First, Last: b.Last, Faulty: b.Faulty, Faults: b.Faults, Err: ErrInvalid}
	case err != nil:
		return &BatchError{First: b.First, Last: b.Last, Err: err}
	}
	return nil
}

// messageErrors returns all faults that an error of a publisher holds.
func messageErrors(err error) []*postbag.MessageError {
	var out []*postbag.MessageError
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case nil:
	case *postbag.MessageError:
		out = append(out, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			out = append(out, messageErrors(one)...)
		}
	case interface{ Unwrap() error }:
		out = messageErrors(e.Unwrap())
	}
	return out
}

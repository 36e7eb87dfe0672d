package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/ndjson"
)

// batchLines is how many messages are written in one transaction.
const batchLines = 1000

// publishLines writes what comes on standard input, and says at the end, and after
// a mistake, how much of it.
func publishLines(ctx context.Context, c *console.Console, s *component.Store, box string, skip int) error {
	in := ndjson.NewReader(c.In)
	if err := in.Skip(skip); err != nil && !errors.Is(err, io.EOF) {
		return exit.Usagef("publish: standard input cannot be read: %w", err)
	}
	progress := c.Progress("published", 0)
	published, err := copyLines(ctx, s, box, in, progress)
	progress.End()
	if err != nil {
		c.Notef("published until then: %s", console.Count(published, "message"))
		return err
	}
	if c.JSON {
		return c.Line(map[string]any{"published": published, "box": box})
	}
	c.Sayf("published %s", console.Count(published, "message"))
	return nil
}

func copyLines(ctx context.Context, s *component.Store, box string, in *ndjson.Reader, p *console.Progress) (published int, err error) {
	for {
		b, end := in.Batch(batchLines)
		if end != nil && !errors.Is(end, io.EOF) {
			return published, exit.Usagef("publish: standard input cannot be read: %w; go on with --skip %d", end, b.First-1)
		}
		if err := publishBatch(ctx, s, box, b); err != nil {
			return published, err
		}
		published += len(b.Messages)
		p.Add(len(b.Messages))
		if errors.Is(end, io.EOF) {
			return published, nil
		}
	}
}

// publishBatch writes a batch, or nothing of it.
func publishBatch(ctx context.Context, s *component.Store, box string, b *ndjson.Batch) error {
	if b.Faulty > 0 {
		return faultyBatch(b)
	}
	if len(b.Messages) == 0 {
		return nil
	}
	err := s.Publish(ctx, box, b.Messages)
	if err == nil {
		return nil
	}
	for _, fault := range messageErrors(err) {
		reason := fault.Field + " " + fault.Reason
		if fault.Header != "" {
			reason = fmt.Sprintf("%s[%.64q] %s", fault.Field, fault.Header, fault.Reason)
		}
		b.Fault(b.Lines[fault.Index], errors.New("is wrong: "+reason))
	}
	if b.Faulty > 0 {
		return faultyBatch(b)
	}
	if errors.Is(err, postbag.ErrCommitUnknown) {
		return fmt.Errorf("publish: lines %d to %d may be written or not; look with postbag messages list before you repeat them: %w",
			b.First, b.Last, err)
	}
	return fmt.Errorf("publish: nothing of lines %d to %d was written; go on with --skip %d when it is fixed: %w",
		b.First, b.Last, b.First-1, err)
}

func faultyBatch(b *ndjson.Batch) error {
	what := fmt.Errorf("publish: nothing of lines %d to %d was written, for %d of them are wrong; fix them and go on with --skip %d",
		b.First, b.Last, b.Faulty, b.First-1)
	return exit.With(exit.Usage, errors.Join(append([]error{what}, b.Faults...)...))
}

// messageErrors returns all faults that an error of Publish holds.
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

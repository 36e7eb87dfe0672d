package stdout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Destination writes to one io.Writer. It is safe for concurrent use, if nobody
// else writes to that writer.
type Destination struct {
	w     io.Writer
	guard brokerkit.CallGuard
	lock  chan struct{} // holds one token; who has it may write
	torn  bool          // the last line was cut off; of the one who has the lock
}

// New returns a destination that writes to w, which stays the caller's: Close
// leaves it open. A nil w is an error.
func New(w io.Writer) (*Destination, error) {
	if w == nil {
		return nil, errors.New("stdout: the writer is nil; give New one, such as os.Stdout")
	}
	d := &Destination{w: w, lock: make(chan struct{}, 1)}
	d.lock <- struct{}{}
	return d, nil
}

// Features implements broker.Destination. Lines are written in the order of a
// call, and nothing after one that failed.
func (d *Destination) Features() broker.Features { return broker.Features{Ordered: true} }

// Close implements broker.Destination.
func (d *Destination) Close(ctx context.Context) error { return d.guard.Shut(ctx) }

// Publish implements broker.Destination. The lines of a call are one Write, so
// that each is whole. When the writer fails, the messages whose lines it took
// whole are Accepted and the others are not; a line that was cut off in the middle
// is ended before the next, which leaves a broken line in the output and every
// other one intact.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if len(msgs) == 0 {
		return
	}
	if !d.guard.Enter() {
		brokerkit.ReportAll(msgs, report, broker.Result{Outcome: broker.NotSent, Err: broker.ErrClosed})
		return
	}
	p := build(msgs, report)
	if !d.take(ctx) {
		d.guard.Leave()
		p.give(report, broker.NotSent, errors.New("stdout: the context ended before the line was written; send it again"))
		return
	}
	done := make(chan struct{})
	// A writer may block for as long as it likes; ctx ends the waiting.
	go func() {
		defer close(done)
		d.write(p)
		d.lock <- struct{}{}
		d.guard.Leave()
	}()
	select {
	case <-done:
		p.answer(report)
	case <-ctx.Done():
		select {
		case <-done:
			p.answer(report)
		default:
			p.give(report, broker.Unknown, errors.New("stdout: the writer did not take the line in time; look at who reads it"))
		}
	}
}

// take waits for the lock.
func (d *Destination) take(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case <-d.lock:
		return true
	case <-ctx.Done():
		return false
	}
}

// write writes p, by the one who has the lock.
func (d *Destination) write(p *page) {
	text, lead := p.text.Bytes(), 0
	if len(text) == 0 {
		return
	}
	if d.torn {
		text, lead = append([]byte{'\n'}, text...), 1
	}
	n, err := d.w.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	p.taken, p.err = max(0, n-lead), err
	if n > 0 {
		d.torn = text[min(n, len(text))-1] != '\n'
	}
}

// page is the lines of one call.
type page struct {
	text bytes.Buffer
	ends []int // where the line of each message ends; -1: it has none

	taken int // bytes, by the writer
	err   error
}

// build encodes the messages and rejects those that cannot be. As a message that
// is rejected must have no successor of its key, those are not written either.
func build(msgs []broker.Delivery, report func(i int, r broker.Result)) *page {
	p := &page{ends: make([]int, len(msgs))}
	var stopped map[string]bool
	for i := range msgs {
		m := &msgs[i]
		p.ends[i] = -1
		if stopped[m.Key] {
			report(i, broker.Result{Outcome: broker.NotSent, Err: errBehind})
			continue
		}
		if err := encode(&p.text, m); err != nil {
			report(i, broker.Result{Outcome: broker.Rejected, Err: err})
			if m.Key != "" {
				if stopped == nil {
					stopped = map[string]bool{}
				}
				stopped[m.Key] = true
			}
			continue
		}
		p.ends[i] = p.text.Len()
	}
	return p
}

var errBehind = errors.New("stdout: an earlier message of the key was rejected; send this one after it")

// answer gives the messages with a line their fate.
func (p *page) answer(report func(i int, r broker.Result)) {
	for i, end := range p.ends {
		switch {
		case end < 0:
		case end <= p.taken:
			report(i, broker.Result{Outcome: broker.Accepted})
		case end == p.taken+1: // all but its newline, which the next line brings
			report(i, p.failed(broker.Unknown))
		default:
			report(i, p.failed(broker.Unavailable))
		}
	}
}

func (p *page) failed(outcome broker.Outcome) broker.Result {
	return broker.Result{Outcome: outcome, Err: fmt.Errorf("stdout: write: %w; look at disk, pipe or terminal", p.err)}
}

// give gives them all the same.
func (p *page) give(report func(i int, r broker.Result), outcome broker.Outcome, err error) {
	for i, end := range p.ends {
		if end >= 0 {
			report(i, broker.Result{Outcome: outcome, Err: err})
		}
	}
}

package membroker

import (
	"context"
	"fmt"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// Taken returns what the broker stored, in that order, repeats included.
func (d *Destination) Taken() (records []Record) {
	d.state.locked(func() { records = slices.Clone(d.state.records) })
	return records
}

// Len returns how many messages the broker stored, repeats included.
func (d *Destination) Len() (n int) {
	d.state.locked(func() { n = len(d.state.records) })
	return n
}

// First returns the first occurrence of each id, in the order of Taken: what a
// consumer sees that drops repeats.
func (d *Destination) First() []Record {
	seen := map[postbag.ID]struct{}{}
	return slices.DeleteFunc(d.Taken(), func(r Record) bool {
		_, repeated := seen[r.ID]
		seen[r.ID] = struct{}{}
		return repeated
	})
}

// Repeats returns how many stored messages repeat an earlier one.
func (d *Destination) Repeats() int { return d.Len() - len(d.First()) }

// OfKey returns what the broker stored of one key, in order, repeats included.
func (d *Destination) OfKey(key string) []Record {
	return slices.DeleteFunc(d.Taken(), func(r Record) bool { return r.Key != key })
}

// Inversions returns how many first occurrences came after one of the same key
// with a higher seq. Messages without a key have no order.
func (d *Destination) Inversions() int {
	highest, n := map[string]int64{}, 0
	for _, r := range d.First() {
		last, seen := highest[r.Key]
		switch {
		case r.Key == "":
		case seen && r.Seq < last:
			n++
		default:
			highest[r.Key] = r.Seq
		}
	}
	return n
}

// Answers returns what senders were told, in that order. A message that was held
// back or came after Close has none.
func (d *Destination) Answers() (answers []Answer) {
	d.state.locked(func() { answers = slices.Clone(d.state.answers) })
	return answers
}

// Count returns how many answers had this outcome.
func (d *Destination) Count(outcome broker.Outcome) int {
	n := 0
	for _, a := range d.Answers() {
		if a.Outcome == outcome {
			n++
		}
	}
	return n
}

// Tries returns how often the message was sent.
func (d *Destination) Tries(id postbag.ID) (n int) {
	d.state.locked(func() { n = d.state.tries[id] })
	return n
}

// WaitFor returns when the broker holds n different messages, or with an error
// when ctx ends first.
func (d *Destination) WaitFor(ctx context.Context, n int) error {
	for {
		var got int
		var change <-chan struct{}
		d.state.locked(func() { got, change = len(d.state.ids), d.state.change })
		if got >= n {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return fmt.Errorf("membroker: %d of %d messages came before the context ended; see whether the sender runs: %w",
				got, n, context.Cause(ctx))
		}
	}
}

package history

import (
	"sync"
	"time"
)

// Recorder takes the records of a history, in any order. Methods may be called concurrently.
type Recorder interface {
	Intend(r Intent)
	End(r Outcome)
	Deliver(r Delivery)
	Apply(r Effect)
	Refuse(r Refusal)
	Hold(r Stored)
	Order(r Command)
	Break(r Fault)
	Wait(r Gap)
	Look(r Watch)
}

var _ Recorder = (*History)(nil)

// History is a history in memory. The zero History is empty. One that is used again, after Reset, allocates little.
type History struct {
	mu sync.Mutex
	records

	check memory
}

// records are the records of a history, each kind in the order in which they came.
type records struct {
	intents    []Intent
	outcomes   []Outcome
	deliveries []Delivery
	effects    []Effect
	refusals   []Refusal
	stored     []Stored
	commands   []Command
	faults     []Fault
	gaps       []Gap
	watches    []Watch
}

// Intend records an Intent.
func (h *History) Intend(r Intent) { record(h, &h.intents, r) }

// End records an Outcome.
func (h *History) End(r Outcome) { record(h, &h.outcomes, r) }

// Deliver records a Delivery.
func (h *History) Deliver(r Delivery) { record(h, &h.deliveries, r) }

// Apply records an Effect.
func (h *History) Apply(r Effect) { record(h, &h.effects, r) }

// Refuse records a Refusal.
func (h *History) Refuse(r Refusal) { record(h, &h.refusals, r) }

// Hold records a Stored.
func (h *History) Hold(r Stored) { record(h, &h.stored, r) }

// Order records a Command.
func (h *History) Order(r Command) { record(h, &h.commands, r) }

// Break records a Fault.
func (h *History) Break(r Fault) { record(h, &h.faults, r) }

// Wait records a Gap.
func (h *History) Wait(r Gap) { record(h, &h.gaps, r) }

// Look records a Watch.
func (h *History) Look(r Watch) { record(h, &h.watches, r) }

func record[T any](h *History, to *[]T, r T) {
	h.mu.Lock()
	*to = append(*to, r)
	h.mu.Unlock()
}

// Reset empties the history and keeps its room. A Report that it gave before remains good.
func (h *History) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &h.records
	r.intents, r.outcomes, r.deliveries = r.intents[:0], r.outcomes[:0], r.deliveries[:0]
	r.refusals, r.stored, r.commands = r.refusals[:0], r.stored[:0], r.commands[:0]
	r.faults, r.gaps, r.watches, r.effects = r.faults[:0], r.gaps[:0], r.watches[:0], r.effects[:0]
}

// Check judges the history. The Lookup of the options may not record into it.
func (h *History) Check(o Options) *Report {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.check.run(&h.records, o)
}

// Clock makes the times of a history of a machine's clock, the same in all processes of the machine that have the same
// origin. In a process it is not moved by steps of the machine's clock. Methods may be called concurrently.
type Clock struct {
	start time.Time
	after time.Duration // of the start since the origin
}

// NewClock makes a clock that counts from an origin. Processes that write one history are told one origin, for example as
// its UnixNano.
func NewClock(origin time.Time) *Clock {
	now := time.Now()
	return &Clock{start: now, after: now.Round(0).Sub(origin.Round(0))}
}

// Now is the time.
func (c *Clock) Now() time.Duration { return c.after + time.Since(c.start) }

// At is a time that a server on the same machine gave.
func (c *Clock) At(t time.Time) time.Duration { return c.after + t.Round(0).Sub(c.start.Round(0)) }

package simulation

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Mode says what a run is to show.
type Mode string

// The modes. Swarm: each seed draws which faults exist and how often; they stop in
// the end, and everything must be delivered. Liveness: the same with every kind of
// fault allowed. Safety: faults go on to the end, and what was not delivered must be
// pending or parked.
const (
	Swarm    Mode = "swarm"
	Liveness Mode = "liveness"
	Safety   Mode = "safety"
)

// Store is the kind of log that is simulated.
type Store string

// The kinds of log. Snapshots: transactions with ids and snapshots (PostgreSQL).
// Ranges: a highest seq and the open ones below it, with tombstones (MySQL,
// MariaDB). Serial: one writer at a time (SQLite).
const (
	Snapshots Store = "snapshots"
	Ranges    Store = "ranges"
	Serial    Store = "serial"
)

// Options say what a run is. With the same ones it is the same run, event by event.
type Options struct {
	Seed uint64
	// Mode is Swarm if empty.
	Mode Mode
	// Store is drawn if empty.
	Store Store
	// Relays, one to four, and Messages, up to 100,000, are drawn if zero: of messages about 200.
	Relays, Messages int
	// Faults are those that may happen. Drawn says that Swarm draws some of them;
	// otherwise it takes them all.
	Faults Faults
	Drawn  bool
	// CountFirst: the destination asks for attempts to be counted before calls.
	CountFirst bool
	// Handlers: the destination is a handler, in a transaction with a mark of the message. Whether
	// attempts are counted before calls is drawn then, if CountFirst does not say so.
	Handlers bool
	// Steps bounds a run: 400,000 if zero, and more for more messages.
	Steps int
	// Trace is told what happens, if not nil.
	Trace io.Writer
	// Brief leaves out of the trace what is of no account: reads that find nothing,
	// heartbeats.
	Brief bool
	// Tape, if not nil, is what chance drew in an earlier run, see Shrink.
	Tape []uint32
}

// DefaultOptions are those of a seed when nothing else is said.
func DefaultOptions(seed uint64) Options {
	return Options{Seed: seed, Mode: Swarm, Faults: AllFaults, Drawn: true}
}

func (o *Options) normal() {
	if o.Mode == "" {
		o.Mode = Swarm
	}
	if o.Steps == 0 {
		o.Steps = 400_000 + 1000*o.Messages
	}
}

// Validate returns all that is wrong with o at once, or nil.
func (o *Options) Validate() error {
	var errs []error
	if o.Relays < 0 || o.Relays > 4 {
		errs = append(errs, fmt.Errorf("simulation: %d relays; use one to four, or zero to have it drawn", o.Relays))
	}
	if o.Messages < 0 || o.Messages > 100_000 {
		errs = append(errs, fmt.Errorf("simulation: %d messages; use one to 100000, or zero to have it drawn", o.Messages))
	}
	if o.Steps < 0 {
		errs = append(errs, fmt.Errorf("simulation: %d steps; use a positive number, or zero for the default", o.Steps))
	}
	if !slices.Contains([]Mode{"", Swarm, Liveness, Safety}, o.Mode) {
		errs = append(errs, fmt.Errorf("simulation: mode %q; use swarm, liveness or safety", o.Mode))
	}
	if !slices.Contains([]Store{"", Snapshots, Ranges, Serial}, o.Store) {
		errs = append(errs, fmt.Errorf("simulation: store %q; use snapshots, ranges or serial", o.Store))
	}
	return errors.Join(errs...)
}

// Arguments returns the arguments of postbag-sim that make this run again. A tape
// is not among them.
func (o *Options) Arguments() string {
	out := []string{"-seed " + strconv.FormatUint(o.Seed, 10)}
	if o.Mode != Swarm && o.Mode != "" {
		out = append(out, "-mode "+string(o.Mode))
	}
	if o.Store != "" {
		out = append(out, "-store "+string(o.Store))
	}
	if o.Relays > 0 {
		out = append(out, "-relays "+strconv.Itoa(o.Relays))
	}
	if o.Messages > 0 {
		out = append(out, "-messages "+strconv.Itoa(o.Messages))
	}
	if o.CountFirst {
		out = append(out, "-count-first")
	}
	if o.Handlers {
		out = append(out, "-handlers")
	}
	if o.Faults != AllFaults || !o.Drawn {
		out = append(out, "-faults "+o.Faults.String())
	}
	return strings.Join(out, " ")
}

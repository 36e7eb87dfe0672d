package faketime

import (
	"fmt"
	"slices"
	"strings"
)

// Kind says what goes wrong in a run.
type Kind string

// The kinds of run.
const (
	// Faults is everything: relays, store, brokers, networks and operators.
	Faults Kind = "faults"
	// Restarts are relays that stop and start, drain and change shards, and nothing else. No duplicate is excused.
	Restarts Kind = "restarts"
)

// Kinds returns all of them.
func Kinds() []Kind { return []Kind{Faults, Restarts} }

// Options say which run is played.
type Options struct {
	Seed uint64
	Kind Kind
}

// Validate returns what is wrong with o, or nil.
func (o *Options) Validate() error {
	if !slices.Contains(Kinds(), o.Kind) {
		names := make([]string, 0, len(Kinds()))
		for _, k := range Kinds() {
			names = append(names, string(k))
		}
		return fmt.Errorf("faketime: %q is no kind of run; use %s", o.Kind, strings.Join(names, " or "))
	}
	return nil
}

// Result is what came of a run.
type Result struct {
	// Failures are the promises that were broken, with all that is known of them. None: every promise held.
	Failures []string
	// Drawn says what the seed drew: the relays and their subscriptions.
	Drawn string
	// Counts says how much happened.
	Counts Counts
}

// Counts says how much happened in a run, or in many.
type Counts struct {
	// Published messages were committed, and Delivered are what brokers stored, repeats among them.
	Published, Delivered int
	// Starts of relays, Kills, Drains that ended, Reshapes and Commands that were asked for, and Incurable errors that relays ended with.
	Starts, Kills, Drains, Reshapes, Commands, Incurable int
	// Replays are those that were resumed, and sent all that they had to.
	Replays int
}

// Add adds the counts of another run.
func (c *Counts) Add(o Counts) {
	c.Published += o.Published
	c.Delivered += o.Delivered
	c.Starts += o.Starts
	c.Kills += o.Kills
	c.Drains += o.Drains
	c.Reshapes += o.Reshapes
	c.Commands += o.Commands
	c.Incurable += o.Incurable
	c.Replays += o.Replays
}

// String is the counts in a line.
func (c *Counts) String() string {
	return fmt.Sprintf("%d messages, %d deliveries, %d relays, %d kills, %d drains, %d reshapes, %d commands, %d incurable errors, %d replays resumed",
		c.Published, c.Delivered, c.Starts, c.Kills, c.Drains, c.Reshapes, c.Commands, c.Incurable, c.Replays)
}

package relay

import (
	"cmp"
	"fmt"
	"time"
)

// Cadence says whether a subscription is quick or cheap while little comes. A busy one is as
// fast in all of them. The zero Cadence is Balanced.
type Cadence int

const (
	// Balanced reads within milliseconds, and costs an idle store about a statement a
	// second. The default.
	Balanced Cadence = iota
	// Latency reads and settles sooner. It costs more statements while messages trickle in,
	// and ten a second of an idle store that nobody wakes the relay for.
	Latency
	// Background lets messages wait for a moment, so that more of them share a read, a call
	// and a settlement. A crash may repeat what was sent in the last second.
	Background
)

// cadences are the cadences as configurations, and the settings of operators, name them.
var cadences = map[string]Cadence{"balanced": Balanced, "latency": Latency, "background": Background}

// ParseCadence returns the cadence of a name: balanced, latency or background. An empty name is
// that of the default. The error says which names there are.
func ParseCadence(name string) (Cadence, error) {
	c, known := cadences[name]
	if name != "" && !known {
		return 0, fmt.Errorf("relay: the cadence is %.40q; choose balanced, latency or background", name)
	}
	return c, nil
}

// pace is what a cadence sets.
type pace struct {
	// pollMax is the longest pause between two polls. Zero: Options.PollMax.
	pollMin, pollMax time.Duration
	// linger is the pause between reads while few messages come: half of it, on average, is
	// what a message waits for being seen.
	linger time.Duration
	// settleEvery is the longest that an answered message waits for its settlement. Zero:
	// Options.SettleEvery.
	settleEvery time.Duration
}

// paces is the table of docs/guides/policies.md.
var paces = [...]pace{
	Balanced:   {pollMin: 4 * time.Millisecond, linger: 4 * time.Millisecond},
	Latency:    {pollMin: time.Millisecond, pollMax: 100 * time.Millisecond, linger: time.Millisecond, settleEvery: 20 * time.Millisecond},
	Background: {pollMin: 100 * time.Millisecond, linger: 100 * time.Millisecond, settleEvery: time.Second},
}

func (c Cadence) pace(o *Options) pace {
	p := paces[c]
	p.pollMax, p.settleEvery = cmp.Or(p.pollMax, o.PollMax), cmp.Or(p.settleEvery, o.SettleEvery)
	return p
}

package demo

import (
	"fmt"
	"sync"
	"time"
)

// noticeable is the shortest pause that the report lists.
const noticeable = 500 * time.Millisecond

// Pause is a time in which orders waited and the broker stored nothing.
type Pause struct {
	// Cause is the fault that it was for.
	Cause string `json:"cause"`
	// Seconds is how long one waited and nothing was stored, and After how much of it came after
	// the end of the fault: the broker was back, or another relay was started.
	Seconds float64 `json:"seconds"`
	After   float64 `json:"after_seconds"`
	// Why says what the time after the end of the fault was for. Empty: there was none.
	Why string `json:"why,omitempty"`
}

// noFault is the cause of a pause that no fault explains.
const noFault = "no fault of the demo; the machine or its disk was slow"

// note says what a pause was for.
func (p *Pause) note() string {
	if p.Why == "" {
		return p.Cause
	}
	return fmt.Sprintf("%s; after that it took %.1f s %s", p.Cause, p.After, p.Why)
}

// fault is something that went wrong, from and until when.
type fault struct {
	cause, why  string
	from, until time.Time
}

// pauses finds what each pause was for, from the times at which the broker stored
// messages.
type pauses struct {
	mu     sync.Mutex
	faults []fault
	last   time.Time // when the latest message was stored
	gaps   [][2]time.Time
}

// begin notes a fault; end notes that the latest is over.
func (p *pauses) begin(cause, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fault{cause: cause, why: why, from: time.Now()})
}

func (p *pauses) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults[len(p.faults)-1].until = time.Now()
}

// stored notes when the broker stored a message, in the order in which it did, and
// since when it had waited.
func (p *pauses) stored(committed, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from := p.last
	if committed.After(from) {
		from = committed
	}
	if !p.last.IsZero() && at.Sub(from) >= noticeable {
		p.gaps = append(p.gaps, [2]time.Time{from, at})
	}
	if at.After(p.last) {
		p.last = at
	}
}

// over says that a message was stored after the end of the latest fault.
func (p *pauses) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.faults)
	return n == 0 || !p.faults[n-1].until.IsZero() && p.last.After(p.faults[n-1].until)
}

// list returns the pauses with their causes.
func (p *pauses) list() []Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []Pause{}
	for _, g := range p.gaps {
		pause := Pause{Cause: noFault, Seconds: seconds(g[1].Sub(g[0]))}
		for _, f := range p.faults {
			if f.from.Before(g[1]) && (f.until.IsZero() || f.until.After(g[0])) {
				pause.Cause, pause.Why, pause.After = f.cause, f.why, seconds(max(g[1].Sub(f.until), 0))
			}
		}
		out = append(out, pause)
	}
	return out
}

func seconds(d time.Duration) float64 { return round(d).Seconds() }

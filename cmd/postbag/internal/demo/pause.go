package demo

import "time"

// pause measures the longest time in which something waited and nothing arrived.
type pause struct {
	delivered int
	since     time.Time
	longest   time.Duration
}

// saw notes how many orders are committed and delivered now.
func (p *pause) saw(committed, delivered int) {
	now := time.Now()
	if delivered != p.delivered || delivered >= committed || p.since.IsZero() {
		p.delivered, p.since = delivered, now
	}
	p.longest = max(p.longest, now.Sub(p.since))
}

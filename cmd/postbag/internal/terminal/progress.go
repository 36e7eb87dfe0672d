package terminal

import (
	"fmt"
	"strings"
	"time"
)

// Progress shows on standard error how far a long job has got: on a terminal a
// line that is drawn again, elsewhere a plain line every few seconds. It is for one
// goroutine.
type Progress struct {
	terminal *Terminal
	what     string
	total    int
	done     int
	live     bool
	begun    time.Time
	next     time.Time
	drawn    bool
}

// How often a live line and a plain one are written.
const (
	redraw = 100 * time.Millisecond
	remind = 5 * time.Second
)

// Progress begins to show a job, such as "published", of so many steps; zero:
// nobody knows how many.
func (c *Terminal) Progress(what string, total int) *Progress {
	now := time.Now()
	p := &Progress{terminal: c, what: what, total: total, live: IsTerminal(c.Err), begun: now, next: now.Add(remind)}
	if p.live {
		p.next = now
	}
	return p
}

// Add counts steps that are done.
func (p *Progress) Add(n int) {
	p.done += n
	now := time.Now()
	switch {
	case now.Before(p.next):
	case p.live:
		p.next = now.Add(redraw)
		_, _ = fmt.Fprint(p.terminal.Err, "\r\x1b[2K"+p.text())
		p.drawn = true
	default:
		p.next = now.Add(remind)
		p.terminal.Notef("%s", p.text())
	}
}

// End removes the live line.
func (p *Progress) End() {
	if p.drawn {
		_, _ = fmt.Fprint(p.terminal.Err, "\r\x1b[2K")
		p.drawn = false
	}
}

func (p *Progress) text() string {
	rate := float64(p.done) / max(time.Since(p.begun).Seconds(), 0.001)
	if p.total <= 0 {
		return fmt.Sprintf("%s %d, %.0f/s", p.what, p.done, rate)
	}
	const width = 30
	full := min(p.done*width/p.total, width)
	return fmt.Sprintf("%s%s  %s %d of %d, %.0f/s", strings.Repeat("█", full), strings.Repeat("·", width-full),
		p.what, p.done, p.total, rate)
}

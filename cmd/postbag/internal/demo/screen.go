package demo

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// screen shows what goes on: on a terminal one live line, elsewhere a plain line
// every two seconds.
type screen struct {
	out   io.Writer
	live  bool
	begun time.Time

	mu    sync.Mutex
	drawn bool
	next  time.Time
}

func newScreen(out io.Writer, live bool) *screen {
	return &screen{out: out, live: live, begun: time.Now()}
}

func (s *screen) clock() string {
	return fmt.Sprintf("%5.1fs", time.Since(s.begun).Seconds())
}

// sayf writes a line of its own.
func (s *screen) sayf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(fmt.Sprintf(format, args...))
}

// showf writes text that is no event: without the clock.
func (s *screen) showf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
}

func (s *screen) line(text string) {
	s.erase()
	_, _ = fmt.Fprintf(s.out, "%s  %s\n", s.clock(), text)
}

// wipe removes the live line.
func (s *screen) wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

func (s *screen) erase() {
	if s.drawn {
		_, _ = io.WriteString(s.out, "\r\x1b[2K")
		s.drawn = false
	}
}

// progress shows how far the shop, the relay and the billing service have got.
func (s *screen) progress(committed, delivered, applied, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live {
		if now := time.Now(); now.After(s.next) {
			s.next = now.Add(2 * time.Second)
			s.line(fmt.Sprintf("committed %d, delivered %d, applied %d of %d", committed, delivered, applied, total))
		}
		return
	}
	const width = 20 // the whole line fits 80 columns
	done := min(applied*width/max(total, 1), width)
	ahead := min(committed*width/max(total, 1), width) - done
	bar := strings.Repeat("█", done) + strings.Repeat("▒", max(ahead, 0)) + strings.Repeat("·", width-done-max(ahead, 0))
	_, _ = fmt.Fprintf(s.out, "\r\x1b[2K%s  %s  sold %5d  delivered %5d  applied %5d of %d", s.clock(), bar, committed, delivered, applied, total)
	s.drawn = true
}

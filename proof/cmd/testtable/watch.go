package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// patience is how long nothing need be said before those at work are named.
const patience = 30 * time.Second

// watch shows a line for each package that has ended, the output of what failed, and now and then who is at work.
func watch(in io.Reader, out io.Writer) error {
	w := &watcher{out: out, tally: newTally(), began: make(map[string]time.Time)}
	events := make(chan event)
	end := make(chan error, 1)
	go func() {
		defer close(events)
		end <- readEvents(in, func(e event) { events <- e })
	}()
	quiet := time.NewTicker(patience)
	defer quiet.Stop()
	for {
		select {
		case e, more := <-events:
			if !more {
				return <-end
			}
			if w.see(e) {
				quiet.Reset(patience)
			}
		case <-quiet.C:
			w.atWork()
		}
	}
}

type watcher struct {
	out   io.Writer
	tally *tally
	began map[string]time.Time // packages that run
}

// see takes an event and says whether it printed something.
func (w *watcher) see(e event) bool {
	w.tally.add(e)
	switch {
	case e.Action == "build-fail":
		_, _ = fmt.Fprintf(w.out, "FAILED to build %s\n%s", e.ImportPath, w.tally.builds[e.ImportPath])
		return true
	case e.Test != "":
		return false
	case e.Action == "start":
		w.began[e.Package] = time.Now()
		return false
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		delete(w.began, e.Package)
		return w.ended(e.Package)
	default:
		return false
	}
}

// ended prints the line of a package, and what failed in it. Packages without tests are not mentioned.
func (w *watcher) ended(name string) bool {
	p := w.tally.packages[name]
	c := p.counts()
	if c.packages == 0 {
		return false
	}
	word := "ok    "
	if c.failed > 0 {
		word = "FAILED"
		_, _ = io.WriteString(w.out, p.tellFailures())
	}
	_, _ = fmt.Fprintf(w.out, "%s %s  %d passed, %d failed, %d skipped  %.1f s\n",
		word, name, c.passed, c.failed, c.skipped, p.seconds)
	return true
}

func (w *watcher) atWork() {
	names := make([]string, 0, len(w.began))
	for name, since := range w.began {
		names = append(names, fmt.Sprintf("%s (%.0f s)", name, time.Since(since).Seconds()))
	}
	if len(names) == 0 {
		names = append(names, "the compiler")
	}
	slices.Sort(names)
	_, _ = fmt.Fprintln(w.out, "  ... at work:", strings.Join(names, ", "))
}

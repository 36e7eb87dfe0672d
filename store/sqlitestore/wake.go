package sqlitestore

import (
	"os"
	"sync"
	"time"
)

// Wake tells listeners of Woken that box has new messages.
func (s *Store) Wake(string) {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Woken returns the channel of hints; see [store.Waker]. From the first call on
// the store hears of writes to the write-ahead log's file (on Linux, from the kernel),
// or looks at it every Options.Watch, so that a commit of another process is noticed
// too.
func (s *Store) Woken() <-chan struct{} {
	if s.opts.Watch > 0 {
		s.watch.start(func(done <-chan struct{}) {
			if c := follow(s.walFile()); c != nil {
				s.followLog(done, c)
			} else {
				s.watchLog(done)
			}
		})
	}
	return s.woken
}

// watcher runs one goroutine, at most once.
type watcher struct {
	mu      sync.Mutex
	done    chan struct{}
	ended   chan struct{}
	stopped bool
}

func (w *watcher) start(run func(<-chan struct{})) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.done != nil {
		return
	}
	w.done, w.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(w.ended)
		run(w.done)
	}()
}

// stop ends the goroutine and waits for it.
func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped = true; w.done != nil {
		close(w.done)
		<-w.ended
		w.done = nil
	}
}

// followLog wakes when the write-ahead log's file is written to, at most once in
// Options.Watch, and again a few times after the last write, see echoes. An idle store
// costs nothing. A file that is put in its place is another store's: see replaced.go.
func (s *Store) followLog(done <-chan struct{}, c *changes) {
	defer c.close()
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	for left := 0; ; {
		var again <-chan time.Time
		if left > 0 {
			pause.Reset(s.opts.Watch << (echoes - left))
			again = pause.C
		}
		select {
		case <-done:
			return
		case <-again:
			left--
		case _, heard := <-c.seen:
			if !heard { // the kernel tells no more
				s.watchLog(done)
				return
			}
			if left == echoes { // it was written to a moment ago
				select {
				case <-done:
					return
				case <-pause.C:
				}
			}
			left = echoes
		}
		s.Wake("")
	}
}

// echoes is how many more hints follow a write, each after twice the pause before, from
// Options.Watch on. A commit is written to the log's file first, and there for readers
// only after the file was synchronised: who looks at once may be too early.
const echoes = 6

// watchLog wakes when the write-ahead log's file has changed, and again a few times, see
// echoes. Every commit writes to it; so do the relay's own, which makes a hint that finds
// nothing.
func (s *Store) watchLog(done <-chan struct{}) {
	ticker := time.NewTicker(s.opts.Watch)
	defer ticker.Stop()
	last, quiet := stampOf(s.walFile()), 0
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		now := stampOf(s.walFile())
		switch {
		case now != last:
			last = now
			if s.Wake(""); quiet >= quietLooks {
				ticker.Reset(s.opts.Watch)
			}
			quiet = 0
		case quiet < quietLooks:
			if quiet++; quiet < 1<<echoes && (quiet+1)&quiet == 0 { // after 1, 3, 7 looks, and so on
				s.Wake("")
			}
			if quiet == quietLooks {
				ticker.Reset(quietTimes * s.opts.Watch)
			}
		}
	}
}

// After so many looks that found nothing the store looks so many times more rarely: a
// look is a stat(2) of two microseconds, and waking a goroutine for it costs ten times that.
const (
	quietLooks = 200
	quietTimes = 8
)

// stamp is what tells two states of a file apart.
type stamp struct {
	size     int64
	modified time.Time
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{size: info.Size(), modified: info.ModTime()}
}

func (s *Store) walFile() string { return s.file + "-wal" }

// walSize returns the size of the write-ahead log's file in bytes.
func (s *Store) walSize() int64 { return stampOf(s.walFile()).size }

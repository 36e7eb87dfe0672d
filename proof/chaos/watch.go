package chaos

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// Watched is implemented by a Database that can be asked, while it is at work, what relays do to it. It is called by one goroutine,
// over a way that is never broken.
type Watched interface {
	Watch(ctx context.Context) (Seen, error)
}

// Seen is what a look at a database shows.
type Seen struct {
	// Open is for how long the longest transaction of a relay has been open with nothing to do. Zero: there is none; negative: that
	// cannot be seen.
	Open time.Duration
	// Waited is the longest time that a producer has waited for a lock of a relay. Zero: nobody waits; negative: that cannot be seen.
	Waited time.Duration
	// Lock says which lock that is and what the relay does that has it, in the server's words.
	Lock string
}

// Rereadable is implemented by a Place that can be read once more, from the first message that is still there: More begins again.
type Rereadable interface{ Reread() }

const (
	watchEvery    = 200 * time.Millisecond
	attemptsEvery = 5 // looks
	// mostOpen is how long a relay's transaction may be seen idle, and mostWaited how long a producer may wait for a relay: on a
	// busy machine a statement may take that.
	mostOpen   = 2 * time.Second
	mostWaited = 250 * time.Millisecond
)

// watcher looks at the store while it is at work: at what relays do to it, and which attempts it counts against messages.
type watcher struct {
	*operator

	cancel context.CancelFunc
	ended  sync.WaitGroup
	looks  []history.Watch // at open transactions
}

func startWatcher(ctx context.Context, r *run) (*watcher, error) {
	events, err := newEvents(filepath.Join(r.dir, "watcher.events"), r.origin)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{operator: &operator{run: r, events: events}, cancel: cancel}
	w.ended.Go(func() {
		for n := 0; Pause(ctx, watchEvery) == nil; n++ {
			w.watch(ctx)
			if n%attemptsEvery == 0 {
				w.attempts(ctx)
			}
		}
	})
	return w, nil
}

// watch looks once, if the database can be asked and answers.
func (w *watcher) watch(ctx context.Context) {
	d, ok := w.run.database.(Watched)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	seen, err := d.Watch(ctx)
	if err != nil {
		return // it is away
	}
	now := w.events.clock.Now()
	if seen.Open >= 0 {
		w.looks = append(w.looks, history.Watch{Kind: history.OpenTransaction, Of: "a relay", Begin: now - seen.Open, End: now})
	}
	if seen.Waited >= 0 {
		w.events.Look(history.Watch{Kind: history.LockWait, Of: strings.TrimSpace("a producer, for a relay " + seen.Lock), Begin: now - seen.Waited, End: now})
	}
}

// attempts records what the store counts against messages, if it answers.
func (w *watcher) attempts(ctx context.Context) {
	if !w.run.damage.numbered.TryRLock() {
		return // until it is noticed, new messages are shown with the errors of those that had their numbers
	}
	defer w.run.damage.numbered.RUnlock()
	_ = w.do(ctx, func(ctx context.Context, s orders) error {
		for _, state := range []store.State{store.StateRetrying, store.StateDead, store.StateHeld} {
			items, _, err := s.List(ctx, store.Query{Ref: ref, State: state, Limit: 1000, Oldest: true})
			if err != nil {
				return err
			}
			for i := range items {
				w.events.Hold(history.Stored{ID: history.ID(items[i].ID), Attempts: items[i].Attempts})
			}
		}
		now := w.events.clock.Now()
		w.events.Look(history.Watch{Kind: history.BurnedAttempts, Begin: now, End: now})
		return nil
	})
}

// stop ends the watch. A transaction that was open while its relay was stopped, or its way to the database broken, says nothing of
// what the relay does, and is left out. It may be called twice.
func (w *watcher) stop(happened []Happening) error {
	w.cancel()
	w.ended.Wait()
	for _, l := range w.looks {
		if l.End-l.Begin <= mostOpen || !w.excused(l, happened) {
			w.events.Look(l)
		}
	}
	w.looks = nil
	return w.operator.stop()
}

func (w *watcher) excused(l history.Watch, happened []Happening) bool {
	for _, h := range happened {
		if h.Throughout { // it would excuse everything
			continue
		}
		from, to := w.events.clock.At(h.From), w.events.clock.At(h.To)+mostOpen
		if (h.Room == Processes || h.Room == DatabaseWire || h.Room == Databases) && from <= l.End && l.Begin <= to {
			return true
		}
	}
	return false
}

// mostLooking is how long the store is asked for what seems lost of a run that did not come to rest: that may be very much.
const mostLooking = time.Minute

// lookup looks for what seems lost: among what wipes took away, in the store, and in the place if it can be read again.
func (r *run) lookup(ctx context.Context, f *fates, wiped map[history.ID]bool, restless bool) func(history.ID) history.Found {
	again := sync.OnceValues(func() (map[history.ID]bool, error) { return r.reread(ctx) })
	began := time.Now()
	return func(id history.ID) (found history.Found) {
		if found, there := f.found(id); there {
			return found
		}
		switch {
		case wiped[id]:
			return history.Found{Broker: true, Note: "accepted, and wiped before anyone could read it"}
		case restless && time.Since(began) > mostLooking:
			return history.Found{State: history.Pending, Note: "not asked for: the run did not come to rest"}
		}
		err := r.operator.do(ctx, func(ctx context.Context, s orders) error {
			items, err := s.Show(ctx, ref.Box, postbag.ID(id))
			for i := range items {
				found.Note += "the store says " + string(items[i].State) + "; "
				switch items[i].State {
				case store.StatePending, store.StateScheduled, store.StateInFlight:
					found.State = history.Pending
				case store.StateRetrying, store.StateBlocked:
					found.State = history.Parked
				case store.StateDead:
					found.State = history.Dead
				default:
				}
			}
			return err
		})
		if err != nil {
			found.Note += "the store does not answer: " + err.Error() + "; "
		}
		there, err := again()
		if found.Broker = there[id]; err != nil {
			found.Note += err.Error()
		}
		return found
	}
}

// reread reads the place once more.
func (r *run) reread(ctx context.Context) (map[history.ID]bool, error) {
	p, ok := r.place.(Rereadable)
	if !ok {
		return nil, errors.New("what lies there cannot be read again")
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	p.Reread()
	there := map[history.ID]bool{}
	for {
		all, err := r.place.More(ctx)
		if err != nil || len(all) == 0 {
			return there, err
		}
		for i := range all {
			if id, _, err := identify(&all[i]); err == nil {
				there[id] = true
			}
		}
	}
}

package console

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

const (
	// mostWorked is how many operations of a database this console works at a time.
	mostWorked = 4
	// workLook is how often it looks for operations that nobody works.
	workLook = 30 * time.Second
	// abandoned is how long nobody must have worked an operation until this console takes it over. The process that begins one on the
	// command line takes it at once.
	abandoned = 20 * time.Second
)

// works says why this console works no operation. Nil: it does.
func (c *console) works() error {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	if c.live.running == nil || c.live.running.Err() != nil {
		return &crowdedError{"this console works no operations at the moment: what serves it does not call Run; give the command with postbag messages retry or discard, or go on with postbag operations resume"}
	}
	return nil
}

// news has the worker of the database that the path names take an operation, if it runs.
func (c *console) news(r *http.Request, id store.OperationID) {
	d, err := c.database(r)
	if err != nil { // it was there a moment ago
		return
	}
	d.forgetOperations()
	d.worker.take(id)
}

// workers are what works the operations of all databases, if the console takes commands.
func (c *console) workers() (all []func(context.Context)) {
	if !c.commands {
		return nil
	}
	for _, d := range c.databases {
		all = append(all, d.work)
	}
	return all
}

// worker knows which operations of a database this console works.
type worker struct {
	news chan struct{} // there is something to look at

	mu      sync.Mutex
	counted int // numbers what follows
	// mine are those that were begun or resumed here, and busy those at work here, since when. idle are those that nobody works, since
	// when that was seen.
	mine, busy map[store.OperationID]int
	idle       map[store.OperationID]time.Time
}

func newWorker() *worker {
	return &worker{
		news: make(chan struct{}, 1),
		mine: make(map[store.OperationID]int), busy: make(map[store.OperationID]int), idle: make(map[store.OperationID]time.Time),
	}
}

// take has the worker take an operation at once, if it runs.
func (w *worker) take(id store.OperationID) {
	w.mu.Lock()
	w.counted++
	w.mine[id] = w.counted
	w.mu.Unlock()
	w.look()
}

func (w *worker) look() {
	select {
	case w.news <- struct{}{}:
	default: // it looks anyhow
	}
}

// next returns which of all operations are to be worked now, the oldest first, and notes that they are.
func (w *worker) next(all []operations.Operation, now time.Time) (ids []store.OperationID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	idle := make(map[store.OperationID]time.Time)
	for i := len(all) - 1; i >= 0; i-- {
		o := &all[i]
		if o.State == store.OperationDone || o.State == store.OperationCancelled {
			delete(w.mine, o.ID)
		}
		if !o.Idle || o.Later || w.busy[o.ID] > 0 {
			continue
		}
		since, seen := w.idle[o.ID]
		if !seen {
			since = now
		}
		idle[o.ID] = since
		if (w.mine[o.ID] > 0 || now.Sub(since) >= abandoned) && len(w.busy) < mostWorked {
			w.counted++
			w.busy[o.ID] = w.counted
			ids = append(ids, o.ID)
		}
	}
	w.idle = idle
	return ids
}

// left notes that an operation is not worked here any more. If it still runs, and nobody resumed it here meanwhile, it is taken again
// only after a while.
func (w *worker) left(id store.OperationID) {
	w.mu.Lock()
	if w.mine[id] < w.busy[id] {
		delete(w.mine, id)
	}
	delete(w.busy, id)
	delete(w.idle, id)
	w.mu.Unlock()
	w.look()
}

// work works operations of the database until ctx ends. It opens no database: that is done when somebody looks.
func (d *database) work(ctx context.Context) {
	var busy sync.WaitGroup
	defer busy.Wait()
	beat := time.NewTicker(workLook)
	defer beat.Stop()
	for {
		for _, id := range d.toWork(ctx) {
			busy.Go(func() { d.workOne(ctx, id) })
		}
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		case <-d.worker.news:
		}
	}
}

// toWork returns which operations are to be worked now.
func (d *database) toWork(ctx context.Context) []store.OperationID {
	if !d.opened() {
		return nil
	}
	all, err := d.operated(ctx)
	if err != nil { // the next look tells
		return nil
	}
	return d.worker.next(all, time.Now())
}

// workOne works one operation until it is over, paused, or ctx ends. What it could not do, its record says, or another look finds out.
func (d *database) workOne(ctx context.Context, id store.OperationID) {
	defer d.worker.left(id)
	defer d.forgetOperations()
	defer d.forget()
	defer func() { _ = recover() }() // the mistake of a program ends no process that does more; the lease of the operation ends by itself
	w := d.ops.Work(id, store.Audit{Who: "a console", Why: "it works operations"}, workerName())
	w.Stays = true
	w.OnProgress = func(operations.Progress) { d.commanded() } // each step is a command of this console
	_, _ = w.Do(ctx)
}

// workerName is how records call this process.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "some host"
	}
	name := fmt.Sprintf("a console, process %d on %s", os.Getpid(), host)
	return name[:min(len(name), postbag.MaxName)]
}

// opened says whether the database is open.
func (d *database) opened() bool {
	select {
	case d.opening <- struct{}{}:
	default: // somebody opens it
		return false
	}
	defer func() { <-d.opening }()
	return d.open == nil && d.away == nil
}

package storekit

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// How long Reached waits for a replica, how often it looks meanwhile, and how many marks it keeps that the replica has not reached.
const (
	reachWait = 200 * time.Millisecond
	reachLook = 20 * time.Millisecond
	reachMost = 64
)

// Reached knows how far a replica has come. The zero value knows nothing yet. It may be used concurrently.
type Reached struct {
	mu sync.Mutex
	// ahead are marks that it has not reached, the oldest first, and latest is the latest that it has.
	ahead  []store.Watermark
	latest store.Watermark
	// replica is the number of the replica that these are about.
	replica int
}

// Ask is store.Reader.Reached. has looks how many of the marks, of which each is beyond those before it, the replica has reached.
func (r *Reached) Ask(ctx context.Context, m store.Watermark, has func(context.Context, []store.Watermark) (int, error)) (time.Time, error) {
	until := time.Now().Add(reachWait)
	r.add(m)
	for {
		marks, replica := r.marks()
		n, err := has(ctx, marks)
		if err != nil {
			return time.Time{}, err
		}
		if same := r.reached(replica, marks[:n]); same && n == len(marks) || !time.Now().Before(until) {
			return r.at()
		}
		select {
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		case <-time.After(reachLook):
		}
	}
}

// add keeps a mark to be reached. A mark of another database, or of another history, takes the place of all others.
func (r *Reached) add(m store.Watermark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest.Database != m.Database {
		r.latest = store.Watermark{Database: m.Database}
		r.ahead = nil
	}
	if len(r.ahead) >= reachMost { // every second one says it well enough
		kept := r.ahead[:0]
		for i := 0; i < len(r.ahead); i += 2 {
			kept = append(kept, r.ahead[i])
		}
		r.ahead = kept
	}
	r.ahead = append(r.ahead, m)
}

func (r *Reached) marks() (ahead []store.Watermark, replica int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ahead), r.replica
}

// reached notes marks that a replica has reached, unless it is another one by now.
func (r *Reached) reached(replica int, marks []store.Watermark) (same bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if replica != r.replica || len(marks) == 0 {
		return replica == r.replica
	}
	last := marks[len(marks)-1]
	if last.Database != r.latest.Database {
		return true
	}
	r.ahead = slices.DeleteFunc(r.ahead, func(m store.Watermark) bool { return !m.At.After(last.At) })
	if last.At.After(r.latest.At) {
		r.latest = last
	}
	return true
}

// Forget says that questions go to another replica from now on: nobody knows yet how far that one has come. It can have those marks
// that the one before had not reached.
func (r *Reached) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest.At = time.Time{}
	r.replica++
}

func (r *Reached) at() (time.Time, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest.At.IsZero() {
		return time.Time{}, store.ErrBehind
	}
	return r.latest.At, nil
}

// Behind is how long ago the replica had all that its primary had, as far as is known. Zero: nothing is known.
func (r *Reached) Behind() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest.At.IsZero() {
		return 0
	}
	return max(time.Since(r.latest.At), 0)
}

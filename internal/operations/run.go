package operations

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// commandBatch is how many messages get a command in one transaction: few enough that writers of messages do not notice.
const commandBatch = 500

// pendingBatch is the same for pending messages, of which store.MaxPendingCommands can wait: few enough that some fit
// before all have been carried out.
const pendingBatch = 100

// askAgain is how long a Run waits until it asks whether there is room for more commands.
const askAgain = 200 * time.Millisecond

// Progress is how far a command has got.
type Progress struct {
	// Chosen is how many messages the command is for, and Handled is how many of them have been given it so far.
	Chosen, Handled int
	// Queued is how many of them a relay is to carry it out for. The others had it queued already, or are settled.
	Queued int
	// Done is how many were changed at once: scheduled messages.
	Done int
	// Changed is how many do not have the command, since they are not in the state that Choice.Only says any more.
	Changed int
	// Paused: it waits for Resume.
	Paused bool
	// Waits: it waits for relays to carry out what is queued, since no more of pending messages may be.
	Waits bool
	// Trouble is the error of the store after which it tries again by itself, in at most ten seconds. Only a Work has any.
	Trouble string
}

// Run gives a command to the messages of a preview. It is safe for concurrent use, except that you call Do once. To cancel
// it, end the context of Do: what was done until then stays, and you can give the command again for the rest.
type Run struct {
	store   Store
	preview *Preview
	audit   store.Audit
	// OnProgress hears of each step, in the goroutine of Do. Optional; set it before Do.
	OnProgress func(Progress)
	// Rate is how many messages get the command in a second, at most. Zero: as many as the store takes. Set it before Do.
	Rate int

	mu      sync.Mutex
	at      Progress
	resumed chan struct{} // not nil while it is paused
}

// Run prepares a command for the messages of a preview. a says who gives it and why.
func (s Store) Run(p *Preview, a store.Audit) *Run {
	if len(p.IDs) == 0 {
		a.Filter = p.Filter
	}
	return &Run{store: s, preview: p, audit: a, at: Progress{Chosen: p.Size()}}
}

// Pause makes Do wait before its next step.
func (r *Run) Pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resumed == nil {
		r.resumed = make(chan struct{})
		r.at.Paused = true
	}
}

// Resume ends a pause.
func (r *Run) Resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resumed != nil {
		close(r.resumed)
		r.resumed, r.at.Paused = nil, false
	}
}

// Progress is how far it has got.
func (r *Run) Progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// Do gives the command to all messages of the preview, some at a time. Each time it also writes the audit log, in the same
// transaction. Its error says how many messages have the command. To give it again does no harm.
func (r *Run) Do(ctx context.Context) (Progress, error) {
	if err := ValidAudit(r.audit); err != nil {
		return r.Progress(), err
	}
	next := r.pace()
	for rest := r.preview.scheduled; len(rest) > 0; {
		n := r.size(len(rest))
		err := r.step(ctx, next, n, func() (did Progress, err error) {
			did.Done, err = r.store.Editor.Scheduled(ctx, r.audit, r.preview.Box, r.preview.Kind, rest[:n])
			return did, err
		})
		if err != nil {
			at := r.Progress()
			return at, fmt.Errorf("%d of %d messages are done; give the command again for the rest: %w", at.Done, at.Chosen, err)
		}
		rest = rest[n:]
	}
	look := &still{store: r.store, preview: r.preview}
	for rest := r.preview.seqs; len(rest) > 0; {
		n := r.size(len(rest))
		err := r.step(ctx, next, n, func() (did Progress, err error) {
			seqs := rest[:n]
			if r.preview.Only != "" {
				if seqs, err = look.of(ctx, seqs); err != nil || len(seqs) == 0 {
					return Progress{Changed: n}, err
				}
			}
			did.Queued, err = r.queue(ctx, seqs)
			did.Changed = n - len(seqs)
			return did, err
		})
		if err != nil {
			at := r.Progress()
			return at, fmt.Errorf("%d of %d messages are queued; give the command again for the rest: %w", at.Queued, at.Chosen, err)
		}
		rest = rest[n:]
	}
	return r.Progress(), nil
}

// size is how many of the rest get the command in one step: at most what the rate gives in a tenth of a second.
func (r *Run) size(rest int) int {
	n := min(rest, commandBatch)
	if r.preview.Query.State == store.StatePending {
		n = min(n, pendingBatch)
	}
	if r.Rate > 0 {
		n = min(n, max(r.Rate/10, 1))
	}
	return n
}

// pace returns a function that says how long to wait before the next step of n messages.
func (r *Run) pace() func(n int) time.Duration {
	free := time.Now()
	return func(n int) time.Duration {
		if r.Rate <= 0 {
			return 0
		}
		now := time.Now()
		if free.Before(now) {
			free = now
		}
		wait := free.Sub(now)
		free = free.Add(time.Duration(n) * time.Second / time.Duration(r.Rate))
		return wait
	}
}

// queue gives the command to messages of the log. While too many wait for relays, it waits too.
func (r *Run) queue(ctx context.Context, seqs []int64) (int, error) {
	for {
		n, err := r.store.Command(ctx, r.audit, r.preview.Ref, r.preview.Kind, seqs)
		if !errors.Is(err, store.ErrTooManyCommands) {
			r.waits(false)
			return n, err
		}
		r.waits(true)
		if err := sleep(ctx, askAgain); err != nil {
			return 0, err
		}
	}
}

// waits notes whether relays are waited for, and tells of the beginning.
func (r *Run) waits(now bool) {
	r.mu.Lock()
	tell := now && !r.at.Waits
	r.at.Waits = now
	at := r.at
	r.mu.Unlock()
	if tell && r.OnProgress != nil {
		r.OnProgress(at)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// step does the command for n messages, when no pause is on and the rate lets them.
func (r *Run) step(ctx context.Context, next func(int) time.Duration, n int, do func() (Progress, error)) error {
	if err := sleep(ctx, next(n)); err != nil {
		return err
	}
	if err := r.wait(ctx); err != nil {
		return err
	}
	did, err := do()
	r.mu.Lock()
	r.at.Done += did.Done
	r.at.Queued += did.Queued
	if err == nil {
		r.at.Changed += did.Changed
		r.at.Handled += n
	}
	at := r.at
	r.mu.Unlock()
	if err == nil && r.OnProgress != nil {
		r.OnProgress(at)
	}
	return err
}

// wait waits for the end of a pause.
func (r *Run) wait(ctx context.Context) error {
	for {
		r.mu.Lock()
		resumed := r.resumed
		r.mu.Unlock()
		if resumed == nil {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-resumed:
		}
	}
}

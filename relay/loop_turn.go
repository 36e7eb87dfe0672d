package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/failpoint"
	"github.com/postbag/postbag/store"
)

// turn makes a round.
func (l *loop) turn(r *core.Round) {
	t := r.Turn()
	l.start(func() func() {
		began := time.Now()
		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
		defer cancel()
		result, err := l.exchange(ctx, &t)
		took := time.Since(began)
		return func() { l.landed(r, &result, err, took) }
	})
}

// exchange is the round trip of a round, with points at which tests of faults end it.
func (l *loop) exchange(ctx context.Context, t *store.Turn) (result store.TurnResult, err error) {
	settles, reads := len(t.Settle) > 0, len(t.Read) > 0
	if settles {
		err = failpoint.Hit("relay/settle/before")
	}
	if reads && err == nil {
		err = failpoint.Hit("relay/fetch/before")
	}
	if err != nil {
		return result, err
	}
	if result, err = l.bounded(ctx, t); err != nil {
		return result, err
	}
	if settles {
		err = failpoint.Hit("relay/settle/after")
	}
	if reads && err == nil {
		err = failpoint.Hit("relay/fetch/after")
	}
	return result, err
}

// landed hands on the answer to a round.
func (l *loop) landed(r *core.Round, result *store.TurnResult, err error, took time.Duration) {
	now := l.now()
	waited := r.Generation == l.core.Generation()
	var done progress
	if err == nil && waited {
		l.noteRead(r, result.Batches, took)
		done = l.progressOf(r, result.Verdicts, took)
	}
	switch taken := l.core.Landed(now, r, core.FaultOf(err), result); {
	case taken:
		l.tellProgress(&done)
		l.noteDone(r, result.Verdicts)
		l.noteCommands(result.Commands)
	case !waited: // it began again since
		l.heard(err)
	case isMoved(err):
		l.log.moved(err)
	case err != nil:
		l.storeFailed(fmt.Errorf("relay: settling and reading failed: %w", err))
	}
	l.carryOut(now)
}

// noteRead logs reads that fail, and rows that cannot be read.
func (l *loop) noteRead(r *core.Round, batches []store.Batch, took time.Duration) {
	next := 0
	for i := range r.Parts {
		p := &r.Parts[i]
		for j := range p.Turn.Read {
			l.noteBatch(p.Flow, &batches[next])
			if p.Turn.Read[j].Limit > 0 {
				l.tellPage(p.Flow.Ref, &batches[next], took)
			}
			next++
		}
	}
}

func (l *loop) noteBatch(f *core.Flow, b *store.Batch) {
	if errors.Is(b.Err, store.ErrNoSubscription) { // the next view shows that it is gone
		l.heard(b.Err)
		return
	}
	if b.Err != nil {
		l.log.readFailed(f.Ref, b.Err)
		return
	}
	l.log.readWorks(f.Ref)
	own := l.flowOf(f)
	for i := range b.Records {
		l.noteUnreadable(own, &b.Records[i], 1)
	}
}

// noteCommands notes operators' commands to our flows.
func (l *loop) noteCommands(all []store.Command) {
	for i := range all {
		if c := &all[i]; l.byRef[c.Ref] != nil {
			l.noteCommand(c)
		}
	}
}

package broker

import (
	"context"
	"errors"
	"sync"
)

// wrappedLanes is what is Transactional of a destination behind middleware.
type wrappedLanes struct{ *wrapped }

// OpenLane implements Transactional.
func (l wrappedLanes) OpenLane(ctx context.Context, name LaneName) (Lane, error) {
	inner, err := l.opener.OpenLane(ctx, name)
	if err != nil {
		return nil, err
	}
	return &wrappedLane{Lane: inner, w: l.wrapped}, nil
}

// wrappedLane sends what is committed through middleware.
type wrappedLane struct {
	Lane

	w        *wrapped
	finished bool // by a transaction that the middleware held back
}

// Commit implements Lane. A transaction of which the middleware holds something back
// is aborted before anything of it is sent.
func (l *wrappedLane) Commit(ctx context.Context, msgs []Delivery, record []byte, results []Result) (TxOutcome, error) {
	if l.finished {
		for i := range results {
			results[i] = Result{Outcome: NotSent, Err: ErrLane}
		}
		return Aborted, ErrLane
	}
	if len(msgs) == 0 {
		return l.Lane.Commit(ctx, msgs, record, results)
	}
	clear(results)
	c := &commit{w: l.w, lane: l.Lane, record: record, whole: len(msgs), around: currentCommit(ctx)}
	var reports sync.Mutex
	l.w.Destination.Publish(context.WithValue(ctx, commitKey{}, c), msgs, func(i int, r Result) {
		reports.Lock()
		defer reports.Unlock()
		results[i] = r
	})
	switch made, outcome, err := c.end(); {
	case !made:
		l.finished = true
		together(results, false)
		return Aborted, errors.Join(errTogether, l.Close(ctx))
	case outcome == Committed:
		for i := range results {
			results[i] = Result{Outcome: Accepted, Note: results[i].Note}
		}
		return outcome, nil
	case outcome == Aborted:
		together(results, true)
		return outcome, err
	default:
		return outcome, err
	}
}

var errTogether = errors.New("broker: a message of the transaction was held back before it was sent; commit it without that")

// together gives all messages of a transaction that was aborted results that say so:
// those at fault keep theirs, the rest is not sent; and where none is at fault they
// are unavailable. sent: the destination had them, and gave them such results.
func together(results []Result, sent bool) {
	fault := func(o Outcome) bool { return o == Rejected || o == Misconfigured }
	rest := Unavailable
	for i := range results {
		if fault(results[i].Outcome) {
			rest = NotSent
		}
	}
	for i := range results {
		switch o := results[i].Outcome; {
		case fault(o), o == rest, sent && (o == NotSent || o == Unavailable):
		default:
			results[i] = Result{Outcome: rest, Err: errTogether}
		}
	}
}

// commit is a transaction on its way through middleware.
type commit struct {
	w      *wrapped
	lane   Lane
	record []byte
	whole  int     // how many messages it has
	around *commit // of a destination that was wrapped twice

	mu      sync.Mutex
	made    bool
	outcome TxOutcome
	err     error
}

type commitKey struct{}

func currentCommit(ctx context.Context) *commit {
	c, _ := ctx.Value(commitKey{}).(*commit)
	return c
}

// commitOf is the transaction of w's lanes in which a call is made, nil for none.
func commitOf(ctx context.Context, w *wrapped) *commit {
	c := currentCommit(ctx)
	for c != nil && c.w != w {
		c = c.around
	}
	return c
}

// InTransaction says whether a call of Publish is part of a transaction: all its
// messages are stored, or none. It is for middleware.
func InTransaction(ctx context.Context) bool { return currentCommit(ctx) != nil }

func (c *commit) end() (made bool, outcome TxOutcome, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made, c.outcome, c.err
}

// publish commits, if these are all messages of the transaction.
func (c *commit) publish(ctx context.Context, msgs []Delivery, report func(i int, r Result)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made || len(msgs) != c.whole {
		for i := range msgs {
			report(i, Result{Outcome: NotSent, Err: errTogether})
		}
		return
	}
	results := make([]Result, len(msgs))
	c.made = true
	c.outcome, c.err = c.lane.Commit(ctx, msgs, c.record, results)
	for i, r := range results {
		switch c.outcome {
		case Committed:
			r = Result{Outcome: Accepted, Note: r.Note}
		case Unresolved, Fenced:
			r = Result{Err: c.err}
		case Aborted:
		}
		report(i, r)
	}
}

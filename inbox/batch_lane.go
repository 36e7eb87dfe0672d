package inbox

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// batchLane is a lane of a BatchDestination.
type batchLane[Tx any] struct {
	d        *BatchDestination[Tx]
	key      string
	epoch    int64
	record   []byte
	finished atomic.Bool
}

// Record implements broker.Lane.
func (l *batchLane[Tx]) Record() []byte { return l.record }

// Close implements broker.Lane. A lane holds nothing between two commits.
func (l *batchLane[Tx]) Close(context.Context) error {
	l.finished.Store(true)
	return nil
}

// Commit implements broker.Lane.
func (l *batchLane[Tx]) Commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, error) {
	if l.finished.Load() || !l.d.one.calls.Enter() {
		return withhold(results, broker.ErrLane), broker.ErrLane
	}
	defer l.d.one.calls.Leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.d.one.ended, cancel)()
	p := newPage(l, msgs, record, results)
	outcome, err := p.commit(ctx)
	if outcome != broker.Committed {
		l.finished.Store(true)
	}
	return outcome, err
}

// withhold answers that nothing was sent.
func withhold(results []broker.Result, err error) broker.TxOutcome {
	for i := range results {
		results[i] = notSent(err)
	}
	return broker.Aborted
}

// errOthers is of messages whose page was rolled back for another one.
var errOthers = errors.New("inbox: handle: another message of the page failed; this one is applied in the next transaction")

// errFailed ends a transaction in which some message has failed.
var errFailed = errors.New("inbox: handle: a message of the page failed, and the page is rolled back")

// commit runs the page until it is known what becomes of it, or ctx ends.
//
// The first run has no savepoints. If a message fails, the second one has one for each, and
// finds out which. It commits if none fails then.
func (p *page[Tx]) commit(ctx context.Context) (broker.TxOutcome, error) {
	if ctx.Err() != nil {
		err := late(context.Cause(ctx))
		return withhold(p.results, err), err
	}
	if p.unfit() {
		return p.abort(errFailed)
	}
	p.limit = p.d.one.limit(ctx)
	back := Retry{Min: firstAgain, Max: maxAgain, Factor: 2}
	search, start := false, time.Now()
	for n := 1; ; n++ {
		err := p.run(ctx, search)
		switch {
		case err == nil:
			for i := range p.results {
				p.results[i] = broker.Result{Outcome: broker.Accepted}
			}
			return broker.Committed, nil
		case p.handled && (errors.Is(err, postbag.ErrCommitUnknown) || ended(ctx)):
			return broker.Unresolved, fmt.Errorf("inbox: handle: %w", err)
		case !p.began && errors.Is(err, store.ErrFenced):
			return broker.Fenced, fmt.Errorf("inbox: handle: %w; if this goes on, another box works lane %q of this database: give each box a Consumer of its own", err, p.lane.key)
		case ended(ctx):
			err = late(err)
			return withhold(p.results, err), err
		case !p.tired && meetsAnother(p.d.one.o.Store, err):
			search = p.tires(n, start, err) || search
			pause(ctx, back.after(n))
		case !p.began:
			return p.unavailable(err)
		case storeFails(p.d.one.o.Store, err):
			return p.unavailable(p.named(err))
		default:
			if outcome, err := p.decide(ctx, err, search); err != nil {
				return outcome, err
			}
			search = true
		}
	}
}

// maxPageInARow is how often in a row a page meets other transactions before what fails so
// is a message's own fault: its handler may wait for a lock of its own transaction, through
// another connection. Half of the page's time is too long, too.
const maxPageInARow = 20

// tires says whether a page has met other transactions for too long.
func (p *page[Tx]) tires(n int, start time.Time, err error) bool {
	p.tired = p.began && (n >= maxPageInARow || time.Since(start) > p.limit/2)
	if p.tired {
		p.suspects(err)
	}
	return p.tired
}

// suspects notes the message whose handler failed last.
func (p *page[Tx]) suspects(err error) {
	if !p.handled {
		p.suspect, p.why = p.at, err
	}
}

// away says that the error of a handler concerns the whole destination.
func (*page[Tx]) away(err error) bool {
	e, is := errors.AsType[*broker.Error](err)
	return is && e.Outcome == broker.Unavailable && e.Scope != broker.ScopeTopic
}

// decide says what it means that a run failed. No error: it is to be found out which messages
// fail.
func (p *page[Tx]) decide(ctx context.Context, err error, search bool) (broker.TxOutcome, error) {
	if down := p.d.one.Probe(ctx); down != nil {
		return p.unavailable(down)
	}
	switch {
	case search && p.failed > 0:
		return p.abort(err)
	case p.away(err):
		return p.unavailable(err)
	case p.overdue:
		return p.tooLong(err)
	case p.lost:
		return broker.Unresolved, nil
	case !search:
		p.suspects(err)
		return broker.Unresolved, nil
	case len(p.msgs) == 1:
		p.fault(0, err)
		return p.abort(errFailed)
	}
	return p.unavailable(err)
}

// tooLong answers for a page that was not applied in its time. If the search took that long,
// the message that failed before is to blame. So is one whose handler took more than half of
// all the time.
func (p *page[Tx]) tooLong(err error) (broker.TxOutcome, error) {
	switch {
	case p.suspect >= 0:
		p.fault(p.suspect, p.why)
	case p.at >= 0 && (len(p.msgs) == 1 || p.spent > p.limit/2):
		p.fault(p.at, fmt.Errorf("the handler took %s of %s: %w", p.spent, p.limit, err))
	default:
		return p.unavailable(fmt.Errorf("%d messages were not applied in %s; set a longer Timeout, of the destination and of the subscription, or a smaller Batch: %w", len(p.msgs), p.limit, err))
	}
	return p.abort(errFailed)
}

// named says at which message a run ended, if that is known: with others the store may work.
func (p *page[Tx]) named(err error) error {
	if p.at < 0 || p.handled {
		return err
	}
	return fmt.Errorf("at message %s: %w", p.msgs[p.at].ID, err)
}

// unavailable answers that no message is at fault.
func (p *page[Tx]) unavailable(err error) (broker.TxOutcome, error) {
	err = fmt.Errorf("inbox: handle: %w", err)
	for i := range p.results {
		p.results[i] = broker.Result{Outcome: broker.Unavailable, Err: err}
	}
	return broker.Aborted, err
}

// abort answers that some messages are at fault.
func (p *page[Tx]) abort(err error) (broker.TxOutcome, error) {
	for i := range p.results {
		p.results[i] = p.faults[i]
		if p.faults[i].Err == nil {
			p.results[i] = notSent(errOthers)
		}
	}
	return broker.Aborted, err
}

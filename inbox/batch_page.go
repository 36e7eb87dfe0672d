package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// page is one Commit at work.
type page[Tx any] struct {
	d       *BatchDestination[Tx]
	lane    *batchLane[Tx]
	msgs    []broker.Delivery
	record  []byte
	results []broker.Result

	handed  []*Message
	limit   time.Duration   // for the first run
	faults  []broker.Result // of messages that are at fault; the others are zero
	failed  int             // how many are
	suspect int             // the message whose handler failed in the first run; -1: not known
	why     error           // of the suspect
	piece   int             // how many messages a search gives at once
	ender   int             // the message behind which a search has lost its transaction; -1: none
	tired   bool            // it has met other transactions for too long

	// Of the last run.
	began   bool // the record was written: an earlier run has not committed
	handled bool // all handlers have returned nil: the commit came next
	overdue bool // its time was over
	lost    bool // its transaction was gone before the end: search again
	at      int  // the message whose handler was at work; -1: none, or several
	spent   time.Duration
}

func newPage[Tx any](l *batchLane[Tx], msgs []broker.Delivery, record []byte, results []broker.Result) *page[Tx] {
	p := &page[Tx]{
		d: l.d, lane: l, msgs: msgs, record: record, results: results, suspect: -1, piece: 1, ender: -1,
		handed: make([]*Message, len(msgs)), faults: make([]broker.Result, len(msgs)),
	}
	if p.d.handle != nil {
		p.piece = max(len(msgs), 1)
	}
	for i := range msgs {
		p.handed[i] = handed(&msgs[i])
	}
	return p
}

// unfit says that some messages must not reach a handler.
func (p *page[Tx]) unfit() bool {
	for i := range p.msgs {
		if err := unfit(&p.msgs[i]); err != nil {
			p.failed++
			p.faults[i] = broker.Result{Outcome: broker.Rejected, Err: err}
		}
	}
	return p.failed > 0
}

// fault notes that a message is at fault.
func (p *page[Tx]) fault(i int, err error) {
	r := broker.Result{Outcome: broker.Rejected, Err: fmt.Errorf("inbox: handle: %w", err), Dead: errors.Is(err, ErrRejected)}
	if e, is := errors.AsType[*broker.Error](err); is && (e.Outcome == broker.Unavailable || e.Outcome == broker.Misconfigured) {
		r.Outcome, r.Scope = e.Outcome, e.Scope
	}
	p.faults[i] = r
	p.failed++
}

// run applies the page in a transaction. search says to find out which messages fail.
func (p *page[Tx]) run(ctx context.Context, search bool) error {
	ctx, cancel := context.WithTimeout(ctx, p.d.one.limit(ctx))
	defer cancel()
	p.began, p.handled, p.overdue, p.lost, p.at, p.spent, p.failed = false, false, false, false, -1, 0, 0
	clear(p.faults)
	return p.d.one.tx.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if err := p.d.lanes.WriteLane(ctx, tx, p.lane.key, p.lane.epoch, p.record); err != nil {
			return err
		}
		p.began = true
		err := p.apply(ctx, tx, search)
		p.overdue = errors.Is(ctx.Err(), context.DeadlineExceeded)
		if keeper, has := p.d.lanes.(store.LaneKeeper[Tx]); has && err == nil {
			err = keeper.KeepsLane(ctx, tx, p.lane.key, p.lane.epoch, p.record)
		}
		p.handled = err == nil
		return err
	})
}

// apply calls the handler for the whole page.
func (p *page[Tx]) apply(ctx context.Context, tx Tx, search bool) error {
	all := make([]int, len(p.msgs))
	for i := range all {
		all[i] = i
	}
	switch {
	case len(all) == 0:
		return nil
	case search:
		return p.search(ctx, tx, all)
	case p.d.handle != nil:
		return p.call(ctx, tx, all)
	}
	for i := range all {
		if err := p.call(ctx, tx, all[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// search calls the handler behind savepoints, and notes which messages fail. Behind one that
// fails no other of its key is applied.
func (p *page[Tx]) search(ctx context.Context, tx Tx, all []int) error {
	failed := map[string]bool{}
	for some := range slices.Chunk(all, p.piece) {
		if err := p.halve(ctx, tx, some, failed); err != nil {
			return err
		}
	}
	if p.failed > 0 {
		return errFailed
	}
	return nil
}

// halve applies some messages behind a savepoint. If they fail, it applies each half of them.
func (p *page[Tx]) halve(ctx context.Context, tx Tx, some []int, failed map[string]bool) error {
	kept := make([]int, 0, len(some))
	for _, i := range some {
		if key := p.msgs[i].Key; key == "" || !failed[key] {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	failure, broken := p.d.lanes.Try(ctx, tx, func(ctx context.Context) error { return p.call(ctx, tx, kept) })
	switch {
	case failure != nil && p.passes(failure):
		return failure
	case ctx.Err() != nil:
		return cmp.Or(failure, broken, ctx.Err())
	case broken != nil:
		err := fmt.Errorf("the transaction was gone before the handler returned; a handler must not end it: %w", errors.Join(broken, failure))
		p.gone(kept, err)
		return err
	case failure == nil:
		return nil
	case len(kept) == 1:
		p.fault(kept[0], failure)
		failed[p.msgs[kept[0]].Key] = true
		return nil
	}
	half := len(kept) / 2
	if err := p.halve(ctx, tx, kept[:half], failed); err != nil {
		return err
	}
	return p.halve(ctx, tx, kept[half:], failed)
}

// passes says whether an error of a handler says nothing against its message.
func (p *page[Tx]) passes(err error) bool {
	return p.away(err) || storeFails(p.d.one.o.Store, err) || !p.tired && meetsAnother(p.d.one.o.Store, err)
}

// gone notes that the transaction was gone behind some messages: their handler has ended it,
// or the connection broke. The next search hands fewer over at once. A message that does it
// twice, alone, is at fault.
func (p *page[Tx]) gone(some []int, err error) {
	switch {
	case len(some) > 1:
		p.piece, p.lost = len(some)/2, true
	case p.ender == some[0]:
		p.fault(some[0], err)
	case p.ender < 0:
		p.ender, p.lost = some[0], true
	}
}

// call calls the handler for some messages.
func (p *page[Tx]) call(ctx context.Context, tx Tx, some []int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.at = -1
	if len(some) == 1 {
		p.at = some[0]
	}
	began := time.Now()
	err := guarded(func() error { return p.handle(ctx, tx, some) }, func(v any) error { return p.d.one.panicked("the handler", v) })
	p.spent = time.Since(began)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the handler took too long: %w", errors.Join(ctx.Err(), err))
	}
	return err
}

func (p *page[Tx]) handle(ctx context.Context, tx Tx, some []int) error {
	if p.d.handle == nil {
		return p.d.one.call(ctx, tx, p.handed[some[0]])
	}
	all := make([]*Message, len(some))
	for k, i := range some {
		all[k] = p.handed[i]
	}
	return p.d.handle(ctx, tx, all)
}

package relay_test

import (
	"context"
	"errors"
	"sync"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/store"
)

// place is where a process can die or stop.
type place string

// The places. "Before" is when a request has left and was not carried out, "after"
// when it was and no answer has come.
const (
	beforeOpen   place = "before the lane is opened"
	afterOpen    place = "after the lane is opened"
	beforeCommit place = "before a commit"
	afterCommit  place = "after a commit"
	beforeSettle place = "before a settlement"
	afterSettle  place = "after a settlement"
	afterBlocked place = "after the leases were asked for"
)

var places = []place{beforeOpen, afterOpen, beforeCommit, afterCommit, beforeSettle, afterSettle, afterBlocked}

var errDead = errors.New("the process is dead")

// process is all that a relay sees of the world: its store and its destination. It
// can be killed, and stopped and woken, at a place: nothing leaves it then, and
// nothing gets in. What has left it is carried out, however late.
type process struct {
	store.Store
	*membroker.Destination

	mu     sync.Mutex
	trap   place
	sprung chan struct{} // closed when the trap is met
	spring func()        // what it does
	isDead bool
	dead   chan struct{}
	frozen chan struct{} // nil: it runs
}

func newProcess(w *world) *process {
	return &process{Store: w.store, Destination: w.to.Connect(), dead: make(chan struct{})}
}

// set has the process meet what do does at a place, and returns what is closed then.
func (p *process) set(at place, do func()) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trap, p.spring, p.sprung = at, do, make(chan struct{})
	return p.sprung
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isDead {
		p.isDead = true
		close(p.dead)
	}
}

func (p *process) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isDead
}

func (p *process) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = make(chan struct{})
}

func (p *process) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen != nil {
		close(p.frozen)
		p.frozen = nil
	}
}

// pass waits while the process is stopped, and says whether it lives.
func (p *process) pass(at place) bool {
	p.mu.Lock()
	if at != "" && p.trap == at {
		do, sprung := p.spring, p.sprung
		p.trap = ""
		p.mu.Unlock()
		do()
		close(sprung)
		p.mu.Lock()
	}
	for p.frozen != nil && !p.isDead {
		frozen := p.frozen
		p.mu.Unlock()
		select {
		case <-frozen:
		case <-p.dead:
		}
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	return !p.isDead
}

// send carries a request out, and its answer back.
func send[T any](ctx context.Context, p *process, before, after place, do func(context.Context) (T, error)) (T, error) {
	var none T
	if !p.pass(before) {
		return none, errDead
	}
	answer, err := do(context.WithoutCancel(ctx)) // it has left: nobody takes it back
	if !p.pass(after) {
		return none, errDead
	}
	return answer, err
}

func (p *process) Check(ctx context.Context) (store.Info, error) {
	return send(ctx, p, "", "", p.Store.Check)
}

func (p *process) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	return send(ctx, p, "", "", func(ctx context.Context) (store.View, error) { return p.Store.Beat(ctx, b) })
}

func (p *process) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	before, after := beforeSettle, afterSettle
	if len(t.Settle) == 0 {
		before, after = "", ""
	}
	return send(ctx, p, before, after, func(ctx context.Context) (store.TurnResult, error) { return p.Store.Turn(ctx, t) })
}

func (p *process) Blocked(ctx context.Context, l store.Lease) (store.Blocks, error) {
	return send(ctx, p, "", afterBlocked, func(ctx context.Context) (store.Blocks, error) { return p.Store.Blocked(ctx, l) })
}

func (p *process) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	return send(ctx, p, "", "", func(ctx context.Context) ([]store.Parked, error) { return p.Store.Due(ctx, d) })
}

func (p *process) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	return send(ctx, p, "", "", func(ctx context.Context) (store.Report, error) { return p.Store.Maintain(ctx, r) })
}

func (p *process) Probe(ctx context.Context) error {
	_, err := send(ctx, p, "", "", func(ctx context.Context) (struct{}, error) { return struct{}{}, p.Destination.Probe(ctx) })
	return err
}

func (p *process) OpenLane(ctx context.Context, name broker.LaneName) (broker.Lane, error) {
	l, err := send(ctx, p, beforeOpen, afterOpen, func(ctx context.Context) (broker.Lane, error) {
		return p.Destination.OpenLane(ctx, name)
	})
	if err != nil {
		return nil, &broker.Error{Outcome: broker.Unavailable, Err: err}
	}
	return &processLane{l, p}, nil
}

type processLane struct {
	broker.Lane

	process *process
}

func (l *processLane) Commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, error) {
	return send(ctx, l.process, beforeCommit, afterCommit, func(ctx context.Context) (broker.TxOutcome, error) {
		return l.Lane.Commit(ctx, msgs, record, results)
	})
}

func (l *processLane) Close(ctx context.Context) error {
	_, err := send(ctx, l.process, "", "", func(ctx context.Context) (struct{}, error) { return struct{}{}, l.Lane.Close(ctx) })
	return err
}

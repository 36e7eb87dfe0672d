package faketime_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/store"
)

var errKilled = errors.New("the process was killed")

// process is all that one relay sees of the world. A request that has left it is
// carried out, however late; a killed process sends none and gets no answer.
type process struct {
	store.Store
	*membroker.Destination

	chance *chance

	mu     sync.Mutex
	killed bool
	dead   chan struct{}
	joined chan struct{} // nil: it is not cut off
}

func newProcess(w *world) *process {
	return &process{Store: w.store, Destination: w.broker.Connect(), chance: w.chance, dead: make(chan struct{})}
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.killed {
		p.killed = true
		close(p.dead)
	}
}

// cutOff holds back all requests and answers until join.
func (p *process) cutOff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.joined == nil {
		p.joined = make(chan struct{})
	}
}

func (p *process) join() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.joined != nil {
		close(p.joined)
		p.joined = nil
	}
}

// pass waits while the process is cut off, and says whether it lives.
func (p *process) pass() bool {
	for {
		p.mu.Lock()
		killed, joined := p.killed, p.joined
		p.mu.Unlock()
		if killed || joined == nil {
			return !killed
		}
		select {
		case <-joined:
		case <-p.dead:
		}
	}
}

// request carries a request out, and its answer back; both travel for a while.
func request[T any](ctx context.Context, p *process, do func(context.Context) (T, error)) (T, error) {
	var none T
	if !p.pass() {
		return none, errKilled
	}
	pause(p.chance.upTo(10 * time.Millisecond))
	answer, err := do(ctx)
	pause(p.chance.upTo(10 * time.Millisecond))
	if !p.pass() {
		return none, errKilled
	}
	return answer, err
}

func (p *process) Check(ctx context.Context) (store.Info, error) {
	return request(ctx, p, p.Store.Check)
}

func (p *process) Declare(ctx context.Context, specs []store.Spec) error {
	_, err := request(ctx, p, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.Store.Declare(ctx, specs) })
	return err
}

func (p *process) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	return request(ctx, p, func(ctx context.Context) (store.View, error) { return p.Store.Beat(ctx, b) })
}

func (p *process) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	return request(ctx, p, func(ctx context.Context) (store.TurnResult, error) { return p.Store.Turn(ctx, t) })
}

func (p *process) Blocked(ctx context.Context, l store.Lease) (store.Blocks, error) {
	return request(ctx, p, func(ctx context.Context) (store.Blocks, error) { return p.Store.Blocked(ctx, l) })
}

func (p *process) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	return request(ctx, p, func(ctx context.Context) ([]store.Parked, error) { return p.Store.Due(ctx, d) })
}

func (p *process) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	return request(ctx, p, func(ctx context.Context) (store.Report, error) { return p.Store.Maintain(ctx, r) })
}

// Publish sends nothing once the process is dead. What was sent is stored, and no
// answer gets back.
func (p *process) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if !p.pass() {
		return
	}
	results := make([]broker.Result, len(msgs))
	p.Destination.Publish(ctx, msgs, func(i int, r broker.Result) { results[i] = r })
	if !p.pass() {
		return
	}
	for i, r := range results {
		report(i, r)
	}
}

func (p *process) Probe(ctx context.Context) error {
	_, err := request(ctx, p, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.Destination.Probe(ctx) })
	return err
}

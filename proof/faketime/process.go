package faketime

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

var errKilled = errors.New("the process was killed")

// process is all that one relay sees of the world. A request that has left it may be carried out, however late; a killed process
// sends none and gets no answer.
type process struct {
	*memstore.Store

	world  *world
	chance *chance
	late   bool // what was on its way when its sender gave up is carried out nevertheless
	hears  bool // of commits, at once
	calls  atomic.Int64
	lanes  atomic.Int64 // that are open
	over   atomic.Bool  // Run has returned

	mu     sync.Mutex
	sick   error // what Check says; nil: nothing
	killed bool
	dead   chan struct{}
	joined chan struct{} // nil: it is not cut off
}

func newProcess(w *world, number uint64) *process {
	c := newChance(w.seed, 1000+number)
	return &process{Store: w.store, world: w, chance: c, late: c.coin(), hears: c.coin(), dead: make(chan struct{})}
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.killed {
		p.killed = true
		close(p.dead)
	}
}

func (p *process) isKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
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

// sicken has Check fail with an error from now on, and the next call to the store.
func (p *process) sicken(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sick = err
}

func (p *process) sickness() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sick
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

// begin notes that the relay makes a call, until the function that it returns.
func (p *process) begin() (end func()) {
	if p.over.Load() {
		p.world.failf("a relay calls its store or its destination after its Run has returned")
	}
	p.calls.Add(1)
	return func() { p.calls.Add(-1) }
}

// travelling is the context of a request that has left the process.
func (p *process) travelling(ctx context.Context) (context.Context, context.CancelFunc) {
	if !p.late {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
}

// request carries a request out, and its answer back; both travel for a while. Its caller waits no longer than ctx.
func request[T any](ctx context.Context, p *process, do func(context.Context) (T, error)) (T, error) {
	defer p.begin()()
	type answer struct {
		of  T
		err error
	}
	var none T
	answers := make(chan answer, 1)
	go func() {
		if !p.pass() {
			return
		}
		ctx, cancel := p.travelling(ctx)
		defer cancel()
		pause(p.chance.upTo(10 * time.Millisecond))
		of, err := do(ctx)
		pause(p.chance.upTo(10 * time.Millisecond))
		if p.pass() {
			answers <- answer{of, err}
		}
	}()
	select {
	case a := <-answers:
		return a.of, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-p.dead:
		return none, errKilled
	}
}

// tell is request of what has no answer but an error.
func tell(ctx context.Context, p *process, do func(context.Context) error) error {
	_, err := request(ctx, p, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}

// ask is request of something of the store. A sick process finds out with its next Check: other calls fail.
func ask[T any](ctx context.Context, p *process, do func(context.Context) (T, error)) (T, error) {
	return request(ctx, p, func(ctx context.Context) (T, error) {
		if p.sickness() != nil {
			var none T
			return none, errBroken
		}
		return do(ctx)
	})
}

func (p *process) Check(ctx context.Context) (store.Info, error) {
	return request(ctx, p, func(ctx context.Context) (store.Info, error) {
		if err := p.sickness(); err != nil {
			return store.Info{}, err
		}
		return p.Store.Check(ctx)
	})
}

func (p *process) Declare(ctx context.Context, specs []store.Spec) error {
	return tell(ctx, p, func(ctx context.Context) error { return p.Store.Declare(ctx, specs) })
}

func (p *process) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	return ask(ctx, p, func(ctx context.Context) (store.View, error) { return p.Store.Beat(ctx, b) })
}

func (p *process) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	return ask(ctx, p, func(ctx context.Context) (store.TurnResult, error) {
		r, err := p.Store.Turn(ctx, t)
		for i := range r.Batches {
			if p.world.isRough() && p.chance.one(60) { // a read that fails alone
				r.Batches[i] = store.Batch{Err: errBroken}
			}
			for j := range r.Batches[i].Records {
				p.world.spoil(&r.Batches[i].Records[j])
			}
		}
		return r, err
	})
}

func (p *process) Blocked(ctx context.Context, l store.Lease) (store.Blocks, error) {
	return ask(ctx, p, func(ctx context.Context) (store.Blocks, error) { return p.Store.Blocked(ctx, l) })
}

func (p *process) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	return ask(ctx, p, func(ctx context.Context) ([]store.Parked, error) {
		all, err := p.Store.Due(ctx, d)
		for i := range all {
			p.world.spoil(&all[i].Record)
		}
		return all, err
	})
}

func (p *process) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	return ask(ctx, p, func(ctx context.Context) (store.Report, error) {
		report, err := p.Store.Maintain(ctx, r)
		for _, fault := range report.Faults {
			p.world.failf("housekeeping: %s", fault)
		}
		return report, err
	})
}

// Overview is what a drain asks for at its end.
func (p *process) Overview(ctx context.Context) (store.Overview, error) {
	return request(ctx, p, p.Store.Overview)
}

// Woken rings for some processes; others find messages by looking.
func (p *process) Woken() <-chan struct{} {
	if !p.hears {
		return nil
	}
	return p.Store.Woken()
}

var (
	_ store.Store     = (*process)(nil)
	_ store.Waker     = (*process)(nil)
	_ store.Inspector = (*process)(nil)
)

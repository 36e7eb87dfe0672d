package relay_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// promoted is a store whose lives have numbers, and that knows in which of them it
// has shown each message.
type promoted struct {
	*memstore.Store

	mu    sync.Mutex
	life  int64
	shown map[int64]map[int64]bool // by seq, the lives
}

func (p *promoted) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	p.mu.Lock()
	life := p.life
	p.mu.Unlock()
	if t.Life != 0 && t.Life != life {
		return store.TurnResult{}, store.ErrRestarted
	}
	t.Life = 0 // the store below has lives of its own
	res, err := p.Store.Turn(ctx, t)
	p.mu.Lock()
	defer p.mu.Unlock()
	res.Life = life
	for i := range res.Batches {
		for k := range res.Batches[i].Records {
			seq := res.Batches[i].Records[k].Seq
			if p.shown[seq] == nil {
				p.shown[seq] = map[int64]bool{}
			}
			p.shown[seq][life] = true
		}
	}
	return res, err
}

// What a relay had in hand when its database failed over was sent under the number of
// the new life, in which other messages get those seqs: a destination that is fenced by
// life and seq then refused them for ever.
func TestMessagesReadBeforeAFailoverKeepTheirDatabaseGeneration(t *testing.T) {
	t.Parallel()
	p := &promoted{life: 1, shown: map[int64]map[int64]bool{}}
	w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.shown[m.Seq][m.Life] {
			t.Errorf("message %d is sent in life %d, and was read in %v", m.Seq, m.Life, p.shown[m.Seq])
		}
		return membroker.Act{}
	}})
	p.Store = w.store
	w.to.SetDown(true)
	r := w.relayOver(p, relay.Options{TTL: 2 * time.Second})
	w.publish(50, 5)
	stop := w.run(r)
	w.eventually("the circuit opens", func() bool { return of(r).Circuit == "open" })
	p.mu.Lock()
	p.life = 2
	p.mu.Unlock()
	turns := r.Stats().Turns
	w.eventually("the store is looked at", func() bool { return r.Stats().Turns > turns+2 })
	w.to.SetDown(false)
	w.delivered(50)
	stop()
}

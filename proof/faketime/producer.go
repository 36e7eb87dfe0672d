package faketime

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store/memstore"
)

// producer writes transactions.
type producer struct {
	world  *world
	number int
	chance *chance
	plain  bool // its transactions commit, and nothing is scheduled or hard to read
	n      int
}

func (w *world) newProducer(number int) *producer {
	return &producer{world: w, number: number, chance: newChance(w.seed, 100+uint64(number))}
}

// run writes until the context ends.
func (p *producer) run(ctx context.Context) {
	for ctx.Err() == nil {
		p.transaction()
		pause(p.chance.upTo(300 * time.Millisecond))
	}
}

// transaction publishes some messages, waits here and there, and ends.
func (p *producer) transaction() {
	p.n++
	w, c, name := p.world, p.chance, history.Tx(p.number<<32|p.n)
	ctx := context.Background()
	tx, err := w.store.Begin(ctx)
	if err != nil {
		w.failf("begin: %v", err)
		return
	}
	messages := 1 + c.n(5)
	for i := range messages {
		if err := p.publish(ctx, tx, name, i); err != nil { // the server crashed, and the transaction with it
			w.ended(name, history.Unknown, w.instant())
			_ = tx.Rollback(ctx)
			return
		}
		if !p.plain && c.one(3) {
			pause(c.upTo(time.Duration(c.of(200, 200, 200, 4000)) * time.Millisecond))
		}
	}
	p.end(ctx, tx, name, messages)
}

// publish writes one message.
func (p *producer) publish(ctx context.Context, tx *memstore.Tx, name history.Tx, index int) error {
	w, c := p.world, p.chance
	id, k := postbag.NewID(), kinds[c.n(len(kinds))]
	box := c.n(len(w.boxes))
	m := postbag.Message{
		ID: id, Topic: k.topic, Type: k.typ, Key: fmt.Sprintf("key-%d", c.n(8)), Payload: []byte(id.String()),
	}
	intent := history.Intent{
		Tx: name, Index: uint32(index), ID: history.ID(id), Box: w.boxes[box], Topic: m.Topic, Key: m.Key, Payload: history.Sum(m.Payload), Begin: w.instant(),
	}
	switch {
	case p.plain:
	case c.one(15):
		m.NotBefore = time.Now().Add(c.upTo(8 * time.Second))
		intent.Due = m.NotBefore.Sub(w.begun)
	case c.one(60) && w.isRough():
		w.set(func() { w.unread[id] = true })
	}
	w.history.Intend(intent)
	return w.publishers[box].Publish(ctx, tx, m)
}

// end commits a transaction, or does not, at once or in two phases.
func (p *producer) end(ctx context.Context, tx *memstore.Tx, name history.Tx, messages int) {
	w, c := p.world, p.chance
	begin, fate := w.instant(), history.Committed
	var err error
	switch {
	case p.plain:
		err = tx.Commit(ctx)
	case c.one(6):
		fate, err = history.RolledBack, tx.Rollback(ctx)
	case c.one(10) && !w.single:
		gid := fmt.Sprintf("transaction %d", name)
		if err = tx.Prepare(ctx, gid); err == nil {
			pause(c.upTo(3 * time.Second))
			err = w.store.CommitPrepared(ctx, gid)
		}
	default:
		err = tx.Commit(ctx)
	}
	if err != nil {
		fate = history.Unknown
	}
	if fate == history.Committed {
		w.count(func(c *Counts) { c.Published += messages })
	}
	w.ended(name, fate, begin)
}

func (w *world) ended(name history.Tx, fate history.Fate, begin time.Duration) {
	w.history.End(history.Outcome{Tx: name, Fate: fate, Begin: begin, End: w.instant()})
}

package faketime_test

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
)

// produce writes transactions until the context ends.
func (w *world) produce(ctx context.Context, number int) {
	for n := 1; ctx.Err() == nil; n++ {
		w.transaction(history.Tx(number<<32 | n))
		pause(w.chance.upTo(300 * time.Millisecond))
	}
}

// transaction publishes some messages, waits here and there, and ends.
func (w *world) transaction(name history.Tx) {
	ctx := context.Background()
	tx, err := w.store.Begin(ctx)
	if err != nil {
		w.t.Errorf("begin: %v", err)
		return
	}
	for i := range 1 + w.chance.n(5) {
		id := postbag.NewID()
		m := postbag.Message{
			ID: id, Topic: topics[w.chance.n(len(topics))],
			Key: fmt.Sprintf("key-%d", w.chance.n(8)), Payload: []byte(id.String()),
		}
		begin := w.instant()
		w.record(func(h *history.History) {
			h.Intend(history.Intent{
				Tx: name, Index: uint32(i), ID: history.ID(id), Topic: m.Topic, Key: m.Key,
				Payload: history.Sum(m.Payload), Begin: begin,
			})
		})
		if err := w.publisher.Publish(ctx, tx, m); err != nil { // the server crashed, and the transaction with it
			w.ended(name, history.Unknown, begin)
			_ = tx.Rollback(ctx)
			return
		}
		if w.chance.one(3) {
			pause(w.chance.upTo(200 * time.Millisecond))
		}
	}
	begin := w.instant()
	if w.chance.one(6) {
		_ = tx.Rollback(ctx)
		w.ended(name, history.RolledBack, begin)
		return
	}
	fate := history.Committed
	if err := tx.Commit(ctx); err != nil {
		fate = history.Unknown
	}
	w.ended(name, fate, begin)
}

func (w *world) ended(name history.Tx, fate history.Fate, begin time.Duration) {
	end := w.instant()
	w.record(func(h *history.History) { h.End(history.Outcome{Tx: name, Fate: fate, Begin: begin, End: end}) })
}

package survival

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/proof/history"
)

// effect is what a table says that a consumer did: the key and the number of a message, in the sequence in which it did it. Of rows
// sorted by key, that sequence is that of each key.
type effect struct {
	key    string
	number int
}

// effectsIn returns what a query finds in the world's database: keys and numbers.
func (w *world) effectsIn(query string) (all []effect) {
	w.t.Helper()
	rows, err := w.pool.Query(w.t.Context(), query)
	if err != nil {
		w.t.Fatal(err)
	}
	var e effect
	if _, err := pgx.ForEachRow(rows, []any{&e.key, &e.number}, func() error {
		all = append(all, e)
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// effectsIn returns what a query finds in the base: keys and numbers.
func (b *base) effectsIn(query string) (all []effect) {
	b.t.Helper()
	rows, err := b.db.QueryContext(b.t.Context(), query)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var e effect
		if err := rows.Scan(&e.key, &e.number); err != nil {
			b.t.Fatal(err)
		}
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		b.t.Fatal(err)
	}
	return all
}

// judgeEffects fails the test unless the checker finds that the effects are those of n messages, message i under one of so many subjects
// in turn. Those that wait in the store have none, and those behind them of the same key.
func judgeEffects(t testing.TB, n, subjects int, promised history.Effects, effects []effect, waiting ...history.Stored) {
	t.Helper()
	h := &history.History{}
	for i := range n {
		at := 2 * time.Duration(i)
		h.Intend(history.Intent{Tx: history.Tx(i), ID: nameOf(i), Key: subject(i % subjects), Begin: at})
		h.End(history.Outcome{Tx: history.Tx(i), Fate: history.Committed, Begin: at, End: at + 1})
	}
	for _, s := range waiting {
		h.Hold(s)
	}
	for position, a := range effects {
		h.Apply(history.Effect{ID: nameOf(a.number), Key: a.key, Position: uint64(position)})
	}
	r := h.Check(history.Options{Effects: promised, Unread: true})
	t.Log(r.Of(history.Applied).Line())
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

// nameOf names a message by its number, in a history.
func nameOf(number int) history.ID { return history.Name(fmt.Sprint(number)) }

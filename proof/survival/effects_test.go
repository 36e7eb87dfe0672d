package survival

import (
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/history"
)

// effect is what a table says that a consumer did: the key and the number of a message, in the sequence in which it did it. Of rows
// sorted by key, that sequence is that of each key.
type effect struct {
	key    string
	number int
}

// rowsOf is what a query returned of effects.
type rowsOf interface {
	Next() bool
	Scan(into ...any) error
	Err() error
}

// readEffects reads rows of a key and a number.
func readEffects(t testing.TB, rows rowsOf) (all []effect) {
	t.Helper()
	for rows.Next() {
		var a effect
		if err := rows.Scan(&a.key, &a.number); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
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

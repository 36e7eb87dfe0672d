package chaos

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
)

// events is what one process of the run records: a file of a history.
type events struct {
	*history.Writer

	clock *history.Clock
	close func() error
}

// newEvents begins a file. All processes of a run have one origin of time.
func newEvents(path string, origin time.Time) (*events, error) {
	w, err := history.Create(path, 0)
	if err != nil {
		return nil, err
	}
	return &events{Writer: w, clock: history.NewClock(origin), close: sync.OnceValue(w.Close)}, nil
}

// Close closes the file. It may be called twice.
func (e *events) Close() error { return e.close() }

// txOf is a transaction's number in a history.
func txOf(name string) history.Tx {
	sum := sha256.Sum256([]byte(name))
	return history.Tx(binary.BigEndian.Uint64(sum[:]))
}

// sumOf is of what must arrive as it was sent.
func sumOf(key string, headers map[string]string, payload []byte) history.Hash {
	return history.Sum(payload, []byte(key), []byte(headers["tx"]))
}

// intend records that a transaction is about to be written.
func (e *events) intend(t *Transaction, begin time.Duration) {
	tx := txOf(t.Name)
	for i := range t.Messages {
		e.intendOne(tx, i, &t.Messages[i], begin, t.poison[t.Messages[i].ID])
	}
	if t.Undone != nil {
		tx := txOf(t.Name + "-undone")
		e.intendOne(tx, 0, t.Undone, begin, false)
		e.End(history.Outcome{Tx: tx, Fate: history.RolledBack, Begin: begin, End: begin})
	}
}

func (e *events) intendOne(tx history.Tx, i int, m *postbag.Message, begin time.Duration, poison bool) {
	r := history.Intent{
		Tx: tx, Index: uint32(i), ID: history.ID(m.ID), Topic: m.Topic, Key: m.Key,
		Payload: sumOf(m.Key, m.Headers, m.Payload), Poison: poison, Begin: begin,
	}
	if !m.NotBefore.IsZero() {
		r.Due = e.clock.At(m.NotBefore)
	}
	e.Intend(r)
}

// became records what became of a transaction.
func (e *events) became(t *Transaction, fate history.Fate, begin time.Duration) {
	e.End(history.Outcome{Tx: txOf(t.Name), Fate: fate, Begin: begin, End: e.clock.Now()})
}

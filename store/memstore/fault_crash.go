package memstore

import (
	"errors"
	"fmt"

	"github.com/postbag/postbag/store"
)

// Crash ends the server without warning and starts it again. Open transactions are rolled
// back, except prepared ones. As in PostgreSQL, numbers of transactions are given out
// again if nothing durable was written after them. Positions that were read before and
// never settled may name such numbers. From then on they are worthless
// (store.ErrRestarted).
func (s *Store) Crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life++
	prepared := map[*Tx]bool{}
	for _, tx := range s.prepared {
		prepared[tx] = true
	}
	var lost []*Tx
	lost = append(lost, s.open...)
	for _, tx := range s.locks {
		lost = append(lost, tx)
	}
	for _, tx := range lost {
		if !prepared[tx] && !tx.over {
			tx.end(false)
		}
	}
	s.nextXID = s.durable + 1
	s.lastDone = min(s.lastDone, s.durable)
}

// flush makes all that was written so far survive a crash: something was committed.
// The caller holds s.mu.
func (s *Store) flush() { s.durable = s.nextXID - 1 }

func isRestart(err error) bool { return errors.Is(err, store.ErrRestarted) }

// position decodes a position of sub, and refuses one that was read before a
// crash, unless it was settled. The caller holds s.mu.
func (s *Store) position(sub *subscription, raw store.Position) (position, error) {
	p, err := decode(raw)
	if err != nil || raw == "" || p.life == s.life {
		return p, err
	}
	for _, sh := range sub.shards {
		if sh.position == raw {
			return p, nil
		}
	}
	return p, fmt.Errorf("memstore: position of %s: %w", sub.ref, store.ErrRestarted)
}

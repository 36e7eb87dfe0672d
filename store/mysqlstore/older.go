package mysqlstore

import (
	"fmt"
	"sync"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// seenEpoch is the highest epoch that a process has seen in a life of the server. An epoch
// grows only, and no commit is lost at a restart: a lower one in another life is that of an
// older copy of the data, or of a server that has taken over without the latest commits.
// There tokens, versions and ids are given out again.
type seenEpoch struct {
	mu          sync.Mutex
	life, epoch int64
}

// note remembers what was seen. Answers of one life may come in any order.
func (e *seenEpoch) note(v *serverState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v.life == e.life {
		e.epoch = max(e.epoch, v.epoch)
	}
}

// enter begins another life, or returns ErrMoved if that is of older data.
func (e *seenEpoch) enter(v *serverState) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.older(v) {
		return fmt.Errorf("the database is older than it was: its epoch is %d, and was %d: %w", v.epoch, e.epoch, store.ErrMoved)
	}
	if v.life != e.life {
		e.life, e.epoch = v.life, v.epoch
	}
	return nil
}

// older says whether what is seen is of older data. The caller holds mu.
func (e *seenEpoch) older(v *serverState) bool {
	return e.life != 0 && v.life != e.life && v.epoch < e.epoch
}

// before returns the epoch of before if what is seen is of older data, else zero.
func (e *seenEpoch) before(v *serverState) int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.older(v) {
		return e.epoch
	}
	return 0
}

// forget lets the next life be any.
func (e *seenEpoch) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.life, e.epoch = 0, 0
}

// acceptOlder ends all leases of older data, of which some may be named as those are that
// relays hold, and says so. Positions are as good as when the copy was made: what was sent
// since is sent again, as far as the copy has it.
func (t *transaction) acceptOlder(before int64) error {
	boxes, err := logs(t.Query)
	if err != nil {
		return err
	}
	orders := []sqlkit.Order{
		{Text: sqlPassEpoch, Args: []any{before}},
		{Text: sqlVoidAllLeases},
		{Text: sqlAllRelaysDead},
	}
	for box := range boxes {
		orders = append(orders, sqlkit.Order{Text: sqlkit.SQLAudit, Args: []any{
			t.now, storekit.Itself, "an older copy of the database was put back", "send " + box + " again, from where it was",
		}})
	}
	_, err = t.All(orders)
	return err
}

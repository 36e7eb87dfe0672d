package pgstore

import (
	"sync"
	"time"
)

// keeper is what this process remembers of a box from one Maintain to the next. It
// saves work and decides nothing: a relay that takes the lease over begins with none.
type keeper struct {
	mu sync.Mutex
	// survey is how far the ledgers were compared with the log, and wreck the same
	// with a table that was taken out of it.
	survey, wreck survey
	// seen is what the last round saw, and refined what the last refinement was
	// made of, and the floor that it found.
	seen, refined [32]byte
	floor         int64
	// refinedAt is when that was, and refinePause how long until it is worth while
	// again; zero: never.
	refinedAt   time.Time
	refinePause time.Duration
	// tidyAt is where to look for copies next, and tidied when the last tour ended.
	tidyAt int64
	tidied time.Time
	// Not before these times are DDL statements tried again that were refused or
	// waited too long, and so often did they wait.
	dropAgain, roomAgain time.Time
	waits                int
}

// keepers holds a keeper a box.
type keepers struct {
	mu  sync.Mutex
	all map[string]*keeper
}

// of returns a box's keeper, to be given back by done. While another Maintain of
// this process has it, it returns an empty one.
func (k *keepers) of(box string) (keep *keeper, done func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string]*keeper{}
	}
	keep = k.all[box]
	if keep == nil {
		keep = &keeper{}
		k.all[box] = keep
	}
	if !keep.mu.TryLock() {
		return &keeper{}, func() {}
	}
	return keep, keep.mu.Unlock
}

package pgstore

import (
	"sync"
	"time"
)

// maintenanceState is what this process remembers of a box from one Maintain to the next. It
// saves work and decides nothing: a relay that takes the lease over begins with none.
type maintenanceState struct {
	mu sync.Mutex
	// logScan is how far the ledgers were compared with the log, and detachedScan the same
	// with a table that was taken out of it.
	logScan, detachedScan ledgerScan
	// strays is the search for rows that belie a position.
	strays lateSearch
	// seen is what the last round saw, and refined what the last refinement was
	// made of, and the floor that it found.
	seen, refined [32]byte
	minimum       int64
	// refinedAt is when that was, and refinePause how long until it is worth while
	// again; zero: never.
	refinedAt   time.Time
	refinePause time.Duration
	// tidyAt is where to look for copies next, and tidied when the last tour ended.
	tidyAt int64
	tidied time.Time
	// deadSeen is, by subscription, behind which seq to look for dead messages next.
	deadSeen map[int32]int64
	// Not before these times are DDL statements tried again that were refused or
	// waited too long, and so often did they wait.
	dropAgain, headroomAgain time.Time
	waits                    int
}

// maintenanceStates holds one a box.
type maintenanceStates struct {
	mu  sync.Mutex
	all map[string]*maintenanceState
}

// of returns a box's state, to be given back by done. While another Maintain of
// this process has it, it returns an empty one.
func (k *maintenanceStates) of(box string) (keep *maintenanceState, done func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string]*maintenanceState{}
	}
	keep = k.all[box]
	if keep == nil {
		keep = &maintenanceState{}
		k.all[box] = keep
	}
	if !keep.mu.TryLock() {
		return &maintenanceState{}, func() {}
	}
	return keep, keep.mu.Unlock
}

package mysqlstore

import (
	"database/sql"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// recentStatus is what a subscription's status was in the middle of a backlog. A read
// that goes on right behind it does not ask for all of it again: the ends of two
// indexes and a look for commands are as much work as a tenth of the page. What
// keeps a position good, the server's life and where the log begins, is always
// asked for.
type recentStatus struct {
	at    time.Time
	next  store.Position // where that read ended
	last  int64
	ready sql.NullInt64
}

// recentFor is how long a recent status is good: a relay may not hear for so long what
// another process has commanded or parked, while it reads page after page.
const recentFor = 20 * time.Millisecond

// statusCache holds the recent status of each subscription.
type statusCache struct {
	mu  sync.Mutex
	all map[store.Ref]recentStatus
}

// of returns the status from which a read may go on.
func (k *statusCache) of(r *store.Request) (recentStatus, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	g, ok := k.all[r.Ref]
	return g, ok && g.next == r.From && time.Since(g.at) < recentFor
}

func (k *statusCache) put(r store.Ref, g recentStatus) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = make(map[store.Ref]recentStatus)
	}
	k.all[r] = g
}

func (k *statusCache) drop(r store.Ref) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, r)
}

// forget drops all: this process has written something that a status tells.
func (k *statusCache) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.all)
}

package mysqlstore

import (
	"database/sql"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// glance is what a subscription's status was in the middle of a backlog. A read
// that goes on right behind it does not ask for all of it again: the ends of two
// indexes and a look for commands are as much work as a tenth of the page. What
// keeps a position good, the server's life and where the log begins, is always
// asked for.
type glance struct {
	at    time.Time
	next  store.Position // where that read ended
	last  int64
	ready sql.NullInt64
}

// glanceFor is how long a glance is good: for so long a relay may not hear what
// another process has ordered or parked, while it reads page after page.
const glanceFor = 20 * time.Millisecond

// glances are those of all subscriptions.
type glances struct {
	mu  sync.Mutex
	all map[store.Ref]glance
}

// of returns the glance from which a read may go on.
func (k *glances) of(r *store.Request) (glance, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	g, ok := k.all[r.Ref]
	return g, ok && g.next == r.From && time.Since(g.at) < glanceFor
}

func (k *glances) put(r store.Ref, g glance) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = make(map[store.Ref]glance)
	}
	k.all[r] = g
}

func (k *glances) drop(r store.Ref) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, r)
}

// forget drops all: this process has written something that a status tells.
func (k *glances) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.all)
}

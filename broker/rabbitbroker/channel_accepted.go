package rabbitbroker

import "sync"

// known is what a connection has shown that the server takes. What is not known is
// sent alone on its channel: when the server closes the channel for it, nothing
// else is lost with it. The zero known knows nothing; it is safe for concurrent
// use.
type known struct {
	mu        sync.Mutex
	size      int // the largest payload taken
	limit     int // what the server said that it takes at most; zero: nothing yet
	exchanges map[string]struct{}
}

const (
	// smallSize is what every server is taken to take.
	smallSize = 16 << 10
	// maxExchanges bounds what is remembered.
	maxExchanges = 10_000
)

// covers says whether all of an item was seen to be taken.
func (k *known) covers(it *item, anySize bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, there := k.exchanges[it.exchange]
	return there && (anySize || it.size <= max(k.size, smallSize))
}

// took says that the server has answered for an item without ending its channel.
func (k *known) took(it *item) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.size = max(k.size, it.size)
	if _, there := k.exchanges[it.exchange]; there {
		return
	}
	if k.exchanges == nil || len(k.exchanges) >= maxExchanges {
		k.exchanges = map[string]struct{}{}
	}
	k.exchanges[it.exchange] = struct{}{}
}

// forget makes nothing known, for a new connection or after trouble; limit is what
// the server has just said of sizes, or zero.
func (k *known) forget(limit int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.size, k.limit, k.exchanges = 0, limit, nil
}

func (k *known) sizeLimit() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.limit
}

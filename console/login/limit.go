package login

import (
	"container/list"
	"hash/maphash"
	"sync"
	"time"
)

// mostLimited is how many names, or addresses, a limit remembers.
const mostLimited = 4096

// burst is how often a name may try at once.
const burst = 10

// limit lets each name try so many times, and then again once in a while. It remembers a bounded number of names, those that tried
// last, and of each a hash only.
type limit struct {
	every time.Duration
	seed  maphash.Seed

	mu     sync.Mutex
	tried  map[uint64]*list.Element
	latest list.List // of *tries, the latest in front
}

// tries are those of one name. full is when it may try as often as at first.
type tries struct {
	name uint64
	full time.Time
}

func newLimit(every time.Duration) *limit {
	return &limit{every: every, seed: maphash.MakeSeed(), tried: make(map[uint64]*list.Element)}
}

// take says whether a name may try now, and counts it if so.
func (l *limit) take(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, one := time.Now(), l.of(maphash.String(l.seed, name))
	full := one.full
	if full.Before(now) {
		full = now
	}
	full = full.Add(l.every)
	if full.Sub(now) > burst*l.every {
		return false
	}
	one.full = full
	return true
}

func (l *limit) of(name uint64) *tries {
	if e := l.tried[name]; e != nil {
		l.latest.MoveToFront(e)
		return e.Value.(*tries) //nolint:errcheck,forcetypeassert // it holds nothing else
	}
	if len(l.tried) >= mostLimited {
		oldest := l.latest.Back()
		delete(l.tried, l.latest.Remove(oldest).(*tries).name) //nolint:errcheck,forcetypeassert // it holds nothing else
	}
	one := &tries{name: name}
	l.tried[name] = l.latest.PushFront(one)
	return one
}

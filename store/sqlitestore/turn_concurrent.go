package sqlitestore

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/postbag/postbag/store"
)

// concurrentReads has the reads of a Turn run while its settlements are committed, which
// is mostly waiting for the disk. What the reads need to know of a subscription
// they take from the Turn before; when the settlements are done it is looked up
// as ever, and what was read of one that has changed meanwhile is read again.
//
// A reader keeps a checkpoint from what was committed after it began, so that the
// write-ahead log begins again only after a commit that no read outlasts. With
// pages of thousands of messages that is every few hundred turns, by chance;
// maintenance has the log emptied in any case.
type concurrentReads struct {
	mu    sync.Mutex
	known map[store.Ref]subscribed
}

// ask says whether the reads of t may run now, and what is known of the
// subscriptions. They do on the store's own connections, of which there are
// enough.
func (b *concurrentReads) ask(s *Store, t store.Turn) map[store.Ref]subscribed {
	if !s.owned || len(t.Settle) == 0 || len(t.Read) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known := make(map[store.Ref]subscribed, 1)
	for i := range t.Read {
		about, ok := b.known[t.Read[i].Ref]
		if !ok {
			return nil
		}
		known[about.Ref] = about
	}
	return known
}

// learn keeps what a Turn has found.
func (b *concurrentReads) learn(found map[store.Ref]subscribed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil || len(b.known) >= maxIdle {
		b.known = make(map[store.Ref]subscribed)
	}
	maps.Copy(b.known, found)
}

// answers are the batches of a Turn's reads, as they were for what was known of
// the subscriptions.
type answers struct {
	known   map[store.Ref]subscribed
	batches []store.Batch
	err     error
}

// readAll answers the requests in their order.
func (s *Store) readAll(ctx context.Context, known map[store.Ref]subscribed, requests []store.Request) answers {
	a := answers{known: known, batches: make([]store.Batch, len(requests))}
	for i := range requests {
		if a.batches[i], a.err = s.read(ctx, known[requests[i].Ref], &requests[i]); a.err != nil {
			break
		}
	}
	return a
}

// hold says whether the answers are those to what was found since.
func (a *answers) hold(found map[store.Ref]subscribed) bool {
	for ref, about := range a.known {
		if !about.same(found[ref]) {
			return false
		}
	}
	return a.err == nil && a.known != nil
}

// same says whether a read would not tell two subscriptions apart.
func (s subscribed) same(other subscribed) bool {
	return s.Ref == other.Ref && s.id == other.id && s.swept == other.swept && s.fault == nil && other.fault == nil &&
		slices.Equal(s.asks.Types, other.asks.Types) && s.filter.Same(&other.filter)
}

// start begins the reads of t, if they may run beside its settlements. The
// caller takes what it returns, once.
func (b *concurrentReads) start(ctx context.Context, s *Store, t store.Turn) (take func() answers) {
	known := b.ask(s, t)
	if known == nil {
		return func() answers { return answers{} }
	}
	read := make(chan answers, 1)
	go func() { read <- s.readAll(ctx, known, t.Read) }()
	return func() answers { return <-read }
}

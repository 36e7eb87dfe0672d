package sqlitestore_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// crowd is another process whose writers follow each other without a pause, through a store of its own, until the test ends. It counts
// their transactions.
func (f *fixture) crowd() *atomic.Int64 {
	f.Helper()
	other := openAt(f.TB, f.path, sqlitestore.Options{BusyTimeout: patience})
	ctx, cancel := context.WithCancel(f.Context())
	count, running := &atomic.Int64{}, sync.WaitGroup{}
	for range 4 {
		running.Go(func() {
			for ctx.Err() == nil {
				err := other.InTx(context.WithoutCancel(ctx), func(context.Context, postbag.SQLTx) error {
					count.Add(1)
					<-time.After(20 * time.Millisecond) // it has something to do
					return nil
				})
				if err != nil {
					f.Error(err)
					return
				}
			}
		})
	}
	f.Cleanup(func() { cancel(); running.Wait() })
	return count
}

// Nobody looks for the lock in the moment for which such writers leave it. So heartbeats failed, and relays lost their leases.
func TestHeartbeatsAreInTimeWhileAnotherProcessWritesConstantly(t *testing.T) {
	t.Parallel()
	const ttl = 2 * time.Second
	f := open(t)
	count := f.crowd()
	for n := range 10 {
		for begun := count.Load(); count.Load() < begun+5; {
			<-time.After(time.Millisecond)
		}
		began := time.Now()
		_, err := f.Beat(t.Context(), store.Beat{Relay: "r", New: n == 0, TTL: ttl})
		if took := time.Since(began); err != nil || took > ttl {
			t.Errorf("heartbeat %d took %v, and the lease is over after %v: %v", n, took, ttl, err)
		}
	}
}

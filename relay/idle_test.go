package relay_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestIdleRelaysQueryTheirStoreRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		var turns atomic.Int64
		s := &watched{Store: w.store, onTurn: func(store.Turn) {
			turns.Add(1)
			<-time.After(2 * time.Millisecond) // the way to the database
		}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		for range 2 {
			r := w.relayOver(s, relay.Options{})
			go func() { ended <- r.Run(ctx) }()
		}
		<-time.After(time.Minute)
		before := turns.Load()
		<-time.After(time.Minute)
		if n := turns.Load() - before; n > 2*60*5/2 {
			t.Errorf("two idle relays asked %d times in a minute", n)
		}
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

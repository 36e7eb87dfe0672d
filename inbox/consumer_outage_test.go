package inbox_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store/memstore"
)

// The first that the database does for them after an outage is to roll back what their handlers refuse.
func TestAnOutageEndsAlsoIfTheHandlersOfAllThatIsInHandFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var down, refuse atomic.Bool
		refuse.Store(true)
		w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
			if down.Load() && op == memstore.OpBegin {
				return memstore.Fault{Err: errors.New("the database is down")}
			}
			return memstore.Fault{}
		}}, options(func(o *consumerOptions) { o.Retry = inbox.Retry{Min: 20 * time.Second, Max: 20 * time.Second} }),
			handle(func(_ context.Context, m *inbox.Message, _ int) error {
				if refuse.Load() && strings.HasPrefix(string(m.Payload), "bad") {
					return errors.New("not yet")
				}
				return nil
			}))
		w.publish(of("a", "before"))
		w.acked() // it has begun
		down.Store(true)
		w.publish(of("a", "bad 1"))
		w.await("it has failed", func() bool { return w.failures() >= 1 })
		w.publish(of("b", "bad 2")) // to the Fetch that waits; there is no other in the outage
		w.await("it was fetched", func() bool { return w.c.Stats().Fetched == 3 })
		down.Store(false)
		w.await("both handlers have failed", func() bool { return w.c.Stats().Failed == 2 })
		refuse.Store(false)
		begun := time.Now()
		w.publish(of("c", "good"))
		w.await("another key goes on", func() bool { return w.c.Stats().Applied >= 2 })
		if wait := time.Since(begun); wait > 5*time.Second {
			t.Errorf("it went on after %s, when others were tried again", wait)
		}
		w.acked()
		w.end()
	})
}

package relay_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

// bad are the ways in which one message may keep a destination from taking it.
var bad = []struct {
	name string
	act  func() membroker.Act
}{
	{"misconfigured", func() membroker.Act { return membroker.Fail(broker.Misconfigured, "no stream stores it") }},
	{"unavailable", func() membroker.Act { return membroker.Fail(broker.Unavailable, "503") }},
	{"rejected", func() membroker.Act { return membroker.Fail(broker.Rejected, "bad") }},
	{"unknown", func() membroker.Act { return membroker.Fail(broker.Unknown, "reset") }},
	{"never answered", func() membroker.Act { return membroker.Act{Hold: make(chan struct{})} }},
}

// A relay that was told to stop with one message in hand that its destination does not
// take waited ten seconds for it, settled nothing that was accepted behind it, kept
// its leases, and said that it had given them back. The next one sent it all again.
func TestAStopWithARefusedMessageInHandHandsShardsOver(t *testing.T) {
	t.Parallel()
	for _, b := range bad {
		for _, ordered := range []bool{false, true} {
			for _, batch := range []int{1, 0} {
				t.Run(fmt.Sprintf("%s, ordered %v, batch %d", b.name, ordered, batch), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { stopWith(t, b.act, ordered, batch) })
				})
			}
		}
	}
}

func stopWith(t *testing.T, act func() membroker.Act, ordered bool, batch int) {
	t.Helper()
	cured := false
	hand := map[string]bool{"key-3/2": true, "key-3/7": true}
	w := newWorld(t, memstore.Options{}, membroker.Options{Ordered: ordered, Decide: func(m broker.Delivery, _ int) membroker.Act {
		if hand[string(m.Payload)] && !cured {
			return act()
		}
		return membroker.Act{Delay: 5 * time.Millisecond}
	}})
	o := relay.Options{Subscriptions: []relay.Subscription{{To: w.to, Batch: batch, Retry: relay.Retry{Quick: 3, Min: time.Second}}}}
	log, r, stop := w.logged(w.store, o)
	w.publish(165, 11)
	<-time.After(1700 * time.Millisecond)
	if w.to.Len() == 0 {
		t.Fatal("nothing was delivered before the stop")
	}
	at := time.Now()
	stop()
	if took := time.Since(at); took > time.Second {
		t.Errorf("the stop took %v", took)
	}
	if !r.Stats().Graceful {
		t.Errorf("the relay has not given its shards back:\n%s", log)
	}
	v, err := w.store.Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Relays) > 0 {
		t.Errorf("%d relays live", len(v.Relays))
	}
	for _, sh := range w.overview().Shards {
		if sh.Owner != "" {
			t.Errorf("%s is still owned", sh.Shard)
		}
	}
	cured = true
	_, _, stop = w.logged(w.store, o)
	<-time.After(20 * time.Second)
	stop()
	w.inOrder()
	if n := w.to.Repeats(); n != 0 {
		t.Errorf("%d duplicates", n)
	}
}

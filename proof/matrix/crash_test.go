package matrix

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/store"
)

// crasher is a database server that can be killed.
type crasher interface {
	Kill(ctx context.Context) error
	Start(ctx context.Context) error
}

// TestDeliveryResumesAtOnceAfterTheDatabaseWasKilled kills a server under a relay that
// is alone, and starts it again. The relay had another identity after that, and waited
// for the leases of the one before to run out: here that is longer than the test waits.
func TestDeliveryResumesAtOnceAfterTheDatabaseWasKilled(t *testing.T) {
	t.Parallel()
	for _, s := range stores() {
		if s.name == "SQLite" || s.name == "memory" {
			continue // there is no server
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			crashUnder(t, s.open(t))
		})
	}
}

// settled waits until the positions have passed all that was written.
func (d *deliverer) settled() {
	d.t.Helper()
	for deadline := time.Now().Add(patience); ; <-time.After(10 * time.Millisecond) {
		o, err := d.box.store.(store.Inspector).Overview(d.t.Context()) //nolint:errcheck // every store is one
		if err != nil {
			d.t.Fatal(err)
		}
		if o.Boxes[0].Subscriptions[0].Backlog == 0 {
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatal("what was delivered is not settled")
		}
	}
}

func crashUnder(t *testing.T, b *box) {
	t.Helper()
	to := membroker.New(membroker.Options{})
	d := deliverTo(t, b, to)
	written := 0
	write := func(n int) {
		d.write(written, n, 5)
		written += n
	}
	write(50)
	d.delivered(50)
	for range 3 {
		d.settled()
		before := d.relay.Stats()
		if err := b.server.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.server.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		from := time.Now()
		for ; ; <-time.After(5 * time.Millisecond) { // the pool may still have connections that are gone
			err := b.write(t.Context(), false, nil)
			if err == nil {
				break
			}
			if time.Since(from) > patience {
				t.Fatal(err)
			}
		}
		answers := time.Now()
		write(10)
		d.delivered(written)
		t.Logf("the database answers %v after it was started; the first delivery came %v after that", answers.Sub(from), time.Since(answers))
		after := d.relay.Stats()
		t.Logf("identity %s, then %s; %d heartbeats", before.ID, after.ID, after.Beats-before.Beats)
		o, err := b.store.(store.Inspector).Overview(t.Context()) //nolint:errcheck // every store is one
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Relays) != 1 || o.Relays[0].ID != after.ID {
			t.Errorf("%d relays live, one of them a ghost", len(o.Relays))
		}
	}
	if n := to.Repeats(); n != 0 {
		t.Errorf("%d duplicates of what was settled", n)
	}
}

package olddata_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

var ref = store.Ref{Box: "outbox", Subscription: "default"}

// long is how long writers publish after the migration.
func long() time.Duration {
	if servertest.Full() {
		return 30 * time.Second
	}
	return 2 * time.Second
}

func TestAnOldBoxIsMigratedWhileWritersPublishAndRelaysOfBothVersionsWork(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			u := &upgrade{t: t, kind: k, counts: map[string]int{}}
			u.run()
		})
	}
}

// upgrade is a box on its way from the old version to the new one.
type upgrade struct {
	t    *testing.T
	kind kind
	db   *sql.DB
	dsn  string

	mu     sync.Mutex
	wrote  []string
	counts map[string]int // how often each message arrived

	accepts func(id string) bool // counts a message, or rejects it; nil: all are accepted. It is called with mu held.
}

func (u *upgrade) run() {
	u.db, u.dsn = u.kind.start(u.t)
	u.kind.load(u.t, u.db)
	old := u.startOldInFull()
	ctx, cancel := context.WithCancel(u.t.Context())
	defer cancel()
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() { u.write(ctx, i) })
	}
	u.after(200)
	done, err := u.kind.open(u.t, u.dsn, true).Migrate(u.t.Context())
	if err != nil {
		u.t.Fatalf("the migration under load: %v", err)
	}
	u.t.Logf("%s: %d messages were there, and %d steps were made", u.kind.name, len(u.written()), len(done))
	if len(done) == 0 {
		u.t.Error("nothing was migrated: the dumps are of this version, and show nothing")
	}
	stop := u.startNew(u.kind.open(u.t, u.dsn, false))
	u.rest(long() / 2)
	old() // the last of its version
	u.rest(long() / 2)
	cancel()
	writers.Wait()
	u.judge()
	stop()
}

// rest lets time pass, in which writers and relays are at work.
func (u *upgrade) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-u.t.Context().Done():
	}
}

// after waits until so many messages were written.
func (u *upgrade) after(n int) {
	for deadline := time.Now().Add(time.Minute); len(u.written()) < n; u.rest(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			u.t.Fatalf("only %d messages were written in a minute", len(u.written()))
		}
	}
}

// write publishes until ctx ends. What it cannot publish is a failure: nothing is broken.
func (u *upgrade) write(ctx context.Context, number int) {
	for i := 0; ctx.Err() == nil; i++ {
		id := postbag.NewID()
		if err := u.kind.publish(context.WithoutCancel(ctx), u.db, id, fmt.Sprintf("w%d-%d", number, i%5), ""); err != nil {
			u.t.Errorf("a writer was refused: %v", err)
			return
		}
		u.mu.Lock()
		u.wrote = append(u.wrote, id.String())
		u.mu.Unlock()
		u.rest(4 * time.Millisecond)
	}
}

func (u *upgrade) written() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.wrote
}

// arrived counts a message at a destination.
func (u *upgrade) arrived(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.counts[id]++
}

// accept counts a message at a webhook, or rejects it.
func (u *upgrade) accept(id string) bool {
	if u.accepts == nil {
		u.arrived(id)
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.accepts(id)
}

// startNew starts a relay of this checkout.
func (u *upgrade) startNew(s relayStore) (stop func()) {
	to := membroker.New(membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
		u.arrived(m.ID.String())
		return membroker.Act{}
	}})
	r, err := relay.New(s, relay.Options{TTL: 3 * time.Second, Subscriptions: []relay.Subscription{{To: to}}})
	if err != nil {
		u.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(u.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			u.t.Errorf("the new relay ended with %v", err)
		}
	}
}

// judge waits until each message has arrived, and wants none to have come twice.
func (u *upgrade) judge() {
	wrote := u.written()
	for deadline := time.Now().Add(time.Minute); u.missing(wrote) > 0 || u.all() < len(wrote)+old; u.rest(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			u.t.Fatalf("%d of %d messages did not arrive, and %d in all did", u.missing(wrote), len(wrote), u.all())
		}
	}
	u.rest(200 * time.Millisecond)
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, n := range u.counts {
		if n > 1 {
			u.t.Errorf("message %s arrived %d times", id, n)
		}
	}
}

func (u *upgrade) missing(wrote []string) (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range wrote {
		if u.counts[id] == 0 {
			n++
		}
	}
	return n
}

// all is how many messages arrived.
func (u *upgrade) all() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.counts)
}

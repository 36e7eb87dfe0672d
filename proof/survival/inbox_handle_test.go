package survival

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// A durable inbox whole: each process has a receiver, and a relay that calls a handler. One that dies between the commit of a handler and the
// settlement has its messages delivered again by the next: the table of effects has each once, those of a subject in the order of the stream.
func TestRelaysWithAHandlerThatAreKilledApplyEachMessageOnceAndInOrder(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	if err := w.store.CreateBox(t.Context(), "inbox"); err != nil {
		t.Fatal(err)
	}
	n := size(50_000)
	w.exec(`create table effects (id text not null, key text not null, number integer not null, attempt integer not null, at bigserial)`)
	w.fillStream(n, 50)
	kills := w.killRelays(func() *exec.Cmd { return w.startConsumer("durable") }, w.effects, []func(context.Context) error{
		func(ctx context.Context) error { return w.pg.Restart(ctx, testserver.StopImmediate) },
	}, n, 10)
	w.awaitIdle(3*time.Minute, func() bool { return w.effects() >= n })
	t.Logf("%d messages were applied while %d relays were killed", n, kills)
	if kills < 3 {
		t.Errorf("only %d relays were killed: nothing was shown", kills)
	}
	var counted int
	if err := w.pool.QueryRow(t.Context(), `select count(*) from effects where attempt > 1`).Scan(&counted); err != nil {
		t.Fatal(err)
	}
	t.Logf("of %d messages attempts were counted: they were at work", counted)
	if most := 2 * kills * 2 * concurrency; counted > most {
		t.Errorf("of %d messages attempts were counted; %d were at work or about to be", counted, most)
	}
	judgeEffects(t, n, 50, history.OnceInOrder, w.effectsIn(`select key, number from effects order by at`))
}

// A handler that ends its process at one message: that key alone waits, and the message is dead when its attempts are used up.
func TestAHandlerThatEndsItsProcessRunsOutOfAttempts(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	if err := w.store.CreateBox(t.Context(), "inbox"); err != nil {
		t.Fatal(err)
	}
	const n, keys = 3000, 1000 // the last message of the key waits
	w.exec(`create table effects (id text not null, key text not null, number integer not null, attempt integer not null, at bigserial)`)
	w.fillStream(n, keys)
	deaths := 0
	var c *exec.Cmd
	ended := make(chan struct{}, 1)
	begin := func() {
		c = w.startConsumer("deadly")
		go func(c *exec.Cmd) {
			_ = c.Wait() // it ended its process
			ended <- struct{}{}
		}(c)
	}
	begin()
	var reason string
	w.eventually(3*time.Minute, "the message is dead, and all other keys are applied", func() bool {
		select {
		case <-ended:
			deaths++
			begin()
		default:
		}
		dead, _, err := w.store.List(t.Context(), store.Query{Ref: store.Ref{Box: "inbox"}, State: store.StateDead, Limit: 10})
		if err != nil || len(dead) == 0 {
			return false
		}
		reason = dead[0].Reason
		return w.effects() == n-n/keys+deadly/keys
	})
	_ = c.Process.Kill()
	<-ended
	t.Logf("the message is dead after its process ended %d times: %s", deaths, reason)
	if deaths < deadlyAttempts || deaths > deadlyAttempts+1 {
		t.Errorf("its process ended %d times, want %d, and once more at most", deaths, deadlyAttempts)
	}
	if !strings.Contains(reason, "its process ended") {
		t.Errorf("the reason is %q, which does not say what happened", reason)
	}
	judgeEffects(t, n, keys, history.OnceInOrder, w.effectsIn(`select key, number from effects order by at`),
		history.Stored{ID: nameOf(deadly), State: history.Dead}, history.Stored{ID: nameOf(deadly + keys), State: history.Parked})
}

// The message at which the handler ends its process, and how many attempts it has.
const deadly, deadlyAttempts = 1007, 3

// concurrency is how many handlers of a process run at once.
const concurrency = 4

// killRelays kills relays that work, and now and then restarts a database, until nine of ten messages are done, or most were killed.
func (w *world) killRelays(start func() *exec.Cmd, applied func() int, restarts []func(context.Context) error, n, most int) (kills int) {
	w.t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	relays := []*exec.Cmd{start(), start()}
	for ; kills < most && applied() < n*9/10; kills++ {
		before := applied()
		w.eventually(time.Minute, "a relay goes on", func() bool { return applied() > before })
		pause(time.Duration(r.IntN(300)) * time.Millisecond)
		for i := range relays { // one that stands by would work at once if it were spared each time
			if i == kills%2 || r.IntN(2) == 0 {
				_ = relays[i].Process.Kill()
				_ = relays[i].Wait() // it was killed
				relays[i] = start()
			}
		}
		if kills%4 == 1 && len(restarts) > 0 {
			if err := restarts[kills/4%len(restarts)](w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return kills
}

// workBox stores what the stream has in the box, and has a relay apply it: a row in the table of effects, in the transaction of the mark.
// One that dies does so at one message.
func workBox(ctx context.Context, s *pgstore.Store, url string, retry relay.Retry, dies bool) error {
	d, err := inbox.NewDestination(inbox.DestinationOptions[pgx.Tx]{
		Store: s, Consumer: "inbox", // as the receiver: their marks differ
		Handle: func(ctx context.Context, tx pgx.Tx, m *inbox.Message) error {
			if dies && string(m.Payload) == strconv.Itoa(deadly) {
				os.Exit(3)
			}
			_, err := tx.Exec(ctx, `insert into effects (id, key, number, attempt) values ($1, $2, $1::text::integer, $3)`,
				string(m.Payload), m.Key, m.Attempt)
			return err
		},
	})
	if err != nil {
		return err
	}
	r, err := relay.New(s, relay.Options{
		TTL: ttl, Subscriptions: []relay.Subscription{{Box: "inbox", To: d, Concurrency: concurrency, Retry: retry}},
	})
	if err != nil {
		return fmt.Errorf("work the box: %w", err)
	}
	received := make(chan error, 1)
	go func() { received <- receive(ctx, s, url) }()
	err = r.Run(ctx)
	return errors.Join(err, <-received)
}

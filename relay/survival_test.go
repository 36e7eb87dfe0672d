package relay_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

// actor is a relay in a process of its own.
type actor struct {
	*process

	relay *relay.Relay
	end   func()
}

// actor starts a relay that can be killed.
func (w *world) actor() *actor {
	w.t.Helper()
	return w.start(newProcess(w))
}

func (w *world) start(p *process) *actor {
	w.t.Helper()
	o := once(relay.Subscription{To: p, Batch: 50, Timeout: 5 * time.Second})
	o.Grace, o.NoMaintenance = time.Millisecond, true
	o.Logger = slog.New(slog.DiscardHandler)
	r, err := relay.New(p, o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.Run(ctx); err != nil {
			w.t.Errorf("Run: %v", err)
		}
	}()
	a := &actor{process: p, relay: r, end: func() {
		p.thaw()
		cancel()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			w.t.Error("Run does not end")
		}
	}}
	w.t.Cleanup(a.end)
	return a
}

// owner returns the actor that works the lane.
func (w *world) owner(actors ...*actor) (owner *actor) {
	w.t.Helper()
	w.eventually("a relay works the lane", func() bool {
		owners := 0
		for _, a := range actors {
			if !a.gone() && of(a.relay).Shards > 0 {
				owner = a
				owners++
			}
		}
		return owners == 1
	})
	return owner
}

// harm has a relay meet its fate at a place while it works, and waits until another
// has gone on.
func (w *world) harm(at place, fate func(*process)) (victim, heir *actor) {
	w.t.Helper()
	p := newProcess(w)
	sprung := p.set(at, func() { fate(p) })
	w.publish(200, 10)
	victim = w.start(p)
	w.await(sprung, "a relay gets to the place: "+string(at))
	heir = w.actor()
	w.publish(200, 10)
	w.delivered(w.total())
	return victim, heir
}

// insist publishes one by one, again where the database crashed.
func (w *world) insist(n, keys int) {
	w.t.Helper()
	for i := range n {
		key := fmt.Sprintf("key-%d", i%keys)
		m := postbag.Message{Topic: "t", Key: key, Payload: []byte(fmt.Sprintf("%s/%d", key, w.sent[key]))}
		w.eventually("a message is published", func() bool {
			return w.pub.InTx(w.t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return w.pub.Publish(ctx, tx, m) }) == nil
		})
		w.sent[key]++
	}
}

func (w *world) await(happened <-chan struct{}, what string) {
	w.t.Helper()
	select {
	case <-happened:
	case <-time.After(30 * time.Second):
		w.t.Fatalf("not in 30 s: %s", what)
	}
}

// settled waits until the database has all, and checks what it says.
func (w *world) settled() {
	w.t.Helper()
	w.eventually("all is settled", func() bool { return w.overview().Backlog == 0 })
	if v := w.overview(); v.Delivered != int64(w.total()) || len(v.Parked) != 0 {
		w.t.Errorf("the ledger has %d of %d, parked %v", v.Delivered, w.total(), v.Parked)
	}
}

func TestARelayKilledAtAnyPointRepeatsNothing(t *testing.T) {
	t.Parallel()
	for _, at := range places {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			w := exactlyOnce(t, membroker.Options{})
			for range 2 {
				_, heir := w.harm(at, (*process).kill)
				w.settled()
				heir.kill()
			}
			w.eachOnce()
		})
	}
}

func TestARelayFrozenAtAnyPointBeyondItsLeaseRepeatsNothing(t *testing.T) {
	t.Parallel()
	for _, at := range places {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			w := exactlyOnce(t, membroker.Options{})
			zombie, _ := w.harm(at, (*process).freeze)
			zombie.thaw()
			w.publish(200, 10)
			w.delivered(w.total())
			w.settled()
			zombie.end()
			w.eachOnce()
		})
	}
}

// It proves that the tests above can fail.
func TestAZombieRepeatsMessagesIfTheBrokerDoesNotFence(t *testing.T) {
	t.Parallel()
	w := exactlyOnce(t, membroker.Options{Unfenced: true})
	zombie, _ := w.harm(beforeCommit, (*process).freeze)
	n := w.to.Len()
	zombie.thaw()
	w.eventually("the zombie commits", func() bool { return w.to.Len() > n })
	if w.to.Repeats() == 0 {
		t.Error("a broker without fencing doubles nothing: then nothing is proved by one with it")
	}
}

func TestADatabaseThatCrashesAfterACommitRepeatsNothing(t *testing.T) {
	t.Parallel()
	w := exactlyOnce(t, membroker.Options{})
	a := w.actor()
	for range 2 {
		sprung := a.set(afterCommit, w.store.Crash)
		w.insist(200, 10)
		w.await(sprung, "the relay commits")
		w.delivered(w.total())
		w.settled()
	}
	w.eachOnce()
}

func TestALostAnswerOfACommitRepeatsNothing(t *testing.T) {
	t.Parallel()
	w := exactlyOnce(t, membroker.Options{Transact: func(x membroker.Tx) membroker.TxAct {
		return membroker.TxAct{Lose: x.Number%3 == 1, Drop: x.Number%3 == 2}
	}})
	w.actor()
	w.publish(600, 10)
	w.delivered(600)
	w.settled()
	w.eachOnce()
}

// What comes at random: kills, stops beyond the lease, lost answers, crashes of the
// database, one after the other.
func TestExactlyOnceSurvivesRandomKillsStopsAndCrashes(t *testing.T) {
	t.Parallel()
	rounds := 6
	if os.Getenv("POSTBAG_FULL") != "" {
		rounds = 40
	}
	chance := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	w := exactlyOnce(t, membroker.Options{Transact: func(x membroker.Tx) membroker.TxAct {
		switch x.Number % 17 {
		case 3:
			return membroker.TxAct{Lose: true}
		case 11:
			return membroker.TxAct{Drop: true}
		}
		return membroker.TxAct{}
	}})
	actors := []*actor{w.actor(), w.actor()}
	for round := range rounds {
		a := w.owner(actors...)
		at, fate := places[2+chance.IntN(4)], chance.IntN(3)
		t.Logf("round %d: fate %d %s", round, fate, at)
		sprung := a.set(at, map[int]func(){0: a.kill, 1: a.freeze, 2: w.store.Crash}[fate])
		w.insist(300, 20)
		w.await(sprung, "the place: "+string(at))
		if fate == 0 {
			actors = append(actors, w.actor())
		}
		w.delivered(w.total() - 50*chance.IntN(2))
		a.thaw()
		w.publish(100, 20)
	}
	w.delivered(w.total())
	w.settled()
	for _, a := range actors {
		a.end()
	}
	w.eachOnce()
}

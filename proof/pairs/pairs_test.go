package pairs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/proof/internal/daemon"
	"github.com/postbag/postbag/proof/internal/record"
)

const (
	inFlight = 1000
	ttl      = 2 * time.Second
	slack    = 3*ttl + 20*time.Second // leases change hands, a destination is probed again, and a queue that recovers is slow
	topic    = "events"
	relays   = 2
)

func TestMessagesCommittedInMariaDBReachKafkaThroughEveryFault(t *testing.T) {
	t.Parallel()
	survive(t, servertest.MySQL(t, testserver.MySQLOptions{}), startKafka(t))
}

func TestMessagesCommittedInMySQLReachRabbitMQThroughEveryFault(t *testing.T) {
	t.Parallel()
	survive(t, servertest.MySQL(t, testserver.MySQLOptions{Oracle: true}), startRabbitMQ(t))
}

// messages is how many are committed.
func messages() int {
	if servertest.Full() {
		return 100_000
	}
	return 4000
}

// plan is which faults happen, in which order: each under load, when a further part of the messages is committed.
func plan() []string {
	times := map[string]int{"kill": 2, "freeze": 1, "database": 1, "broker": 1}
	if servertest.Full() {
		times = map[string]int{"kill": 10, "freeze": 5, "database": 3, "broker": 3}
	}
	var all []string
	for kind, n := range times {
		all = append(all, slices.Repeat([]string{kind}, n)...)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// pair is one run.
type pair struct {
	t      *testing.T
	db     *testserver.MySQL
	dsn    string
	sink   *sink
	relays [relays]*daemon.Process
	faults record.Faults
	began  time.Time
}

func survive(t *testing.T, db *testserver.MySQL, s *sink) {
	t.Helper()
	daemon.Program(t)
	p := &pair{t: t, db: db, dsn: newDatabase(t, db), sink: s, began: time.Now()}
	w := newWriters(t, p.dsn)
	for i := range p.relays {
		p.relays[i] = p.relay(i)
	}
	wait := w.start(t.Context())
	faults := plan()
	part := messages() / (len(faults) + 1)
	for i, kind := range faults {
		w.allow((i + 2) * part)
		w.reach((i+1)*part + part/2) // the writers are at work, and have more to do
		from := time.Now()
		p.inflict(kind)
		t.Logf("%v: %s, for %v, at %d messages", from.Sub(p.began).Round(time.Millisecond), kind, time.Since(from).Round(time.Millisecond), w.total())
	}
	w.allow(messages())
	wait()
	p.verdict(w)
	for _, r := range p.relays {
		r.Stop()
	}
}

// relay starts the relay i.
func (p *pair) relay(i int) *daemon.Process {
	p.t.Helper()
	name := fmt.Sprintf("relay%d", i)
	yaml := fmt.Sprintf("name: %s\nttl: %s\nstore: {kind: mysql, dsn_env: POSTBAG_DSN}\ndestinations:\n  there: %s\nsubscriptions:\n  - in_flight: %d\n",
		name, ttl, p.sink.yaml, inFlight)
	r := daemon.Start(p.t, name, yaml, append(p.sink.env, "POSTBAG_DSN="+p.dsn)...)
	r.Ready() // a relay that does not find its database at its start ends
	return r
}

// inflict does one fault and notes it.
func (p *pair) inflict(kind string) {
	p.t.Helper()
	ctx, from, i := p.t.Context(), time.Now(), rand.IntN(relays)
	hit := 1
	switch kind {
	case "kill":
		p.relays[i].Kill()
		p.relays[i] = p.relay(i)
	case "freeze":
		p.relays[i].Signal(syscall.SIGSTOP)
		pause(ttl + ttl/2)
		p.relays[i].Signal(syscall.SIGCONT)
	case "database":
		hit = relays
		p.must(p.db.Kill(ctx))
		p.must(p.db.Start(ctx))
	case "broker":
		hit = relays
		p.must(p.sink.killed(ctx))
	}
	for range hit {
		p.faults.Note(kind, from)
	}
}

func (p *pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// verdict waits for all that was committed and judges what has arrived.
func (p *pair) verdict(w *writers) {
	p.t.Helper()
	r := record.Require(p.t, p.arrivals(w), w.counts(), w.payload, &p.faults, history.Options{InFlight: inFlight, Slack: slack})
	p.t.Logf("%s: committed %d, %s; rolled back %d transactions, commits without an answer %d, of which %d stood; faults %d, in %v",
		p.db.Version(), w.total(), record.Line(r), w.rolled, w.unsure, w.stood, p.faults.Count(), time.Since(p.began).Round(time.Millisecond))
}

// arrivals reads what is in the broker until all that was committed is there, and a moment longer, for what a relay that
// believes to have its lease still has to say.
func (p *pair) arrivals(w *writers) (all []record.Arrival) {
	p.t.Helper()
	seen := map[record.Event]bool{}
	enough := time.Time{}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		for _, a := range p.sink.more(p.t) {
			seen[a.Event] = true
			a.Phantom = !w.committedBy(a.Event)
			all = append(all, a)
		}
		switch {
		case len(seen) < w.total():
		case enough.IsZero():
			enough = time.Now().Add(time.Second)
		case time.Now().After(enough):
			return all
		}
	}
	return all
}

// pause lets time pass: how long a fault lasts, or a writer takes.
func pause(d time.Duration) { <-time.After(d) }

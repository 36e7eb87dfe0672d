package survival

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// A consumer that dies between its commit and its ack gets the messages again, and so does the one that takes over. One that was frozen goes on
// with what another has meanwhile. Who joins or leaves moves the work of others. The table of effects has each message once, those of a key in
// the order of the source, although keys run side by side.
func TestConsumersWithAHandlerThatAreKilledApplyEachMessageOnceAndInOrder(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	for _, from := range []struct {
		name string
		open func(t *testing.T, subjects int) *origin
	}{{"JetStream", natsOrigin}, {"Kafka", kafkaOrigin}, {"RabbitMQ", rabbitOrigin}, {"RabbitMQ stream", rabbitStreamOrigin}, {"Redis", redisOrigin}} {
		for _, to := range []struct {
			name string
			open func(t *testing.T) *base
		}{{"PostgreSQL", postgresBase}, {"MariaDB", mariadbBase}} {
			t.Run(from.name+" to "+to.name, func(t *testing.T) {
				if !full() && (to.name != "PostgreSQL" || from.name != "JetStream" && from.name != "RabbitMQ stream") {
					t.Skip("POSTBAG_FULL is not set: JetStream and a stream of RabbitMQ to PostgreSQL are tried alone")
				}
				surviveConsuming(t, from.open(t, handledSubjects), to.open(t))
			})
		}
	}
}

const handledSubjects = 500

// handling is consumers of an origin whose handlers write effects, and what happens to them.
type handling struct {
	*world

	from      *origin
	to        *base
	r         *rand.Rand
	n, chunk  int // how many messages there are, and how many are published before each fault
	published int
	consumers []*exec.Cmd
}

// surviveConsuming has 50,000 messages applied while consumers are killed 20 times, frozen 5 times, join and leave for a minute, and broker and
// database are restarted.
func surviveConsuming(t *testing.T, from *origin, to *base) {
	t.Helper()
	f := from.brief
	if f == (faults{}) {
		f = faults{messages: 3000, kills: 6, freezes: 1, moves: 3}
	}
	if full() {
		f = faults{messages: 50_000, kills: 20, freezes: 5, moves: 30}
	}
	n := f.messages
	h := &handling{world: &world{t: t}, from: from, to: to, r: rand.New(rand.NewPCG(1, 2)), n: n, chunk: n / (f.kills + f.freezes + f.moves)}
	to.createEffects(handledSubjects)
	began := time.Now()
	for range 3 {
		h.join()
	}
	for i := range f.kills {
		h.work()
		h.kill()
		switch i % 6 {
		case 2:
			h.must(to.restart(t.Context()))
		case 5:
			h.must(from.restart(t.Context()))
		}
	}
	for range f.freezes {
		h.work()
		h.freeze()
	}
	for i := range f.moves {
		h.publish(h.chunk)
		if i%2 == 0 {
			h.join()
		} else {
			h.leave()
		}
		pause(2 * time.Second)
	}
	atOnce := to.applied()
	h.publish(n)
	h.eventually(10*time.Minute, "all messages are applied", func() bool { return to.applied() >= n })
	took := time.Since(began)
	if from.passed != nil {
		from.passed(to, n)
	} else {
		pause(from.frozen) // what comes again would come now
	}
	t.Logf("%s to %s: %d messages were applied in %v, %d of them amid %d kills, %d freezes, %d moves", from.kind, to.kind, n, took.Round(time.Second), atOnce, f.kills, f.freezes, f.moves)
	to.judge(n, from.ordered)
}

func (h *handling) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// publish publishes so many messages more, as far as there are.
func (h *handling) publish(n int) {
	h.t.Helper()
	to := min(h.published+n, h.n)
	for first := h.published; first < to; first += 5000 {
		h.must(h.from.publish(h.t.Context(), first, min(first+5000, to)))
	}
	h.published = to
}

// work publishes, and waits until consumers go on: a fault meets some at work.
func (h *handling) work() {
	h.t.Helper()
	before := h.to.applied()
	h.publish(h.chunk)
	h.eventually(2*time.Minute, "the consumers go on", func() bool { return h.to.applied() > before })
	pause(time.Duration(h.r.IntN(300)) * time.Millisecond)
}

// join starts a consumer.
func (h *handling) join() {
	h.t.Helper()
	h.consumers = append(h.consumers, h.startProcess("handle", h.to.kind, h.to.dsn, h.from.kind, h.from.url))
}

// leave has the eldest consumer end, which closes its source, so the others get its work at once.
func (h *handling) leave() {
	h.t.Helper()
	c := h.consumers[0]
	h.consumers = h.consumers[1:]
	h.must(c.Process.Signal(syscall.SIGTERM))
}

// kill kills one consumer, and others perhaps: where one alone is at work that one must be hit sometimes.
func (h *handling) kill() {
	h.t.Helper()
	one := h.r.IntN(len(h.consumers))
	for i, c := range h.consumers {
		if i == one || h.r.IntN(2) == 0 {
			_ = c.Process.Kill()
			_ = c.Wait() // it was killed
			h.consumers[i] = h.startProcess("handle", h.to.kind, h.to.dsn, h.from.kind, h.from.url)
		}
	}
}

// freeze stops consumers, at least one, until the broker has given them up, and lets them go on.
func (h *handling) freeze() {
	h.t.Helper()
	spared := h.r.IntN(len(h.consumers))
	each := func(signal syscall.Signal) {
		for i, c := range h.consumers {
			if i != spared {
				h.must(c.Process.Signal(signal))
			}
		}
	}
	each(syscall.SIGSTOP)
	pause(h.from.frozen)
	each(syscall.SIGCONT)
}

// handleAll applies what comes from an origin, until it is told to end. It takes the kind and the DSN of a base, and the kind and the URL of an
// origin.
func handleAll(ctx context.Context, settings []string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	p, err := awaitPlace(ctx, settings[0], settings[1])
	if err != nil {
		return err
	}
	kept, err := p.positions()
	if err != nil {
		return err
	}
	src, err := awaitOrigin(ctx, settings[2], settings[3], kept)
	if err != nil {
		return err
	}
	return p.consume(ctx, src)
}

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
)

const (
	writersOfAProducer = 6
	keysOfAWriter      = 25
)

// producer is a process that publishes. Each key has one writer at a time, so that its transactions are ordered; if it is killed,
// the process that takes its place finds out what became of its last transactions and goes on with its keys.
type producer struct {
	job     *Job
	out     Writer
	broker  Broker
	events  *events
	journal *journal
}

// beProducer writes until ctx ends, and then sees to what is undecided.
func beProducer(ctx context.Context, job *Job, s Store, b Broker) (err error) {
	events, err := newEvents(job.History, job.Origin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, events.Close()) }()
	out, err := s.Write(ctx, job.From)
	if err != nil {
		return fmt.Errorf("chaos: the database is not opened: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	journal, err := newJournal(job)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.close()) }()
	p := &producer{job: job, out: out, broker: b, events: events, journal: journal}
	if err := p.inherit(ctx); err != nil {
		return err
	}
	var all sync.WaitGroup
	for i := range writersOfAProducer {
		stream := uint64(job.Number*writersOfAProducer+i)<<32 | uint64(job.Life)
		w := &writer{
			producer: p, rand: rand.New(rand.NewPCG(job.Seed, stream)), name: fmt.Sprintf("p%dw%d", job.Number, i), next: map[string]int{},
		}
		all.Go(func() { w.write(ctx) })
	}
	all.Wait()
	return nil
}

// writer is one of a producer's.
type writer struct {
	*producer

	rand  *rand.Rand
	name  string
	count int            // of transactions
	next  map[string]int // by key, the number of its next message
	later []postbag.ID   // scheduled messages that may be cancelled
}

// write does one transaction after another, about as many messages a second as the producer shall.
func (w *writer) write(ctx context.Context) {
	pace := time.Second * writersOfAProducer / time.Duration(w.job.Rate)
	for at := time.Now(); ctx.Err() == nil; {
		n := w.transaction(ctx)
		if at = at.Add(time.Duration(n) * pace); time.Since(at) > time.Second {
			at = time.Now() // what an outage kept back does not come in one rush
		}
		if Pause(ctx, time.Until(at)) != nil {
			return
		}
	}
}

// transaction publishes something, or cancels, and returns how many messages it tried.
func (w *writer) transaction(ctx context.Context) int {
	// A transaction that has begun goes on when the run ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	w.count++
	t := &Transaction{Name: fmt.Sprintf("%s-%d-%d-%08x", w.name, w.job.Life, w.count, w.rand.Uint32()), Delay: w.delay()}
	if len(w.later) > 0 && w.rand.IntN(4) == 0 {
		id := w.later[0]
		w.later = w.later[1:]
		w.cancel(ctx, t, id)
		return 1
	}
	added := w.fill(t)
	t.Rollback = w.rand.IntN(12) == 0
	t.Plain = w.rand.IntN(3) == 0 && !scheduled(t)
	if t.Prepared = !t.Rollback && w.rand.IntN(25) == 0; t.Prepared && w.rand.IntN(4) == 0 {
		t.Delay = time.Duration(w.rand.IntN(4000)) * time.Millisecond
	}
	if w.rand.IntN(4) == 0 {
		undone := w.message("undone-"+w.name, 0, t.Name)
		t.Undone = &undone
	}
	stood := w.do(ctx, t, nil, func() error { return w.out.Write(ctx, t) }) == history.Committed
	if stood {
		for key, n := range added {
			w.next[key] += n
		}
		if scheduled(t) && w.rand.IntN(2) == 0 {
			w.later = append(w.later, t.Messages[0].ID)
		}
	}
	return len(t.Messages)
}

// do runs a transaction, finds out what became of it, and records both. cancels is the message that it takes back, if it does.
func (w *writer) do(ctx context.Context, t *Transaction, cancels *postbag.ID, run func() error) history.Fate {
	begin := w.events.clock.Now()
	if w.journal.begin(undertaking{Name: t.Name, Cancels: cancels, Begin: begin}) != nil {
		return history.RolledBack // it was not begun
	}
	w.events.intend(t, begin)
	fate := w.fate(ctx, t, run())
	w.events.became(t, fate, begin)
	return fate
}

// fate finds out what became of a transaction that ended with err.
func (w *writer) fate(ctx context.Context, t *Transaction, err error) history.Fate {
	switch {
	case err == nil && t.Rollback:
		return history.RolledBack
	case err == nil:
		return history.Committed
	case !errors.Is(err, postbag.ErrCommitUnknown):
		_ = Pause(ctx, 20*time.Millisecond) // a server that is away is not asked without end; ctx ends it
		return history.RolledBack
	}
	fate := w.find(ctx, t.Name)
	if fate == history.Unknown {
		w.name += "x" // the keys of before are not used any more: nobody knows what their next message is
	}
	return fate
}

// fill puts messages into a transaction, and returns how many each key has of them.
func (w *writer) fill(t *Transaction) (added map[string]int) {
	added = map[string]int{}
	add := func(key string) *postbag.Message {
		t.Messages = append(t.Messages, w.message(key, w.next[key]+added[key], t.Name))
		added[key]++
		return &t.Messages[len(t.Messages)-1]
	}
	switch w.rand.IntN(100) {
	case 0, 1: // a key with messages that the destination refuses
		if m := add(w.name + bad); w.rand.IntN(3) == 0 {
			if w.broker.Poison(m) {
				t.poison = map[postbag.ID]bool{m.ID: true}
			}
		}
	case 2, 3, 4, 5: // one for later, which is in no order with others
		add(fmt.Sprintf("%s-later%d-%d", w.name, w.job.Life, w.count)).NotBefore = time.Now().Add(time.Duration(1000+w.rand.IntN(3000)) * time.Millisecond)
	case 6:
		key := w.key()
		for range 100 {
			add(key)
		}
	default:
		for range 1 + w.rand.IntN(5) {
			add(w.key())
		}
	}
	return added
}

func (w *writer) key() string { return fmt.Sprintf("%s-k%d", w.name, w.rand.IntN(keysOfAWriter)) }

// bad ends the keys that have messages that the destination refuses.
const bad = "-bad"

func isBad(key string) bool { return strings.HasSuffix(key, bad) || strings.HasPrefix(key, stranger) }

func scheduled(t *Transaction) bool { return !t.Messages[0].NotBefore.IsZero() }

// body is a message's payload.
type body struct {
	ID    string `json:"id"`
	Topic string `json:"topic"`
	Key   string `json:"key"`
	N     int    `json:"n"`
	Tx    string `json:"tx"`
	Pad   string `json:"pad,omitempty"`
}

func (w *writer) message(key string, n int, tx string) postbag.Message {
	pad := ""
	if w.rand.IntN(20) == 0 {
		pad = fmt.Sprintf("%0*d", w.rand.IntN(4000), 0)
	}
	return newMessage(w.topic(key), key, n, tx, pad)
}

// newMessage makes one that the consumer recognizes.
func newMessage(topic, key string, n int, tx, pad string) postbag.Message {
	m := postbag.Message{ID: postbag.NewID(), Topic: topic, Key: key, Type: typeOf(key), Headers: map[string]string{"tx": tx}}
	m.Payload, _ = json.Marshal(body{ID: m.ID.String(), Topic: topic, Key: key, N: n, Tx: tx, Pad: pad}) //nolint:errchkjson // strings and a number
	return m
}

// delay is how late a commit comes: up to 30 ms, and 2 s in one of two hundred.
func (w *writer) delay() time.Duration {
	if w.rand.IntN(200) == 0 {
		return 2 * time.Second
	}
	return time.Duration(w.rand.IntN(30)) * time.Millisecond
}

// cancel takes a scheduled message back.
func (w *writer) cancel(ctx context.Context, t *Transaction, id postbag.ID) {
	c := history.Command{ID: history.ID(id), What: history.Cancel, Begin: w.events.clock.Now()}
	could := false
	fate := w.do(ctx, t, &id, func() (err error) {
		could, err = w.out.Cancel(ctx, t, id)
		return err
	})
	if c.Unknown = fate == history.Unknown; could && fate != history.RolledBack {
		c.End = w.events.clock.Now()
		w.events.Order(c)
	}
}

package faketime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

const (
	ttl   = 3 * time.Second
	grace = 5 * time.Second
	// window is how many messages of a subscription a fault may have sent again: calls run into their time-out more than once.
	window = 300
)

// world is one run.
type world struct {
	seed       uint64
	kind       Kind
	chance     *chance // of what is drawn at the beginning, and of the run's course
	boxes      []string
	lines      []*line
	store      *memstore.Store
	publishers []*postbag.Publisher[*memstore.Tx] // of the boxes
	keep       time.Duration
	single     bool // the store has one writer at a time

	storeChance *chance
	ends        sync.WaitGroup // of relays that are over, or drain

	mu       sync.Mutex
	relays   []*runner
	started  uint64
	begun    time.Time
	tick     time.Duration
	history  history.History
	rough    bool // calls to the store and to brokers may fail
	away     bool // the store answers no relay
	moves    bool // the next call of a relay finds another store
	calm     bool // a relay that is stopped has nothing that keeps it from giving its shards back
	unread   map[postbag.ID]bool
	failures []string
	replays  int
	replayed []*replayed
	counts   Counts
}

// newWorld draws a world.
func newWorld(o Options) *world {
	w := &world{
		seed: o.Seed, kind: o.Kind, chance: newChance(o.Seed, 1), storeChance: newChance(o.Seed, 2), begun: time.Now(),
		unread: map[postbag.ID]bool{},
	}
	c := w.chance
	w.single = c.one(4)
	w.store = memstore.New(memstore.Options{SingleWriter: w.single, Fault: w.storeFault})
	w.keep = time.Duration(c.of(1, 10, 3600)) * time.Second
	w.boxes = []string{"outbox", "second"}[:1+c.n(2)]
	for i := range 1 + c.n(3) {
		w.lines = append(w.lines, w.newLine(i))
	}
	w.boxes = slices.DeleteFunc(w.boxes, func(box string) bool {
		return !slices.ContainsFunc(w.lines, func(l *line) bool { return l.Box == box })
	})
	for _, box := range w.boxes {
		p, err := postbag.NewPublisher(w.store, postbag.PublisherOptions{Box: box})
		w.must("make a publisher", err)
		w.publishers = append(w.publishers, p)
	}
	return w
}

// open makes the boxes and the subscriptions.
func (w *world) open(ctx context.Context) {
	for _, box := range w.boxes {
		w.must("create a box", w.store.CreateBox(ctx, box))
	}
	for _, l := range w.lines { // before a relay that does not have them all lets the log go
		w.must("declare", w.store.Declare(ctx, []store.Spec{{Ref: l.Ref, Types: l.types, Shards: l.shards}}))
	}
}

// drawn says what the seed drew.
func (w *world) drawn() string {
	var b strings.Builder
	fmt.Fprintf(&b, "single writer %v, kept for %v", w.single, w.keep)
	for _, l := range w.lines {
		fmt.Fprintf(&b, "; %s", l)
	}
	return b.String()
}

// failf notes that a promise is broken.
func (w *world) failf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures = append(w.failures, fmt.Sprintf("after %v: ", time.Since(w.begun))+fmt.Sprintf(format, args...))
}

func (w *world) must(what string, err error) {
	if err != nil {
		w.failf("%s: %v", what, err)
	}
}

// instant is the time since the beginning, no two the same.
func (w *world) instant() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tick++
	return time.Since(w.begun) + w.tick
}

// holds says that no promise was broken so far.
func (w *world) holds() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.failures) == 0
}

// count changes the counts.
func (w *world) count(do func(*Counts)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do(&w.counts)
}

// excuse records a fault that may have messages sent again.
func (w *world) excuse(kind, target string) { w.excuseSince(w.instant(), kind, target) }

// excuseSince is excuse of a fault that lasted until now.
func (w *world) excuseSince(begin time.Duration, kind, target string) {
	w.history.Break(history.Fault{Kind: kind, Target: target, Begin: begin, End: w.instant(), Window: window})
}

// set changes what the world does to those in it.
func (w *world) set(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

func (w *world) isRough() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rough
}

func (w *world) isCalm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calm
}

var (
	errBroken = errors.New("the connection broke")
	errAway   = errors.New("the store is away")
)

// storeFault is what goes wrong with a call to the store.
func (w *world) storeFault(_ context.Context, op memstore.Op) memstore.Fault {
	w.mu.Lock()
	rough, away, moves := w.rough, w.away, w.moves
	w.mu.Unlock()
	c := w.storeChance
	switch op {
	case memstore.OpBeat, memstore.OpTurn, memstore.OpBlocked, memstore.OpDue, memstore.OpMaintain, memstore.OpCheck, memstore.OpDeclare:
	case memstore.OpCommit:
		if rough && c.one(50) {
			return memstore.Fault{Err: errBroken, Acted: c.coin()}
		}
		return memstore.Fault{}
	default:
		return memstore.Fault{}
	}
	switch {
	case away:
		return memstore.Fault{Err: errAway}
	case moves && op != memstore.OpDeclare:
		w.set(func() { w.moves = false })
		w.excuse("moved", "store")
		return memstore.Fault{Err: store.ErrMoved}
	case !rough || !c.one(60):
		return memstore.Fault{}
	}
	w.excuse("store", string(op))
	return memstore.Fault{Err: errBroken, Hang: c.one(4), Acted: c.coin()}
}

// spoil makes a row unreadable, if it is one that nobody has repaired.
func (w *world) spoil(r *store.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !r.Filtered && w.unread[r.ID] {
		r.Err, r.Payload = errors.New("the headers are no text"), nil
		for _, l := range w.lines {
			w.passes(l, r.ID)
		}
	}
}

// passes notes that a message was rejected, in words that its broker did not say. Newer ones of its key pass it from then on
// where they supersede. The caller holds w.mu.
func (w *world) passes(l *line, id postbag.ID) {
	if _, again := l.refusals[id]; !again && l.supersedes() {
		w.tick++
		w.history.Refuse(history.Refusal{ID: history.ID(id), Subscription: l.Subscription, At: time.Since(w.begun) + w.tick})
	}
	l.refused(id)
}

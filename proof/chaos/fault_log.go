package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// Anyone who has the rights can write rows that no reader takes apart, and can empty the log and have its numbering begin again. Of the
// former each must be seen dead, with the reason, until an operator discards it, and its neighbours must be delivered in their order.
// What was in a log that was emptied is gone by its owner's order, and excused if it does not arrive; what is written afterwards must
// be delivered, though positions speak of higher numbers.

// Damageable is implemented by a Database to whose log a stranger can do what no library would, over a way that is never broken.
type Damageable interface {
	// Plant adds messages to the log in one transaction: that of number bad so that no reader can take it apart whole, by whatever
	// way there is around what the box refuses.
	Plant(ctx context.Context, msgs []postbag.Message, bad int) error
	// Empty empties the log and has its numbering begin again, as its owner can in several ways, and returns the ids of all messages
	// that were there, and of those that are kept from it.
	Empty(ctx context.Context, r *rand.Rand) ([]postbag.ID, error)
}

// ErrGivenUp says that a stranger did nothing, because others had the log all the time.
var ErrGivenUp = errors.New("chaos: others had the log all the time; try again")

// damage is what strangers have done to the log.
type damage struct {
	// numbered is held by a goroutine that takes numbers for messages, against those that have the numbering begin again.
	numbered sync.RWMutex

	mu      sync.Mutex
	planted map[postbag.ID]*unread
	wrong   []string
	ends    bool // a newer message of its key may end a row that nobody can read before it is dead
}

// unread is a row that nobody can read.
type unread struct{ stands, seen, gone bool }

func (d *damage) plant(id postbag.ID) *unread {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.planted == nil {
		d.planted = map[postbag.ID]*unread{}
	}
	d.planted[id] = &unread{}
	return d.planted[id]
}

// shown looks at dead messages: those that nobody can read must be shown as such, with the reason.
func (d *damage) shown(items []store.Item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range items {
		it := &items[i]
		u := d.planted[it.ID]
		if u == nil || u.seen {
			continue
		}
		u.seen = true
		if it.Err == nil || !strings.Contains(it.Reason, it.Err.Error()) {
			d.wrong = append(d.wrong, fmt.Sprintf("a row that nobody can read is dead with the reason %q, and shown with the error %v", it.Reason, it.Err))
		}
	}
}

// arrived notes what must not have been sent.
func (d *damage) arrived(id history.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.planted[postbag.ID(id)] != nil {
		d.wrong = append(d.wrong, fmt.Sprintf("the row %v, which nobody can read, was sent", id))
	}
}

// emptied takes those that are gone.
func (d *damage) emptied(ids []postbag.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		if u := d.planted[id]; u != nil {
			u.gone = true
		}
	}
}

// found is all that is wrong with the rows that nobody can read.
func (d *damage) found() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := slices.Clone(d.wrong)
	for id, u := range maps.All(d.planted) {
		if u.stands && !u.seen && !u.gone && !d.ends {
			out = append(out, fmt.Sprintf("the row %v, which nobody can read, was never shown as dead", id))
		}
	}
	return out
}

func (r *run) judgeUnread() {
	r.damage.ends = r.supersedes()
	for _, text := range r.damage.found() {
		r.failf("%s", text)
	}
}

// logFaults are what strangers do to the log.
func (r *run) logFaults() []Fault {
	d, ok := r.database.(Damageable)
	if !ok {
		return nil
	}
	all := []Fault{{
		Name: "row that nobody can read", Room: Databases,
		Begin: func(ctx context.Context, s *Strike) (func(context.Context) error, error) {
			return nil, r.unreadable(ctx, s, d)
		},
	}}
	if exactlyOnce(r.Broker) {
		return all // what the lane's record in the broker says is of the log that was
	}
	return append(all, Fault{
		Name: "log emptied and numbered again", Room: Databases, Repeats: EveryRelay, Stops: true,
		Begin: func(ctx context.Context, s *Strike) (func(context.Context) error, error) {
			return nil, r.empty(ctx, s, d)
		},
	})
}

// stranger begins the keys of rows that strangers write.
const stranger = "stranger-"

// unreadable writes three messages of a key, the middle one so that nobody can read it.
func (r *run) unreadable(ctx context.Context, s *Strike, d Damageable) error {
	t := &Transaction{Name: fmt.Sprintf("%s%016x", stranger, s.Rand.Uint64())}
	for n := range 3 {
		t.Messages = append(t.Messages, newMessage(r.place.Topic(), t.Name, n, t.Name, ""))
	}
	bad := t.Messages[1].ID
	t.poison = map[postbag.ID]bool{bad: true}
	u, e := r.damage.plant(bad), r.operator.events
	begin := e.clock.Now()
	e.intend(t, begin)
	err := d.Plant(ctx, t.Messages, 1)
	fate := history.Committed
	switch {
	case errors.Is(err, ErrGivenUp):
		s.Idle("others had the log all the time")
		fate, err = history.RolledBack, nil
	case err != nil:
		fate = history.Unknown
	default:
		r.damage.mu.Lock()
		u.stands = true
		r.damage.mu.Unlock()
	}
	e.became(t, fate, begin)
	return err
}

// mostUnnoticed is how long it may take until a relay has noticed that a log was emptied, whatever else is broken meanwhile.
const mostUnnoticed = time.Minute

// empty empties the log and waits until that was noticed.
func (r *run) empty(ctx context.Context, s *Strike, d Damageable) error {
	r.damage.numbered.Lock()
	defer r.damage.numbered.Unlock()
	e, passed := r.operator.events, r.passed(ctx)
	begin := e.clock.Now()
	ids, err := d.Empty(ctx, s.Rand)
	if errors.Is(err, ErrGivenUp) {
		s.Idle("others had the log all the time")
		return nil
	}
	end, at := e.clock.Now(), time.Now()
	r.damage.emptied(ids)
	for _, id := range ids {
		e.Order(history.Command{ID: history.ID(id), What: history.Discard, Unknown: true, Begin: begin, End: end})
	}
	s.Note(count(len(ids), "message"))
	if err != nil {
		return err
	}
	if !passed {
		s.Note("of which none had been passed")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, mostUnnoticed)
	defer cancel()
	if !r.noticed(ctx, begin) {
		return fmt.Errorf("nobody noticed within %v", mostUnnoticed)
	}
	s.Note(fmt.Sprintf("noticed after %v", time.Since(at).Round(time.Millisecond)))
	return nil
}

// passed says whether a position speaks of the log: if none does there is nothing to notice. It says so, too, if the store does not
// answer.
func (r *run) passed(ctx context.Context) bool {
	passed := false
	err := r.operator.do(ctx, func(ctx context.Context, st orders) error {
		v, err := st.Overview(ctx)
		for _, b := range v.Boxes {
			for i := range b.Subscriptions {
				of := &b.Subscriptions[i]
				passed = passed || of.Ref == ref && slices.ContainsFunc(of.Shards, func(s store.ShardState) bool { return s.Position != "" })
			}
		}
		return err
	})
	return passed || err != nil
}

// lookedThrough says that notices of a box, no older than within, tell of a log that is read again. That the ledger differs, for which
// retention keeps messages, can come before the store has seen to the log.
func lookedThrough(notices []store.Notice, within time.Duration) bool {
	return slices.ContainsFunc(notices, func(n store.Notice) bool { return n.Ago < within && !strings.HasPrefix(n.What, "keep ") })
}

// noticed waits until the store says that it has seen to a log that was emptied after a time.
func (r *run) noticed(ctx context.Context, after time.Duration) (yes bool) {
	return Until(ctx, func() bool {
		_ = r.operator.do(ctx, func(ctx context.Context, st orders) error { // it is asked again
			v, err := st.Overview(ctx)
			asked := r.operator.events.clock.Now()
			for _, b := range v.Boxes {
				yes = yes || lookedThrough(b.Notices, asked-after)
			}
			return err
		})
		return yes
	}) == nil
}

package chaos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// orders is what a store does when an operator commands it.
type orders interface {
	store.Inspector
	store.Operator
	store.Editor
	store.Pauser
	store.Steward
	store.Retainer
	store.Replayer
	store.Tuner
}

var (
	ref   = store.Ref{Box: "outbox", Subscription: "default"}
	audit = store.Audit{Who: "chaos", Why: "the harness"}
)

// operator gives commands over a connection that no fault breaks, though its server may be away.
type operator struct {
	run    *run
	events *events

	mu    sync.Mutex
	store orders
	close func() error

	refused []span // in which the filter refused extra messages
	replays int
}

func startOperator(r *run) (*operator, error) {
	events, err := newEvents(filepath.Join(r.dir, "operator.events"), r.origin)
	if err != nil {
		return nil, err
	}
	return &operator{run: r, events: events}, nil
}

// storeAnswers is how long a store may take for an answer: a log with a large backlog takes its time on a busy machine.
const storeAnswers = 40 * time.Second

// do runs something on the store, which it opens if it is not.
func (o *operator) do(ctx context.Context, what func(context.Context, orders) error) error {
	ctx, cancel := context.WithTimeout(ctx, storeAnswers)
	defer cancel()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.store == nil {
		s, closeStore, err := o.run.Store.Open(ctx, o.run.database.DSN(Operators))
		if err != nil {
			return err
		}
		able, ok := s.(orders)
		if !ok {
			return errors.Join(errors.New("chaos: the store is not all of store.Inspector, Operator, Editor, Pauser, Steward, Retainer and Replayer; add what is missing"), closeStore())
		}
		o.store, o.close = able, closeStore
	}
	return what(ctx, o.store)
}

// eventually does it again until it works or ctx ends.
func (o *operator) eventually(ctx context.Context, what func(context.Context, orders) error) (err error) {
	for {
		if err = o.do(ctx, what); err == nil {
			return nil
		}
		if over := Pause(ctx, 50*time.Millisecond); over != nil {
			return err
		}
	}
}

// dead are the messages that need an operator.
func (o *operator) dead(ctx context.Context) (items []store.Item, err error) {
	err = o.eventually(ctx, func(ctx context.Context, s orders) (err error) {
		items, _, err = s.List(ctx, store.Query{Ref: ref, State: store.StateDead, Limit: 1000, Oldest: true})
		return err
	})
	o.run.damage.shown(items)
	return items, err
}

// command gives a command for messages, and records it.
func (o *operator) command(ctx context.Context, kind store.CommandKind, items []store.Item) error {
	seqs := make([]int64, len(items))
	for i := range items {
		seqs[i] = items[i].Seq
	}
	begin := o.events.clock.Now()
	err := o.eventually(ctx, func(ctx context.Context, s orders) error {
		_, err := s.Command(ctx, audit, ref, kind, seqs)
		return err
	})
	what := history.Retry
	if kind == store.Discard {
		what = history.Discard
	}
	for i := range items {
		o.events.Order(history.Command{ID: history.ID(items[i].ID), What: what, Unknown: err != nil, Begin: begin, End: o.events.clock.Now()})
	}
	return err
}

// awaitDrained waits until nothing is left to deliver, as long as it becomes less. It discards what the destination refuses for good.
func (o *operator) awaitDrained(ctx context.Context) error {
	var least int64
	for until := time.Now().Add(patience); ; {
		waiting, parked, err := o.left(ctx, until)
		if err != nil {
			return fmt.Errorf("chaos: the store does not say what is left: %w", err)
		}
		all := waiting
		for _, n := range parked {
			all += n
		}
		switch {
		case all == 0:
			return nil
		case least == 0 || all < least:
			least, until = all, time.Now().Add(patience)
		case time.Now().After(until):
			return fmt.Errorf("chaos: for %v without faults it did not become less: %d messages still wait, and are parked: %v", patience, waiting, parked)
		}
		if parked[store.ParkDead] > 0 {
			items, err := o.dead(ctx)
			if err == nil {
				err = o.command(ctx, store.Discard, items)
			}
			if err != nil {
				return err
			}
		}
		if err := Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// left is what is still to be delivered.
func (o *operator) left(ctx context.Context, until time.Time) (waiting int64, parked map[store.ParkState]int64, err error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	err = o.eventually(ctx, func(ctx context.Context, s orders) error {
		v, err := s.Overview(ctx)
		waiting, parked = backlog(&v)
		return err
	})
	return waiting, parked, err
}

// operatorFaults are commands that come while all else goes on.
func (r *run) operatorFaults() []Fault {
	order := func(name string, do func(context.Context, *Strike) error) Fault {
		return Fault{
			Name: name, Room: OperatorOrders,
			Begin: func(ctx context.Context, s *Strike) (func(context.Context) error, error) { return nil, do(ctx, s) },
		}
	}
	some := func(kind store.CommandKind) func(context.Context, *Strike) error {
		return func(ctx context.Context, s *Strike) error {
			r.damage.numbered.RLock() // commands name messages by their numbers
			defer r.damage.numbered.RUnlock()
			items, err := r.operator.dead(ctx)
			if err != nil || len(items) == 0 {
				s.Idle("none is dead")
				return err
			}
			items = items[:1+s.Rand.IntN(len(items))]
			s.Note(count(len(items), "message"))
			return r.operator.command(ctx, kind, items)
		}
	}
	return append(r.policyFaults(), []Fault{
		order("retry of dead messages", some(store.Retry)),
		order("discard of dead messages", some(store.Discard)),
		order("shards set", func(ctx context.Context, s *Strike) error {
			n := 1 + s.Rand.IntN(8)
			s.Note(fmt.Sprintf("to %d", n))
			return r.operator.eventually(ctx, func(ctx context.Context, st orders) error { return st.SetShards(ctx, audit, ref, n) })
		}),
		{
			Name: "pause of the subscription", Room: OperatorOrders, Most: 3 * time.Second,
			Begin: func(ctx context.Context, _ *Strike) (func(context.Context) error, error) {
				resume := func(ctx context.Context) error { return r.operator.pause(ctx, false) }
				return resume, r.operator.pause(ctx, true)
			},
		},
		order("pause of a key, with an end", func(ctx context.Context, s *Strike) error {
			items, err := r.operator.dead(ctx)
			if err != nil || len(items) == 0 || items[0].Key == "" {
				s.Idle("no message with a key is dead")
				return err
			}
			p := store.Pause{Ref: ref, Scope: store.PauseKey, Value: items[0].Key}
			long := time.Duration(1+s.Rand.IntN(5000)) * time.Millisecond
			s.Note("for " + long.String())
			return r.operator.eventually(ctx, func(ctx context.Context, st orders) error { return st.SetPause(ctx, audit, p, long) })
		}),
	}...)
}

// pause holds the subscription, or lets it go on.
func (o *operator) pause(ctx context.Context, on bool) error {
	return o.eventually(ctx, func(ctx context.Context, st orders) error { return st.SetPaused(ctx, audit, ref, on) })
}

func (o *operator) stop() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.events.Close()
	if o.close != nil {
		err = errors.Join(err, o.close())
	}
	return err
}

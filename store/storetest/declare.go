package storetest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// declareCases are about subscriptions coming to be.
func declareCases() []scenario {
	return []scenario{
		{name: "Declared by many at a time, a subscription is made once", run: declareAtOnce},
		{name: "Declared again, a subscription keeps its position, shards and owner", run: declareAgain},
		{name: "Another filter is ErrFilterDiffers, and the rest is declared", run: filterDiffers},
		{name: "A missing box is ErrNoBox", run: declareNoBox},
		{name: "From the first: all that the box holds", run: fromFirst},
		{name: "From now: only what commits after the declaration", run: fromNow},
		{name: "From now: what was open at the declaration comes", needs: concurrentWriters, run: fromNowOpen},
		{name: "From a time: what was stored since, and little more", run: fromTime},
	}
}

// declareFirst declares a subscription of one shard.
func (e *env) declareFirst(r store.Ref) {
	e.Helper()
	e.declare(store.Spec{Ref: r, Shards: 1})
}

func declareAtOnce(e *env) {
	e.check(e.Create(e.ctx, box), "create the box")
	other := e.other()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := e.Store
			if i%2 == 0 {
				s = other
			}
			specs := []store.Spec{{Ref: ref, Shards: 6}, {Ref: store.Ref{Box: box, Subscription: "other"}, Shards: 3}}
			if i%3 == 0 {
				slices.Reverse(specs)
			}
			if err := s.Declare(e.ctx, specs); err != nil {
				e.Errorf("declare: %v", err)
			}
		})
	}
	all.Wait()
	var ranges []store.Slots
	for _, sh := range e.look(ref).Shards {
		ranges = append(ranges, sh.Slots)
	}
	if !slices.Equal(ranges, store.Split(6)) {
		e.Errorf("the shards are %v, not %v", ranges, store.Split(6))
	}
}

func declareAgain(e *env) {
	e.open(3)
	r := e.relay("r")
	leases := r.take(ref)
	c := e.pager()
	c.expect(e.publish(e.messages(5, "a", "b")...)...)
	for i := range leases {
		e.settle(&leases[i], store.Settlement{To: c.req.From})
	}
	before := e.look(ref)
	e.declare(store.Spec{Ref: ref, Shards: 7, From: store.Start{Now: true}})
	e.declare(store.Spec{Ref: ref})
	after := e.look(ref)
	if !slices.Equal(before.Shards, after.Shards) || after.Wanted != before.Wanted {
		e.Errorf("declared again, the shards went from %v to %v", before.Shards, after.Shards)
	}
}

func filterDiffers(e *env) {
	e.check(e.Create(e.ctx, box), "create the box")
	e.declare(store.Spec{Ref: ref, Types: []string{"a", "b.*"}})
	e.declare(store.Spec{Ref: ref, Types: []string{"a", "b.*"}})
	before := store.Ref{Box: box, Subscription: "before"}
	after := store.Ref{Box: box, Subscription: "later"}
	for i, types := range [][]string{{"a"}, {"a", "b.*", "c"}, nil} {
		err := e.Store.Declare(e.ctx, []store.Spec{{Ref: before}, {Ref: ref, Types: types}, {Ref: after}})
		if !errors.Is(err, store.ErrFilterDiffers) {
			e.Errorf("declared with filter %d: %v, not ErrFilterDiffers", i, err)
		}
		if err != nil && !strings.Contains(err.Error(), `"b.*"`) {
			e.Errorf("declared with filter %d: the error does not say the filter that the subscription has: %v", i, err)
		}
	}
	if len(e.look(before).Shards) == 0 || len(e.look(after).Shards) == 0 {
		e.Error("beside one whose filter differs, others were not declared")
	}
	m := e.message("k")
	m.Type = "c"
	e.publish(m)
	if got := e.pager().all(); len(got) != 1 || !got[0].Filtered {
		e.Error("the filter was changed by a declaration")
	}
}

func declareNoBox(e *env) {
	err := e.Store.Declare(e.ctx, []store.Spec{{Ref: store.Ref{Box: "nowhere", Subscription: "default"}}})
	if !errors.Is(err, store.ErrNoBox) {
		e.Errorf("declared for a missing box: %v, not ErrNoBox", err)
	}
}

func fromFirst(e *env) {
	e.open(1)
	msgs := e.publish(e.messages(20, "a", "")...)
	late := store.Ref{Box: box, Subscription: "late"}
	e.declareFirst(late)
	e.pager().of(late).from(e.positions(late)[0]).expect(msgs...)
}

func fromNow(e *env) {
	e.open(1)
	e.publish(e.messages(20, "a", "")...)
	late := store.Ref{Box: box, Subscription: "late"}
	e.declare(store.Spec{Ref: late, From: store.Start{Now: true}, Shards: 2})
	msgs := e.publish(e.messages(5, "a", "")...)
	for _, p := range e.positions(late) {
		e.pager().of(late).from(p).expect(msgs...)
	}
}

func fromNowOpen(e *env) {
	e.open(1)
	tx := e.begin()
	msgs := e.append(tx, e.messages(3, "open")...)
	e.publish(e.messages(20, "a", "")...)
	late := store.Ref{Box: box, Subscription: "late"}
	e.declare(store.Spec{Ref: late, From: store.Start{Now: true}, Shards: 1})
	e.commit(tx)
	msgs = append(msgs, e.publish(e.messages(3, "open")...)...)
	e.pager().of(late).from(e.positions(late)[0]).expect(msgs...)
}

func fromTime(e *env) {
	e.open(1)
	var old []postbag.Message
	for range 40 {
		old = append(old, e.publish(e.messages(50, "a", "")...)...)
	}
	e.pass(20 * time.Millisecond)
	since := e.now()
	e.pass(20 * time.Millisecond)
	msgs := e.publish(e.messages(10, "a", "")...)
	late := store.Ref{Box: box, Subscription: "late"}
	e.declare(store.Spec{Ref: late, From: store.Start{At: since}, Shards: 1})
	msgs = append(msgs, e.publish(e.messages(10, "a", "")...)...)
	c := e.pager().of(late).from(e.positions(late)[0])
	c.await(len(msgs))
	came := map[postbag.ID]bool{}
	for _, r := range c.got {
		came[r.ID] = true
	}
	for _, m := range msgs {
		if !came[m.ID] {
			e.Fatalf("a message that was stored after the time did not come")
		}
	}
	if more := len(c.got) - len(msgs); more > len(old)/2 {
		e.Errorf("%d of %d older messages came; a little more may, not most", more, len(old))
	}
}

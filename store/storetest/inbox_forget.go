package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/store"
)

// forgetCases are about marks whose time is over.
func forgetCases() []scenario {
	return []scenario{
		{name: "Forget removes marks whose time is over, and no others", run: forgetOld},
		{name: "Marks of a consumer that was not declared are kept for the default time", run: forgetDefault},
		{name: "A consumer's marks are kept for as long as was declared last", run: forgetDeclared},
		{name: "A declared keep is that consumer's alone, and names are compared as bytes", run: forgetNames},
		{name: "Consumers are listed by name, as they were declared last", run: forgetConsumers},
		{name: "A consumer declared by many at a time is declared once", run: forgetDeclaredAtOnce},
		{name: "A mark that was forgotten is fresh again, with other bytes too", run: forgetFresh},
		{name: "Many marks take calls of Forget until one is done, and the next begins again", run: forgetMany},
		{name: "Of calls of Forget at a time one works, and the others are busy", run: forgetBusy},
		{name: "Forget does not wait for an open transaction, and leaves its marks alone", run: forgetOpen},
		{name: "Consumers mark while Forget works", run: forgetWhileMarking},
	}
}

const (
	hour = time.Hour
	day  = 24 * time.Hour
)

// needForgetter skips the case where there is none.
func (e *env) needForgetter() {
	e.Helper()
	e.needInbox()
	switch {
	case e.Forgetter == nil:
		e.Skip("the store forgets no marks")
	case e.Age == nil:
		e.Fatal("the store is a store.Forgetter, and the harness has no Age; give it a function that makes marks older")
	}
}

// age makes marks older.
func (e *env) age(consumer string, by time.Duration) {
	e.Helper()
	e.check(e.Age(e.ctx, consumer, by), "make marks older")
}

// keep declares a consumer.
func (e *env) keep(consumer string, keep time.Duration) {
	e.Helper()
	e.check(e.Forgetter.DeclareConsumer(e.ctx, consumer, keep), "declare a consumer")
}

// forget calls Forget until it is done.
func (e *env) forget() store.Forgotten {
	e.Helper()
	return e.forgetBeside(false)
}

// forgetBeside calls Forget until it is done, while others write or not: a database with one writer may be busy then.
func (e *env) forgetBeside(others bool) (sum store.Forgotten) {
	e.Helper()
	e.eventually("Forget is done", func() bool {
		f, err := e.Forgetter.Forget(e.ctx)
		e.check(err, "forget")
		if f.Busy && !others {
			e.Fatal("Forget is busy, and nobody else is at it")
		}
		sum.Looked += f.Looked
		sum.Removed += f.Removed
		sum.Done = f.Done
		return f.Done
	})
	if sum.Removed > sum.Looked {
		e.Errorf("Forget removed %d marks and looked at %d", sum.Removed, sum.Looked)
	}
	return sum
}

// forgets asserts how many marks are removed by a walk.
func (e *env) forgets(want int64, what string) {
	e.Helper()
	if got := e.forget(); got.Removed != want {
		e.Errorf("%s: %d marks were removed, want %d", what, got.Removed, want)
	}
}

// commitFor marks ids of a consumer in a transaction of their own, and commits.
func (e *env) commitFor(name string, want bool, ids ...store.MessageID) {
	e.Helper()
	tx := e.begin()
	fresh := e.mark(tx, name, marksOf(ids...)...)
	for i, id := range ids {
		if fresh[i] != want {
			e.Errorf("id %.20q of consumer %q is fresh: %v, want %v", id, name, fresh[i], want)
		}
	}
	e.commit(tx)
}

func forgetOld(e *env) {
	e.needForgetter()
	e.forgets(0, "an empty inbox")
	e.keep(consumer, 10*hour)
	e.commitMarks(true, "old", "older")
	e.forgets(0, "new marks")
	e.age(consumer, 6*hour)
	e.forgets(0, "marks of six hours, kept for ten")
	e.commitMarks(true, "young")
	e.age(consumer, 5*hour)
	e.forgets(2, "two marks of eleven hours, one of five, kept for ten")
	tx := e.begin()
	e.marked(tx, false, "young")
	e.marked(tx, true, "old", "older")
	e.rollback(tx)
}

func forgetDefault(e *env) {
	e.needForgetter()
	e.commitMarks(true, "a", "b")
	e.age(consumer, store.DefaultKeep-hour)
	e.forgets(0, "marks an hour younger than the default keep")
	e.age(consumer, 2*hour)
	e.forgets(2, "marks an hour older than the default keep")
}

func forgetDeclared(e *env) {
	e.needForgetter()
	e.keep(consumer, time.Minute)
	e.keep(consumer, 100*day)
	e.commitMarks(true, "a")
	e.age(consumer, 99*day)
	e.forgets(0, "a mark of 99 days, kept for 100")
	e.age(consumer, 2*day)
	e.keep(consumer, 200*day)
	e.forgets(0, "a mark of 101 days, kept for 200 since just now")
	e.keep(consumer, time.Minute)
	e.forgets(1, "a mark of 101 days, kept for a minute since just now")
}

func forgetNames(e *env) {
	e.needForgetter()
	names := []string{"billing", "Billing", "billing ", "bílling", "bi\u0301lling"}
	e.keep("billing", 2*hour)
	e.keep("bílling", 400*day)
	for _, name := range names {
		e.commitFor(name, true, "a")
	}
	for _, name := range names {
		e.age(name, 3*hour)
	}
	e.forgets(1, "marks of five consumers of at least three hours, one of which keeps two hours")
	e.commitFor("billing", true, "a")
	for _, name := range names[1:] {
		e.commitFor(name, false, "a")
	}
}

func forgetConsumers(e *env) {
	e.needForgetter()
	list := func(want ...store.Consumer) {
		e.Helper()
		got, err := e.Forgetter.Consumers(e.ctx)
		e.check(err, "list the consumers")
		if !slices.Equal(got, want) {
			e.Errorf("the consumers are %v, want %v", got, want)
		}
	}
	list()
	long := strings.Repeat("z", store.MaxConsumer)
	for _, c := range []store.Consumer{{Name: "b", Keep: hour}, {Name: long, Keep: 3 * day}, {Name: "a", Keep: 1000 * day}, {Name: "A", Keep: time.Minute}, {Name: "b", Keep: 2 * hour}} {
		e.keep(c.Name, c.Keep)
	}
	e.commitFor("not declared", true, "a")
	list(store.Consumer{Name: "A", Keep: time.Minute}, store.Consumer{Name: "a", Keep: 1000 * day}, store.Consumer{Name: "b", Keep: 2 * hour}, store.Consumer{Name: long, Keep: 3 * day})
}

func forgetDeclaredAtOnce(e *env) {
	e.needForgetter()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := e.Forgetter.DeclareConsumer(e.ctx, consumer, 5*hour); err != nil {
				e.Errorf("declare a consumer: %v", err)
			}
		})
	}
	all.Wait()
	got, err := e.Forgetter.Consumers(e.ctx)
	e.check(err, "list the consumers")
	if want := []store.Consumer{{Name: consumer, Keep: 5 * hour}}; !slices.Equal(got, want) {
		e.Errorf("the consumers are %v, want %v", got, want)
	}
}

func forgetFresh(e *env) {
	e.needForgetter()
	e.keep(consumer, hour)
	tx := e.begin()
	e.mark(tx, consumer, store.Mark{ID: "a", Sum: sumOf(1)})
	e.commit(tx)
	e.age(consumer, 2*hour)
	e.forgets(1, "a mark of two hours, kept for one")
	tx = e.begin()
	if fresh := e.mark(tx, consumer, store.Mark{ID: "a", Sum: sumOf(2)}); !fresh[0] {
		e.Error("a mark that was forgotten is not fresh")
	}
	e.commit(tx)
	e.forgets(0, "the new mark of an id that was forgotten")
	e.commitMarks(false, "a")
}

func forgetMany(e *env) {
	e.needForgetter()
	const old, young = 12_000, 3_000
	e.keep(consumer, hour)
	e.keep("shipping", 100*day)
	e.commitFor("shipping", true, numbered("s", young)...)
	for ids := range slices.Chunk(numbered("m", old), store.MaxMarks) {
		e.commitMarks(true, ids...)
	}
	e.age(consumer, 2*hour)
	e.commitMarks(true, numbered("young", young)...)
	got := e.forget()
	if got.Removed != old {
		e.Errorf("of %d old marks among %d %d were removed", old, old+2*young, got.Removed)
	}
	if got.Looked < old+2*young {
		e.Errorf("Forget was done after it looked at %d of %d marks", got.Looked, old+2*young)
	}
	e.age(consumer, 2*hour)
	e.forgets(young, "after a walk was done, marks that have become old")
	e.commitFor("shipping", false, numbered("s", young)...)
}

func forgetBusy(e *env) {
	e.needForgetter()
	e.keep(consumer, hour)
	const many = 10_000
	e.commitMarks(true, numbered("m", many)...)
	e.age(consumer, 2*hour)
	var busy atomic.Bool
	var removed atomic.Int64
	e.eventually("one of four calls of Forget is busy", func() bool {
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range 4 {
			all.Go(func() {
				<-begin
				f, err := e.Forgetter.Forget(e.ctx)
				removed.Add(f.Removed)
				switch {
				case err != nil:
					e.Errorf("forget at a time: %v", err)
				case f.Busy && (f.Done || f.Looked > 0 || f.Removed > 0):
					e.Errorf("a call of Forget is busy and did something: %+v", f)
				case f.Busy:
					busy.Store(true)
				}
			})
		}
		close(begin)
		all.Wait()
		return busy.Load()
	})
	if n := removed.Load() + e.forget().Removed; n != many {
		e.Errorf("several calls of Forget say that they removed %d of %d marks", n, many)
	}
	e.commitMarks(true, numbered("m", many)...)
}

func forgetOpen(e *env) {
	e.needForgetter()
	e.keep(consumer, hour)
	e.commitMarks(true, numbered("old", 100)...)
	e.commitMarks(true, "held")
	e.age(consumer, 2*hour)
	tx := e.begin()
	e.marked(tx, false, "held")
	e.marked(tx, true, "open")
	if !e.features.ConcurrentWriters {
		begun := time.Now()
		if _, err := e.Forgetter.Forget(e.ctx); err != nil {
			e.Errorf("forget while a transaction is open: %v", err)
		}
		if took := time.Since(begun); took > min(e.patience, 4*time.Second) {
			e.Errorf("Forget took %s while a transaction was open", took)
		}
	} else if n := e.forget().Removed; n < 100 || n > 101 {
		e.Errorf("while a transaction was open that marked one of 101 old marks, %d were removed", n)
	}
	e.commit(tx)
	e.commitMarks(false, "open")
	e.forget()
	e.commitMarks(true, "held")
	e.commitMarks(true, numbered("old", 100)...)
	e.commitMarks(false, "open")
}

func forgetWhileMarking(e *env) {
	e.needForgetter()
	e.keep(consumer, hour)
	e.commitMarks(true, numbered("m", store.MaxMarks)...)
	e.age(consumer, 2*hour)
	done := &applied{times: map[store.MessageID]int{}}
	var over atomic.Bool
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for i := 0; i < e.rounds || !over.Load(); i++ {
				begun := time.Now()
				if err := e.apply([]store.MessageID{store.MessageID(fmt.Sprintf("new-%d", i)), "new"}, true, done); err != nil {
					e.Errorf("consumer %d: %v", n, err)
					return
				}
				if took := time.Since(begun); took > e.patience {
					e.Errorf("a mark took %s while Forget worked", took)
				}
			}
		})
	}
	got := func() store.Forgotten {
		defer all.Wait() // also if Forget fails the case
		return e.forgetOf(&over)
	}()
	if got.Removed != store.MaxMarks {
		e.Errorf("of %d old marks, %d were removed while consumers marked", store.MaxMarks, got.Removed)
	}
	for id, n := range done.times {
		if n != 1 {
			e.Errorf("id %q was committed as fresh %d times", id, n)
		}
	}
}

// forgetOf calls Forget until it is done, and then says that it is over.
func (e *env) forgetOf(over *atomic.Bool) store.Forgotten {
	defer over.Store(true)
	return e.forgetBeside(true)
}

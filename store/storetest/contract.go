package storetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// contractCases hold the store to what its Check says.
func contractCases() []scenario {
	return []scenario{
		{name: "Check reports the features that the harness declares", run: checkReports},
		{name: "The harness has what the features ask for, and no more", run: harnessFits},
		{name: "Without concurrent writers a second transaction waits for the first", needs: singleWriter, run: oneWriter},
		{name: "With concurrent writers two transactions write at a time", needs: concurrentWriters, run: twoWriters},
		{name: "A new subscription has as many shards as the store's grouping says", run: defaultShards},
		{name: "Without partitions Maintain adds none, with them it makes room", run: partitions},
		{name: "The schema is made once, however often it is migrated", run: migrateAgain},
		{name: "A box is created once, however often", run: createAgain},
		{name: "An appender takes an empty topic for the name of the box", run: emptyTopic},
		{name: "A plain insert of an empty topic is refused", run: plainEmptyTopic},
	}
}

func checkReports(e *env) {
	info, err := e.Store.Check(e.ctx)
	e.check(err, "check")
	if info.Features != e.features {
		e.Errorf("Check reports %+v, the harness declares %+v", info.Features, e.features)
	}
	if info.System == "" || info.Identity == "" || info.Schema < 1 || info.MaxMessage < 1<<20 {
		e.Errorf("Check reports system %q, identity %q, schema %d, largest message %d; each must be said",
			info.System, info.Identity, info.Schema, info.MaxMessage)
	}
	again, err := e.other().Check(e.ctx)
	e.check(err, "check again")
	if again.Identity != info.Identity {
		e.Errorf("one database has the identities %q and %q", info.Identity, again.Identity)
	}
}

func harnessFits(e *env) {
	_, editor := e.Store.(store.Editor)
	agree := func(feature string, declared, there bool) {
		if declared != there {
			e.Errorf("feature %s is declared %v, and the harness can do it: %v", feature, declared, there)
		}
	}
	agree("Savepoints", e.features.Savepoints, e.Savepoint != nil && e.RollbackTo != nil)
	agree("Prepared", e.features.Prepared, e.Prepare != nil && e.CommitPrepared != nil && e.RollbackPrepared != nil)
	agree("Editing", e.features.Editing, editor)
	agree("ConcurrentWriters", e.features.ConcurrentWriters, e.Stranger != nil)
}

// writeSoon tries to write a message in a transaction of its own, and gives up
// when ctx ends.
func (e *env) writeSoon(ctx context.Context) error {
	tx, err := e.Begin(ctx)
	if err != nil {
		return err
	}
	if err := e.Appender.Append(ctx, tx, box, e.messages(1)); err != nil {
		return errors.Join(err, e.Rollback(e.ctx, tx))
	}
	return e.Commit(ctx, tx)
}

func oneWriter(e *env) {
	e.open(1)
	tx := e.begin()
	first := e.append(tx, e.message("k"))
	ctx, cancel := context.WithTimeout(e.ctx, 300*time.Millisecond)
	defer cancel()
	if err := e.writeSoon(ctx); err == nil {
		e.Fatal("a second transaction wrote while the first was open; declare ConcurrentWriters")
	}
	e.commit(tx)
	second := e.publish(e.message("k"))
	e.pager().expect(first[0], second[0])
}

func twoWriters(e *env) {
	e.open(1)
	a, b := e.begin(), e.begin()
	first := e.append(a, e.message("a"))
	second := e.append(b, e.message("b"))
	e.commit(b)
	c := e.pager()
	c.expect(second...)
	e.commit(a)
	c.expect(first...)
}

func defaultShards(e *env) {
	e.open(0)
	want := 4
	if e.features.OneGroup {
		want = 1
	}
	st := e.look(ref)
	if len(st.Shards) != want || st.Wanted != want {
		e.Errorf("declared with no number, a subscription has %d shards and wants %d, not %d", len(st.Shards), st.Wanted, want)
	}
}

func partitions(e *env) {
	e.open(1)
	r, lease := e.maintainer("upkeep")
	added := int64(0)
	e.eventually("Maintain has nothing more to do", func() bool {
		rep, err := r.s.Maintain(e.ctx, store.Retention{Lease: lease, Keep: time.Hour, Headroom: 1 << 30})
		e.check(err, "maintain")
		added += rep.Added
		if rep.Dropped > 0 {
			e.Errorf("Maintain dropped %d partitions of an empty log", rep.Dropped)
		}
		return !rep.More
	})
	if e.features.Partitions != (added > 0) {
		e.Errorf("feature Partitions is %v, and room for 2^30 messages took %d new partitions", e.features.Partitions, added)
	}
}

func migrateAgain(e *env) {
	m, ok := e.Store.(store.Migrator)
	if !ok {
		e.Skip("the store does not make its own schema")
	}
	e.open(1)
	msgs := e.publish(e.messages(3, "k")...)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if steps, err := m.Migrate(e.ctx); err != nil || len(steps) > 0 {
				e.Errorf("migrate again: steps %q, error %v; want neither", steps, err)
			}
		})
	}
	all.Wait()
	version, steps, err := m.Pending(e.ctx)
	e.check(err, "pending")
	info, err := e.Store.Check(e.ctx)
	e.check(err, "check")
	if len(steps) > 0 || version != info.Schema {
		e.Errorf("after migrating, %d steps are pending and the version is %d; Check says %d", len(steps), version, info.Schema)
	}
	e.pager().expect(msgs...)
}

func createAgain(e *env) {
	e.open(1)
	msgs := e.publish(e.messages(3, "k")...)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := e.Create(e.ctx, box); err != nil {
				e.Errorf("create the box again: %v", err)
			}
		})
	}
	all.Wait()
	e.pager().expect(msgs...)
}

// emptyTopic appends without the publisher, which fills topics in.
func emptyTopic(e *env) {
	e.open(1)
	msgs := e.messages(4, "k")
	for i := range msgs {
		msgs[i].Topic = ""
	}
	tx := e.begin()
	e.check(e.Appender.Append(e.ctx, tx, box, msgs[:1]), "append one without a topic")
	e.check(e.Appender.Append(e.ctx, tx, box, msgs[1:]), "append several without topics")
	e.commit(tx)
	for i := range msgs {
		msgs[i].Topic = box
	}
	e.pager().expect(msgs...)
}

func plainEmptyTopic(e *env) {
	if e.Plain == nil {
		e.Skip("programs without the library cannot write to this store")
	}
	e.open(1)
	tx := e.begin()
	if err := e.Plain(e.ctx, tx, box, ""); err == nil {
		e.Error("a plain insert of an empty topic is taken")
	}
	e.rollback(tx)
	tx = e.begin()
	e.check(e.Plain(e.ctx, tx, box, "t"), "insert a message")
	e.commit(tx)
	c := e.pager()
	if c.await(1); len(c.got) != 1 || c.got[0].Topic != "t" {
		e.Errorf("%d messages come, want the one with a topic", len(c.got))
	}
}

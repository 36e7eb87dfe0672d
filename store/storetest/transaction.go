package storetest

import (
	"github.com/postbag/postbag"
)

// transactionCases are about what of a transaction is read, and when.
func transactionCases() []scenario {
	return []scenario{
		{name: "A transaction's messages come together, in its order", run: together},
		{name: "Nothing of an open transaction is read", run: openUnread},
		{name: "Nothing of a transaction that was rolled back is read", run: rolledBack},
		{name: "Nothing that a savepoint rolled back is read", needs: savepoints, run: savepointUndone},
		{name: "A prepared transaction is read after its commit, and others before", needs: prepared, run: preparedCommit},
		{name: "Nothing of a prepared transaction that was rolled back is read", needs: prepared, run: preparedRollback},
		{name: "A large transaction comes whole", run: large},
		{name: "A large transaction that is committed late comes whole", needs: concurrentWriters, run: largeLate},
		{name: "Several appends of one transaction, to two boxes, come in order", run: twoBoxes},
	}
}

func together(e *env) {
	e.open(1)
	c := e.pager()
	for range 5 {
		c.expect(e.publish(e.messages(10, "a", "b")...)...)
	}
}

func openUnread(e *env) {
	e.open(1)
	tx := e.begin()
	msgs := e.append(tx, e.messages(3, "k")...)
	c := e.pager()
	if got := c.all(); len(got) > 0 {
		e.Errorf("%d messages of an open transaction were read", len(got))
	}
	e.commit(tx)
	c.expect(msgs...)
}

func rolledBack(e *env) {
	e.open(1)
	c := e.pager()
	for range 3 {
		tx := e.begin()
		e.append(tx, e.messages(3, "k")...)
		c.all()
		e.rollback(tx)
		c.expect(e.publish(e.message("k"))...)
	}
}

func savepointUndone(e *env) {
	e.open(1)
	tx := e.begin()
	kept := e.append(tx, e.message("k"))
	e.check(e.Savepoint(e.ctx, tx, "outer"), "savepoint")
	e.append(tx, e.message("k"))
	e.check(e.Savepoint(e.ctx, tx, "inner"), "savepoint")
	e.append(tx, e.messages(2, "k")...)
	e.check(e.RollbackTo(e.ctx, tx, "inner"), "roll back to the savepoint")
	e.append(tx, e.message("k"))
	e.check(e.RollbackTo(e.ctx, tx, "outer"), "roll back to the savepoint")
	kept = append(kept, e.append(tx, e.message("k"))...)
	c := e.pager()
	c.all()
	e.commit(tx)
	c.expect(kept...)
}

func preparedCommit(e *env) {
	e.open(1)
	tx := e.begin()
	late := e.append(tx, e.messages(2, "late")...)
	e.check(e.Prepare(e.ctx, tx, "one"), "prepare")
	c := e.pager()
	c.expect(e.publish(e.messages(3, "k")...)...)
	c.expect(e.publish(e.messages(3, "k")...)...)
	e.check(e.CommitPrepared(e.ctx, "one"), "commit the prepared transaction")
	c.expect(late...)
	c.expect(e.publish(e.messages(3, "late")...)...)
}

func preparedRollback(e *env) {
	e.open(1)
	tx := e.begin()
	e.append(tx, e.messages(2, "k")...)
	e.check(e.Prepare(e.ctx, tx, "two"), "prepare")
	c := e.pager()
	c.expect(e.publish(e.messages(3, "k")...)...)
	e.check(e.RollbackPrepared(e.ctx, "two"), "roll back the prepared transaction")
	c.expect(e.publish(e.messages(3, "k")...)...)
}

func large(e *env) {
	e.open(4)
	msgs := e.publish(e.messages(e.largeRows, "a", "b", "c", "")...)
	c := e.pager()
	c.expect(msgs...)
	c.expect(e.publish(e.message("a"))...)
}

func largeLate(e *env) {
	e.open(1)
	tx := e.begin()
	var late []postbag.Message
	for range 4 {
		late = append(late, e.append(tx, e.messages(e.largeRows/8, "late", "")...)...)
	}
	c := e.pager().limit(500)
	for range 3 {
		c.expect(e.publish(e.messages(100, "k")...)...)
	}
	e.commit(tx)
	c.expect(late...)
}

func twoBoxes(e *env) {
	e.open(1)
	e.check(e.Create(e.ctx, "inbox"), "create another box")
	second := ref
	second.Box = "inbox"
	e.declareFirst(second)
	tx := e.begin()
	var here, there []postbag.Message
	for range 5 {
		here = append(here, e.append(tx, e.messages(2, "k")...)...)
		m := e.message("k")
		e.check(e.Appender.Append(e.ctx, tx, "inbox", []postbag.Message{m}), "append to another box")
		there = append(there, m)
	}
	e.commit(tx)
	e.pager().expect(here...)
	e.pager().of(second).expect(there...)
}

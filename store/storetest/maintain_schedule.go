package storetest

import (
	"context"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// scheduleCases are about messages that wait for their time.
func scheduleCases() []scenario {
	return []scenario{
		{name: "A scheduled message comes when it is due, and not before", run: scheduledDue},
		{name: "A message scheduled in the past comes at once", run: scheduledPast},
		{name: "A cancelled message never comes", run: cancelled},
		{name: "A cancel that is rolled back leaves the message", run: cancelUndone},
		{name: "A cancel by a savepoint that is rolled back leaves the message", needs: savepoints, run: cancelSavepoint},
		{name: "A cancel of what is not scheduled says so", run: cancelMissing},
		{name: "A scheduled message of a transaction that was rolled back never comes", run: scheduledUndone},
		{name: "A message whose cancel is still open is not promoted", needs: concurrentWriters, run: cancelOpen},
		{name: "A scheduled message may be cancelled by its own transaction", run: cancelOwn},
		{name: "Many due messages are promoted once each", run: scheduledMany},
	}
}

// at returns m, scheduled.
func at(m postbag.Message, when time.Time) postbag.Message {
	m.NotBefore = when
	return m
}

// upkeep maintains the box as long as there is more to do.
type upkeep struct {
	*env
	r     *relay
	lease store.Lease
	keep  time.Duration
	total store.Report
	last  store.Report
}

// upkeep takes the lease to maintain the box; it keeps messages for an hour.
func (e *env) upkeep() *upkeep {
	e.Helper()
	r, lease := e.maintainer("upkeep")
	return &upkeep{env: e, r: r, lease: lease, keep: time.Hour}
}

// maintain makes one call of Maintain, which must not wait for others for long.
func (u *upkeep) maintain() store.Report {
	u.Helper()
	ctx, cancel := context.WithTimeout(u.ctx, u.patience)
	defer cancel()
	rep, err := u.r.s.Maintain(ctx, store.Retention{Lease: u.lease, Keep: u.keep})
	u.check(err, "maintain")
	return rep
}

// round maintains until there is nothing more to do now.
func (u *upkeep) round() {
	u.Helper()
	for range 1000 {
		rep := u.maintain()
		u.last = rep
		u.total.Promoted += rep.Promoted
		u.total.Copied += rep.Copied
		u.total.Deleted += rep.Deleted
		u.total.Dropped += rep.Dropped
		u.total.Faults = append(u.total.Faults, rep.Faults...)
		if !rep.More {
			return
		}
	}
	u.Fatal("Maintain has more to do without end")
}

// longAfter is more than any lead that before gives.
const longAfter = time.Hour

// before calls prepare with a time that is lead ahead, which must not come before prepare is through: a message that is
// due when it is appended, or cancelled, is no scheduled one. Where a busy machine was too slow for that, what was
// prepared is read away and prepare gets twice as long. Prepare returns the transaction that it leaves open, or nil. The
// pager reads what comes after.
func (u *upkeep) before(lead time.Duration, prepare func(soon time.Time) any) (*pager, any) {
	u.Helper()
	c := u.pager()
	for ; lead < longAfter; lead *= 2 {
		u.total = store.Report{}
		soon := u.now().Add(lead)
		open := prepare(soon)
		if u.now().Before(soon) {
			return c, open
		}
		if open != nil {
			u.rollback(open)
		}
		u.eventually("what was scheduled too late is promoted", func() bool {
			u.round()
			return u.last.NextDue < 0 || u.last.NextDue > longAfter
		})
		c.all()
	}
	u.Fatalf("what takes milliseconds took more than %s", lead/2)
	return nil, nil
}

func scheduledDue(e *env) {
	e.open(1)
	u := e.upkeep()
	var soon time.Time
	var msgs []postbag.Message
	c, _ := u.before(400*time.Millisecond, func(when time.Time) any {
		soon = when
		msgs = []postbag.Message{at(e.message("k"), soon.Add(10*time.Hour)), e.message("k"), at(e.message("k"), soon)}
		e.publish(msgs...)
		u.round()
		return nil
	})
	if d := u.last.NextDue; d < 0 || d > longAfter {
		e.Errorf("with a message due soon Maintain says that the next is due in %s", d)
	}
	c.expect(msgs[1])
	e.eventually("a scheduled message is promoted", func() bool {
		u.round()
		return u.total.Promoted > 0
	})
	got := c.expect(msgs[2])
	if got[0].At.Before(soon.Add(-time.Millisecond)) {
		e.Errorf("a message for %s was promoted at %s", soon, got[0].At)
	}
	if d := u.last.NextDue; d < 9*time.Hour || d > 11*time.Hour {
		e.Errorf("with a message due in ten hours Maintain says that the next is due in %s", d)
	}
	u.round()
	c.expect(e.publish(e.message("k"))...)
	if u.total.Promoted != 1 {
		e.Errorf("of a message that was due and one that was not, %d were promoted", u.total.Promoted)
	}
}

func scheduledPast(e *env) {
	e.open(1)
	msgs := e.messages(3, "k")
	msgs[0] = at(msgs[0], e.now().Add(-time.Hour))
	msgs[2] = at(msgs[2], time.Unix(1, 0))
	e.pager().expect(e.publish(msgs...)...)
}

// cancel cancels a message in a transaction and says whether it was there.
func (e *env) cancel(tx any, m postbag.Message) bool {
	e.Helper()
	found, err := e.Appender.Cancel(e.ctx, tx, box, m.ID)
	e.check(err, "cancel")
	return found
}

// sentinel waits until the messages named want, which are due, have come, and
// fails the case if others come.
func (u *upkeep) sentinel(c *pager, want ...postbag.Message) {
	u.Helper()
	u.eventually("scheduled messages are promoted", func() bool {
		u.round()
		return u.total.Promoted >= int64(len(want))
	})
	u.pass(20 * time.Millisecond)
	u.round()
	c.expect(want...)
}

func cancelled(e *env) {
	e.open(1)
	u := e.upkeep()
	var stays postbag.Message
	var first, twice, again bool
	c, _ := u.before(300*time.Millisecond, func(soon time.Time) any {
		stays = at(e.message("k"), soon)
		goes := at(e.message("k"), soon)
		e.publish(stays, goes)
		tx := e.begin()
		first, twice = e.cancel(tx, goes), e.cancel(tx, goes)
		e.commit(tx)
		tx = e.begin()
		again = e.cancel(tx, goes)
		e.commit(tx)
		return nil
	})
	if !first {
		e.Error("a scheduled message was not there to be cancelled")
	}
	if twice {
		e.Error("a message was cancelled twice by one transaction")
	}
	if again {
		e.Error("a message that was cancelled is there to be cancelled")
	}
	u.sentinel(c, stays)
}

func cancelUndone(e *env) {
	e.open(1)
	u := e.upkeep()
	var m postbag.Message
	c, _ := u.before(300*time.Millisecond, func(soon time.Time) any {
		m = at(e.message("k"), soon)
		e.publish(m)
		tx := e.begin()
		e.cancel(tx, m)
		e.rollback(tx)
		return nil
	})
	u.sentinel(c, m)
}

func cancelSavepoint(e *env) {
	e.open(1)
	u := e.upkeep()
	var second postbag.Message
	c, _ := u.before(300*time.Millisecond, func(soon time.Time) any {
		first := at(e.message("k"), soon)
		second = at(e.message("k"), soon)
		e.publish(first, second)
		tx := e.begin()
		e.cancel(tx, first)
		e.check(e.Savepoint(e.ctx, tx, "here"), "savepoint")
		e.cancel(tx, second)
		e.append(tx, at(e.message("k"), soon))
		e.check(e.RollbackTo(e.ctx, tx, "here"), "roll back to the savepoint")
		e.commit(tx)
		return nil
	})
	u.sentinel(c, second)
}

func cancelMissing(e *env) {
	e.open(1)
	plain := e.publish(e.message("k"))[0]
	tx := e.begin()
	if e.cancel(tx, plain) || e.cancel(tx, e.message("k")) {
		e.Error("a message that is not scheduled was cancelled")
	}
	e.commit(tx)
	e.pager().expect(plain)
}

func scheduledUndone(e *env) {
	e.open(1)
	u := e.upkeep()
	var stays postbag.Message
	c, _ := u.before(300*time.Millisecond, func(soon time.Time) any {
		tx := e.begin()
		e.append(tx, at(e.message("k"), soon))
		e.rollback(tx)
		stays = at(e.message("k"), soon)
		e.publish(stays)
		return nil
	})
	u.sentinel(c, stays)
}

func cancelOpen(e *env) {
	e.open(1)
	u := e.upkeep()
	var stays postbag.Message
	var found bool
	c, tx := u.before(300*time.Millisecond, func(soon time.Time) any {
		goes := at(e.message("k"), soon)
		stays = at(e.message("k"), soon)
		e.publish(goes, stays)
		tx := e.begin()
		found = e.cancel(tx, goes)
		return tx
	})
	if !found {
		e.Error("a scheduled message was not there to be cancelled")
	}
	u.sentinel(c, stays)
	e.commit(tx)
	u.round()
	c.expect(e.publish(e.message("k"))...)
}

func cancelOwn(e *env) {
	e.open(1)
	u := e.upkeep()
	var stays postbag.Message
	var found bool
	c, _ := u.before(300*time.Millisecond, func(soon time.Time) any {
		goes := at(e.message("k"), soon)
		stays = at(e.message("k"), soon)
		tx := e.begin()
		e.append(tx, goes, stays)
		found = e.cancel(tx, goes)
		e.commit(tx)
		return nil
	})
	if !found {
		e.Error("a message was not there for its own transaction to cancel")
	}
	u.sentinel(c, stays)
}

func scheduledMany(e *env) {
	e.open(1)
	u := e.upkeep()
	var msgs []postbag.Message
	c, _ := u.before(200*time.Millisecond, func(soon time.Time) any {
		msgs = e.messages(1500, "")
		for i := range msgs {
			msgs[i] = at(msgs[i], soon.Add(time.Duration(i%7)*time.Millisecond))
		}
		e.publish(msgs...)
		return nil
	})
	u.sentinel(c, msgs...)
	if u.total.Promoted != int64(len(msgs)) {
		e.Errorf("%d scheduled messages were promoted %d times", len(msgs), u.total.Promoted)
	}
}

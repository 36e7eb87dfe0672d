package pgstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

const tallySpan = store.TallySpan

// retain finds what every subscription had passed Keep ago, and drops the
// partitions that end before there. A partition that will not be full within the
// time that messages are kept is thinned instead: its rows are deleted.
func (m *maintenance) retain(ctx context.Context) error {
	floor, err := m.minimumPosition(ctx)
	if errors.Is(err, store.ErrPosition) {
		m.faultf("nothing is dropped: %s", err)
		return nil
	}
	if err != nil || len(m.followers) == 0 {
		return err
	}
	m.safe = floor
	for _, name := range m.strange {
		m.faultf("partition %s of box %s has bounds that Postbag does not make; detach it", name, m.Box)
	}
	m.reportMissing()
	to, err := m.passedLongEnough(ctx, floor)
	if err == nil {
		to, err = m.beforeDiscarded(ctx, to)
	}
	if err != nil || to == 0 {
		return err
	}
	whole, err := m.dropWhole(ctx, to)
	if err != nil || !whole || to <= m.dropped || m.late() || m.fillsSoon(to) {
		return err
	}
	return m.deleteTo(ctx, to)
}

// reportMissing says which messages are in no partition. Somebody has detached or dropped
// theirs, and subscriptions pass what no snapshot shows.
func (m *maintenance) reportMissing() {
	if m.dropping { // of one that is on its way out
		return
	}
	next := m.dropped + 1
	for i := range m.partitions {
		p := &m.partitions[i]
		if p.from > next && next <= m.last {
			m.faultf("seqs %d to %d of box %s are in no partition: somebody has detached or dropped it, and subscriptions pass what was in it; "+
				"insert what was not delivered again, without a seq, see docs/reference/postgresql.md", next, p.from-1, m.Box)
		}
		next = max(next, p.to)
	}
}

// passedLongEnough returns the seq that all had passed Keep ago. It notes the
// floor now and then.
func (m *maintenance) passedLongEnough(ctx context.Context, floor int64) (int64, error) {
	if m.longest() <= 0 {
		m.old = mark{floor, m.now}
		return floor, nil
	}
	step := storekit.NoteEvery(m.Keep, m.longest()).Microseconds()
	fresh := floor > m.noted.seq && m.now-m.noted.at >= step
	if fresh || floor < m.noted.seq {
		err := m.s.run(ctx, m.s.guard(m.v, "", nil), call{
			st: m.s.statements.get("note_floor", ""), args: new(parameters).int4(m.box).int8(floor).int8(min(m.oldest(), floor)),
		})
		if err != nil {
			return 0, err
		}
	}
	return min(m.old.seq, floor), nil
}

// oldest is the seq of the oldest note that is needed.
func (m *maintenance) oldest() int64 {
	if m.discarded > m.Keep {
		return m.older
	}
	return m.old.seq
}

// fillsSoon says whether the partitions fill within the time that messages are
// kept, at the rate since the old mark.
func (m *maintenance) fillsSoon(to int64) bool {
	elapsed := time.Duration(m.now-m.old.at) * time.Microsecond
	if m.Keep <= 0 || elapsed <= 0 {
		return false
	}
	size := float64(m.spans) * tallySpan
	return float64(m.last-to)*float64(m.Keep)/float64(elapsed) >= size
}

// dropWhole begins to drop the partitions that end before to, one after another,
// and says whether there is none left. That of the last seq given out stays.
func (m *maintenance) dropWhole(ctx context.Context, to int64) (bool, error) {
	for len(m.partitions) > 0 {
		p := m.partitions[0]
		if p.to-1 > to || p.to > m.last {
			return true, nil
		}
		if time.Now().Before(m.dropAgain) {
			return false, nil
		}
		decided, err := m.decide(ctx, p)
		if err != nil || !decided {
			return false, err
		}
		m.dropping = true
		if err := m.retire(ctx); err != nil {
			return false, err
		}
		if len(m.partitions) > 0 && m.partitions[0] == p || m.late() {
			return false, nil // it goes on another time
		}
	}
	return true, nil
}

// decide notes that a partition shall be dropped, after its ledger was compared
// and its parked messages were copied.
func (m *maintenance) decide(ctx context.Context, p partitionState) (bool, error) {
	v := &m.maintenanceState.logScan
	v.begin(m, m.Box, m.dropped, m.dropped)
	if agree, err := m.compare(ctx, v, p.to-1, m.safe); err != nil || !agree {
		return false, err
	}
	for after := min(m.dropped, p.to-1); ; {
		looked, last, err := m.copyOut(ctx, after, p.to-1)
		if err != nil {
			return false, err
		}
		if looked < copyLot {
			break
		}
		if after = last; m.late() {
			return false, nil
		}
	}
	decided := false
	to := max(m.dropped, p.to-1)
	g := m.sweep(to, &decided)
	g = append(g, call{
		st:   m.s.statements.get("decide", ""),
		args: new(parameters).int4(m.box).int8(p.from).int8(p.to).text(p.table),
	}, m.forget(to))
	if err := m.s.run(ctx, g...); err != nil || !decided {
		return false, err
	}
	m.dropped, v.dropped = to, to
	return true, nil
}

// copyLot is how many parked messages one statement copies out of the log.
const copyLot = 1000

// copyOut copies parked messages out of a range of the log.
func (m *maintenance) copyOut(ctx context.Context, after, to int64) (looked, last int64, err error) {
	var c copying
	err = m.s.run(ctx, m.s.guard(m.v, "", nil), m.copy(after, to, copyLot, &c))
	if err == nil {
		m.report.Copied += c.copied
	}
	return c.looked, c.last, err
}

// copying is what a statement that copies answers.
type copying struct{ copied, looked, last int64 }

func (m *maintenance) copy(after, to int64, most int32, into *copying) call {
	subs := m.subs()
	return call{
		st:   m.s.statements.get("copy", m.Box),
		args: new(parameters).int4(m.box).int4s(len(subs), func(i int) int32 { return subs[i] }).int8(after).int8(to).int4(most),
		each: func(r row) error {
			c := columns{rest: r}
			*into = copying{c.int8(), c.int8(), c.int8()}
			return c.err
		},
	}
}

// sweep begins a transaction that moves dropped to a seq, and says whether it did.
func (m *maintenance) sweep(to int64, moved *bool) group {
	subs := m.subs()
	return group{
		m.s.guard(m.v, "", nil),
		{st: m.s.statements.get("lock_box", ""), args: new(parameters).text(m.Box)},
		{
			st: m.s.statements.get("sweep", ""),
			args: new(parameters).int4(m.box).int8(m.dropped).int8(to).int8(m.Token).
				int4s(len(subs), func(i int) int32 { return subs[i] }),
			reset: func() { *moved = false },
			each: func(row) error {
				*moved = true
				return nil
			},
		},
	}
}

func (m *maintenance) forget(to int64) call {
	subs := m.subs()
	return call{
		st:   m.s.statements.get("forget", ""),
		args: new(parameters).int4(m.box).int4s(len(subs), func(i int) int32 { return subs[i] }).int8(to),
	}
}

// retire goes on with what is being dropped: first of all with what is pending,
// which stands in the way of all else. Each partition is taken out of the log,
// compared once more as a table that nobody can write to any more, and dropped.
func (m *maintenance) retire(ctx context.Context) error {
	if time.Now().Before(m.dropAgain) || m.late() {
		return nil
	}
	for i := range m.partitions {
		if p := &m.partitions[i]; p.pending {
			if done, err := m.command(ctx, "finalize", p.table, "a detach of partition "+p.table+" that was broken off cannot be finished"); err != nil || !done {
				return err
			}
			p.pending = false
		}
	}
	if !m.dropping {
		return nil
	}
	drops, err := m.drops(ctx)
	for i := range drops {
		if err != nil || m.late() {
			return err
		}
		var gone bool
		if gone, err = m.drop(ctx, &drops[i]); !gone {
			return err
		}
	}
	return err
}

// dropCandidate is a partition that shall be dropped.
type dropCandidate struct {
	partitionState

	exists, attached bool
}

func (m *maintenance) drops(ctx context.Context) (out []dropCandidate, err error) {
	err = m.s.run(ctx, call{
		st: m.s.statements.get("drops", ""), args: new(parameters).int4(m.box),
		reset: func() { out = nil },
		each: func(r row) error {
			c := columns{rest: r}
			d := dropCandidate{}
			d.box = m.Box
			d.from, d.to, d.table = c.int8(), c.int8(), c.text()
			d.exists, d.attached = c.bool(), c.bool()
			out = append(out, d)
			return c.err
		},
	})
	return out, err
}

// drop takes a partition as far as it goes, and says whether it is gone.
func (m *maintenance) drop(ctx context.Context, d *dropCandidate) (bool, error) {
	if err := sqlkit.Hit("pgstore/partition/drop/before"); err != nil {
		return false, err
	}
	if d.attached {
		if done, err := m.command(ctx, "detach", d.table, "partition "+d.table+" cannot be taken out of the log"); err != nil || !done {
			return false, err
		}
		if err := sqlkit.Hit("pgstore/partition/drop/detached"); err != nil {
			return false, err
		}
	}
	if d.exists {
		v := &m.maintenanceState.detachedScan
		v.begin(m, d.table, d.from-1, d.to-1)
		if agree, err := m.compare(ctx, v, d.to-1, d.to-1); err != nil || !agree {
			return false, err
		}
	}
	err := m.s.inDDL(ctx, func(tx ddl) error {
		if err := m.s.briefly(ctx, tx); err != nil {
			return err
		}
		if err := execAll(ctx, tx, m.s.named("drop_part", m.Box, d.table)); err != nil {
			return err
		}
		if err := tx.exec(ctx, m.s.statements.get("dropped", "").sql, m.box, d.from); err != nil {
			return err
		}
		return tx.exec(ctx, m.s.statements.get("fold", "").sql, m.box, spanOf(d.to))
	})
	if err != nil {
		m.dropAgain, err = m.refused(err, "table "+d.table+", which is out of the log, cannot be dropped")
		return false, err
	}
	if err := sqlkit.Hit("pgstore/partition/drop/after"); err != nil {
		return false, err
	}
	m.partitions = slices.DeleteFunc(m.partitions, func(p partitionState) bool { return p.table == d.table })
	m.report.Dropped++
	return true, nil
}

// command runs a DDL statement about a partition that cannot be in a transaction,
// and says whether it worked.
func (m *maintenance) command(ctx context.Context, statement, table, fault string) (bool, error) {
	err := m.s.alone(ctx, m.s.named(statement, m.Box, table))
	if err == nil {
		m.waits = 0
		return true, nil
	}
	m.dropAgain, err = m.refused(err, fault)
	return false, err
}

package pgstore

import (
	"context"

	"github.com/postbag/postbag/store"
)

// deleteRows is how many rows one transaction deletes: some tens of milliseconds.
const deleteRows = 5000

// codeDivision is PostgreSQL's division_by_zero, with which a batch refuses.
const codeDivision = "22012"

// deleteTo deletes what lies in the log up to a seq, after the ledgers were
// compared, by small transactions. What they delete is noted in the ledgers.
func (m *maintenance) deleteTo(ctx context.Context, to int64) error {
	v := &m.maintenanceState.logScan
	v.begin(m, m.Box, m.dropped, m.dropped)
	if agree, err := m.compare(ctx, v, to, m.safe); err != nil || !agree {
		return err
	}
	for m.dropped < to {
		if m.late() {
			return nil
		}
		if moved, err := m.deleteSome(ctx, to); err != nil || !moved {
			return err
		}
		v.dropped = m.dropped
	}
	return nil
}

// deleteBatch is one transaction's worth of rows.
type deleteBatch struct {
	end    int64
	rows   int64
	newest uint64        // the highest id of their transactions
	unread int64         // a row that somebody has not passed; zero: none
	lines  []store.Tally // by subscription
}

// deleteSome deletes some rows, and says whether it could.
func (m *maintenance) deleteSome(ctx context.Context, to int64) (bool, error) {
	b, err := m.nextDeleteBatch(ctx, to)
	if err != nil {
		return false, err
	}
	if b.unread > 0 {
		m.faultf("seq %d of box %s lies where all subscriptions have been, and not all have passed it: the log was emptied and numbered again; "+
			"nothing of it is deleted", b.unread, m.Box)
		m.maintenanceState.logScan = ledgerScan{}
		return false, nil
	}
	moved, deleted := false, int64(0)
	var copied copying
	subs := m.subs()
	g := m.sweepCopied(b, &moved, &copied)
	g = append(g, call{
		st:   m.s.statements.get("delete_passed", m.Box),
		args: new(parameters).int4(m.box).int8(m.dropped).int8(b.end).int8(b.rows).int8(int64(b.newest)),
		each: func(r row) error {
			c := columns{rest: r}
			deleted = c.int8()
			return c.err
		},
	}, call{
		st: m.s.statements.get("note_deleted", ""),
		args: new(parameters).int4(m.box).int8(spanOf(b.end)).int4s(len(subs), func(i int) int32 { return subs[i] }).
			int8s(len(subs), func(i int) int64 { return b.lines[i].Count }).
			int8s(len(subs), func(i int) int64 { return int64(b.lines[i].SeqSum) }).
			int8s(len(subs), func(i int) int64 { return int64(b.lines[i].IDSum) }),
	}, m.forget(b.end))
	switch err := m.s.run(ctx, g...); {
	case sqlState(err) == codeDivision:
		m.faultf("rows of box %s between seq %d and %d came or went since the ledgers were compared; nothing of that is deleted: "+
			"look who else deletes from the log", m.Box, m.dropped+1, b.end)
		m.maintenanceState.logScan = ledgerScan{}
		return false, nil
	case sqlState(err) == codeNoRight:
		m.faultf("old messages of box %s cannot be deleted: %s; grant the relay's role DELETE on the box", m.Box, serverMessage(err))
		return false, nil
	case err != nil || !moved:
		return false, err
	}
	m.report.Deleted += deleted
	m.report.Copied += copied.copied
	m.dropped = b.end
	return true, nil
}

// nextDeleteBatch finds the next rows to delete, within one span.
func (m *maintenance) nextDeleteBatch(ctx context.Context, to int64) (deleteBatch, error) {
	from, err := m.s.skip(ctx, m.Box, m.dropped, to)
	if err != nil {
		return deleteBatch{}, err
	}
	span := spanOf(from + 1)
	b := deleteBatch{end: min(to, (span+1)*tallySpan, max(from, m.dropped+1)+scanRange), lines: make([]store.Tally, len(m.followers))}
	if from == to { // none are left
		b.end = to
		return b, nil
	}
	owns := m.accountable(span)
	err = m.s.scanRows(ctx, "scan", m.Box, from, b.end, func(r *scannedRow) bool {
		if b.rows == deleteRows {
			b.end = r.seq - 1
			return false
		}
		for i := range m.followers {
			if !m.followers[i].passedAll(r) {
				b.unread = r.seq
				return false
			}
		}
		b.rows++
		b.newest = max(b.newest, r.xid)
		for i := range owns {
			if owns[i](r.xid, r.seq) {
				add(&b.lines[i], r.tally())
			}
		}
		return true
	})
	return b, err
}

// sweepCopied begins the transaction of a batch: parked messages are copied
// first, so that the sweep finds all of them copied.
func (m *maintenance) sweepCopied(b deleteBatch, moved *bool, into *copying) group {
	g := m.sweep(b.end, moved)
	return group{g[0], g[1], m.copy(m.dropped, b.end, deleteRows, into), g[2]}
}

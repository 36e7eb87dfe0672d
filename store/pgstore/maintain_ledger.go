package pgstore

import (
	"context"
	"encoding/binary"
	"math/big"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
	"github.com/postbag/postbag/store/storekit"
)

// scannedRow is a row of the log without its bytes. Slot and at (microseconds since
// 2000) are there only if asked for.
type scannedRow struct {
	seq, at int64
	xid     uint64
	id      [16]byte
	slot    int
}

// tally returns what a row adds to a ledger.
func (r *scannedRow) tally() store.Tally {
	return store.Tally{Count: 1, SeqSum: uint64(r.seq), IDSum: binary.BigEndian.Uint64(r.id[8:])}
}

// One statement of a scan reads at most so many rows, of so many seqs: a bound
// that holds whatever the planner takes the table for.
const (
	scanBatch = 10_000
	scanRange = 8 * scanBatch
)

// scanRows calls each with the rows of a table from after from up to to, in order,
// until it says false. The statement is "scan", or "tail" for all columns.
func (s *Store) scanRows(ctx context.Context, statement, table string, from, to int64, each func(*scannedRow) bool) error {
	for from < to {
		next, count, err := s.scanSome(ctx, statement, table, from, to, each)
		if err != nil || next < 0 {
			return err
		}
		if from = next; count == 0 && from < to {
			if from, err = s.skip(ctx, table, from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// scanSome is one statement of a scan, and returns up to where it looked;
// negative: each has had enough.
func (s *Store) scanSome(ctx context.Context, statement, table string, from, to int64, each func(*scannedRow) bool) (int64, int, error) {
	to = min(to, from+scanRange)
	count, on, last := 0, true, from
	err := s.run(ctx, call{
		st:   s.statements.get(statement, table),
		args: new(parameters).int8(from).int8(to).int4(scanBatch),
		each: func(r row) error {
			c := columns{rest: r}
			v := scannedRow{seq: c.int8(), xid: uint64(c.int8()), id: c.id()}
			if statement == "tail" {
				v.slot, v.at = c.int2(), c.int8()
			}
			count, last = count+1, v.seq
			on = on && c.err == nil && each(&v)
			return c.err
		},
	})
	switch {
	case err != nil:
		return 0, 0, err
	case !on:
		return -1, count, nil
	case count < scanBatch:
		return to, count, nil
	}
	return last, count, nil
}

// skip returns the seq before the next row after from, at most to.
func (s *Store) skip(ctx context.Context, table string, from, to int64) (int64, error) {
	seq, _, err := s.storedAt(ctx, table, from+1)
	if err != nil || seq == 0 || seq > to {
		return to, err
	}
	return seq - 1, nil
}

// ledgerScan is how far the ledgers of all subscriptions were compared with a table of
// messages. It goes span by span. Rows are counted before they are deleted, so
// that the sums stay true.
type ledgerScan struct {
	table string
	era   int64
	subs  []int32
	// from is where it began, and dropped up to where rows were deleted then, or
	// since then by its owner.
	from, dropped int64
	// span is the one at work, upto how far its rows are in own, and agreed how far
	// log and ledgers agree.
	span, upto, agreed int64
	own                []store.Tally // by subscription: the rows that it has to account for
}

// begin has the scan begin behind a seq, unless it goes on.
func (v *ledgerScan) begin(m *maintenance, table string, from, dropped int64) {
	if v.table == table && v.era == m.v.era && slices.Equal(v.subs, m.subs()) && v.from <= from && v.dropped == dropped {
		return
	}
	*v = ledgerScan{table: table, era: m.v.era, subs: m.subs(), from: from, dropped: dropped, agreed: from}
	v.enter(spanOf(from+1), from)
}

// enter begins a span.
func (v *ledgerScan) enter(span, upto int64) {
	v.span, v.upto, v.own = span, upto, nil
}

// compare compares ledgers and table, and says whether they agree up to a seq. It
// compares whole spans at their end, and the last one at safe, which all
// subscriptions have passed: the closer that is to where the shards are, the less
// lies between. A difference is a fault of the report, and ends it; so does the
// end of the round's time.
func (m *maintenance) compare(ctx context.Context, v *ledgerScan, to, safe int64) (bool, error) {
	if err := m.loadLedgerStarts(ctx); err != nil {
		return false, err
	}
	for v.agreed < to {
		if m.late() {
			return false, nil
		}
		if v.own == nil {
			if err := m.enterSpan(ctx, v, safe); err != nil {
				return false, err
			}
		}
		end := min(safe, (v.span+1)*store.TallySpan)
		if reached, err := m.count(ctx, v, end); err != nil || !reached {
			return false, err
		}
		agree, err := m.judge(ctx, v)
		if err != nil || !agree {
			return false, err
		}
		v.agreed = end
		if end == (v.span+1)*store.TallySpan {
			v.enter(v.span+1, end)
		}
	}
	return true, nil
}

// enterSpan goes on to the next span of which table or ledgers have something, and
// begins with what of it was deleted.
func (m *maintenance) enterSpan(ctx context.Context, v *ledgerScan, safe int64) error {
	next, err := m.s.skip(ctx, v.table, v.upto, safe)
	if err != nil {
		return err
	}
	span := spanOf(min(next+1, safe))
	err = m.s.run(ctx, call{
		st:   m.s.statements.get("next_ledger_line", ""),
		args: new(parameters).int4s(len(v.subs), func(i int) int32 { return v.subs[i] }).int8(v.span),
		each: func(r row) error {
			c := columns{rest: r}
			span = min(span, c.int8())
			return c.err
		},
	})
	if err != nil {
		return err
	}
	if span > v.span {
		v.enter(span, span*store.TallySpan)
		v.agreed = v.upto
	}
	v.own = make([]store.Tally, len(v.subs))
	told, err := m.ledgerLines(ctx, v)
	if err != nil {
		return err
	}
	for i := range told {
		v.own[i] = told[i].thinned
	}
	return nil
}

// count adds the rows up to end to the scan, and says whether it got there.
func (m *maintenance) count(ctx context.Context, v *ledgerScan, end int64) (bool, error) {
	owns := m.accountable(v.span)
	for v.upto < end {
		if m.late() {
			return false, nil
		}
		own := slices.Clone(v.own)
		next, n, err := m.s.scanSome(ctx, "scan", v.table, v.upto, end, func(r *scannedRow) bool {
			for i := range own {
				if owns[i](r.xid, r.seq) {
					add(&own[i], r.tally())
				}
			}
			return true
		})
		if err == nil && n == 0 && next < end {
			next, err = m.s.skip(ctx, v.table, next, end)
		}
		if err != nil {
			return false, err
		}
		v.own, v.upto = own, next
	}
	return true, nil
}

// accountable returns what mustAccount returns of each subscription.
func (m *maintenance) accountable(span int64) []func(uint64, int64) bool {
	out := make([]func(uint64, int64) bool, len(m.followers))
	for i := range m.followers {
		out[i] = m.followers[i].mustAccount(span)
	}
	return out
}

// spreadRows is how far a subscription's positions may be ahead of what is
// compared within a span, in rows. Where they are farther, the comparison waits
// for the end of the span.
const spreadRows = 50_000

// judge compares the scan with what the ledgers say of its span. They also
// account for rows beyond, which are counted by where the shards stood at the
// very moment that the ledgers were read.
func (m *maintenance) judge(ctx context.Context, v *ledgerScan) (bool, error) {
	told, err := m.ledgerLines(ctx, v)
	if err != nil {
		return false, err
	}
	passed := slices.Clone(v.own)
	owns := m.accountable(v.span)
	ahead := v.upto
	for i := range told {
		for k := range told[i].shards {
			ahead = max(ahead, told[i].shards[k].at.Reach())
		}
	}
	looked := 0
	err = m.s.scanRows(ctx, "tail", v.table, v.upto, min(ahead, (v.span+1)*store.TallySpan), func(r *scannedRow) bool {
		for i := range told {
			if owns[i](r.xid, r.seq) && told[i].passed(r) {
				add(&passed[i], r.tally())
			}
		}
		looked++
		return looked <= spreadRows
	})
	if err != nil || looked > spreadRows {
		return false, err
	}
	agree := true
	for i := range told {
		if len(told[i].shards) == 0 { // it was removed since the round began
			continue
		}
		if told[i].ledger != passed[i] && m.differ != nil {
			m.differ(v.span, i, passed[i], told[i].ledger)
			continue
		}
		if told[i].ledger != passed[i] {
			agree = false
			m.faultf("the ledger of %s/%s does not agree with the log from seq %d on: %d messages passed, %d accounted for "+
				"(or other ones); nothing of that is dropped: look who else changes its tables",
				m.Box, m.followers[i].name, v.span*store.TallySpan+1, passed[i].Count, told[i].ledger.Count)
			if err := m.noteKept(ctx, &m.followers[i], v.span, passed[i].Count, told[i].ledger.Count); err != nil {
				return false, err
			}
		}
	}
	return agree, nil
}

// noteKept has people notice that the ledger of a subscription does not agree with the log, unless they are told so already.
func (m *maintenance) noteKept(ctx context.Context, f *follower, span, passed, told int64) error {
	what := storekit.Kept(store.Ref{Box: m.Box, Subscription: f.name}, span*store.TallySpan+1)
	notices, err := m.s.notices(ctx, m.v, m.now)
	if err != nil || storekit.Told(notices[m.Box], what) {
		return err
	}
	return m.s.run(ctx, m.s.guard(m.v, "", nil), m.s.note(store.Audit{Who: storekit.Itself, Why: storekit.KeptWhy(passed, told)}, what))
}

// ledgerLine is what a subscription's ledger says of a span, and where its shards
// stand, as of one moment.
type ledgerLine struct {
	follower

	ledger, thinned store.Tally
}

// ledgerLines reads the lines of a scan's span, in the order of the subscriptions.
func (m *maintenance) ledgerLines(ctx context.Context, v *ledgerScan) ([]ledgerLine, error) {
	out := make([]ledgerLine, len(v.subs))
	err := m.s.run(ctx, call{
		st:    m.s.statements.get("ledger_lines", ""),
		args:  new(parameters).int4s(len(v.subs), func(i int) int32 { return v.subs[i] }).int8(v.span),
		reset: func() { clear(out) },
		each: func(r row) error {
			c := columns{rest: r}
			kind, sub := c.int4(), c.int4()
			lo, hi, raw := c.int2(), c.int2(), c.text()
			sum := store.Tally{Count: c.int8(), SeqSum: c.modulo(), IDSum: c.modulo()}
			i := slices.Index(v.subs, sub)
			if c.err != nil || i < 0 {
				return c.err
			}
			switch a := &out[i]; kind {
			case 2:
				add(&a.thinned, sum)
			case 0:
				a.addShard(lo, hi, raw)
				add(&a.ledger, sum)
			default:
				add(&a.ledger, sum)
			}
			return out[i].bad
		},
	})
	return out, err
}

// modulo reads the text of a number of any size, modulo 2^64.
func (c *columns) modulo() uint64 {
	text := c.text()
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		c.fail()
		return 0
	}
	return new(big.Int).And(n, mask64()).Uint64()
}

func mask64() *big.Int { return new(big.Int).SetUint64(1<<64 - 1) }

// loadLedgerStarts reads where the ledgers begin.
func (m *maintenance) loadLedgerStarts(ctx context.Context) error {
	if len(m.followers) == 0 || len(m.followers[0].starts) > 0 {
		return nil
	}
	return m.s.run(ctx, call{
		st: m.s.statements.get("cuts", ""), args: new(parameters).int4(m.box),
		each: func(r row) error {
			c := columns{rest: r}
			sub, raw, floor := c.int4(), c.text(), c.int8()
			at, err := snapshots.Decode(store.Position(raw))
			i := slices.IndexFunc(m.followers, func(f follower) bool { return f.id == sub })
			if i >= 0 {
				f := &m.followers[i]
				f.starts = append(f.starts, ledgerStart{at, floor})
			}
			if c.err == nil {
				return err
			}
			return c.err
		},
	})
}

package sqlkit

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// tallyAccepted is the fate, in the ledger, of what it lacked and an operator has
// accepted. No settlement has it.
const tallyAccepted store.Fate = 5

// AcceptLedger has the ledger say of each span what the log says now; see
// [store.Editor]. What it lacked becomes lines of their own. They are worked out as of
// one moment, and no settlement counts them again: a settlement adds the same to both.
func (s *Base) AcceptLedger(ctx context.Context, a store.Audit, box string) ([]string, error) {
	doing := "accept the ledger of box " + box
	if err := storekit.CheckAudit(a); err != nil {
		return nil, s.dialect.Translate(doing, err)
	}
	out := []string{}
	gaps, err := s.gaps(ctx, box)
	if err != nil {
		return nil, s.dialect.Translate(doing, err)
	}
	if len(gaps) == 0 {
		return out, s.acknowledge(ctx, a, box)
	}
	err = s.edit(ctx, a, "accept the ledger", box, func(t *Tx) error {
		out = []string{}
		sums := storekit.Tallies{}
		for i := range gaps {
			g := &gaps[i]
			now, err := t.accepted(t.Query, g.reader.ID, g.span)
			if err != nil {
				return err
			}
			if now != g.before { // somebody else has accepted it meanwhile
				continue
			}
			sums.Add(g.reader.ID, 0, []store.Tally{g.tally()})
			out = append(out, g.line())
			if err := t.audit(a, fmt.Sprintf("accept ledger %s: %s", box, g.line())); err != nil {
				return err
			}
		}
		if len(sums) == 0 {
			return nil
		}
		return t.AddTallies(t, sums)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// acknowledge ends the notices of a box, if it has any.
func (s *Base) acknowledge(ctx context.Context, a store.Audit, box string) error {
	return s.edit(ctx, a, "acknowledge the notices", box, func(t *Tx) error {
		notices, err := t.notices()
		if err != nil || len(notices[box]) == 0 {
			return err
		}
		return t.audit(a, storekit.Acknowledged(box))
	})
}

// gap is a span in which ledger and log differ.
type gap struct {
	reader       *Reader
	span         int64
	passed, told storekit.Sums
	before       storekit.Sums // what was accepted of the span before
}

// line says of a gap what an operator accepts.
func (g *gap) line() string {
	return fmt.Sprintf("%s, seqs %d to %d: %d messages passed, %d accounted for",
		g.reader.Ref, g.span*store.TallySpan+1, (g.span+1)*store.TallySpan, g.passed.Count, g.told.Count)
}

// tally is what the ledger lacks.
func (g *gap) tally() store.Tally {
	return store.Tally{
		Span: g.span, Fate: tallyAccepted, Count: g.passed.Count - g.told.Count,
		SeqSum: uint64(g.passed.Seqs - g.told.Seqs), IDSum: uint64(g.passed.IDs - g.told.IDs),
	}
}

// gaps returns the spans of a box in which ledger and log differ, from where
// retention has got to, all as of one moment.
func (s *Base) gaps(ctx context.Context, box string) (out []gap, err error) {
	err = s.hooks.Snapshot(ctx, func(t *Tx) error {
		out = nil
		if found, err := t.Row(SQLHasBox, []any{box}, new(int)); err != nil {
			return err
		} else if !found {
			return store.ErrNoBox
		}
		readers, err := t.Readers(t.Query, box)
		for i := range readers {
			if err == nil {
				out, err = t.gapsOf(ctx, out, &readers[i])
			}
		}
		return err
	})
	return out, err
}

// gapsOf appends those of one subscription.
func (t *Tx) gapsOf(ctx context.Context, out []gap, r *Reader) ([]gap, error) {
	for at := r.At; ctx.Err() == nil; {
		last := (at.Span + 1) * store.TallySpan
		passed, err := t.passedOf(r, at, last)
		if err != nil {
			return nil, err
		}
		told, err := t.told(t.Query, r.ID, at.Span)
		if err != nil {
			return nil, err
		}
		if told != passed {
			before, err := t.accepted(t.Query, r.ID, at.Span)
			if err != nil {
				return nil, err
			}
			out = append(out, gap{reader: r, span: at.Span, passed: passed, told: told, before: before})
		}
		if r.LowWatermark() < last {
			return out, nil
		}
		next, err := t.nextSpan(t.Query, r, last)
		if err != nil {
			return nil, err
		}
		at = scanOf(next)
	}
	return nil, ctx.Err()
}

// passedOf returns the sums of the rows of a span that the shards have passed, each by
// its own position; at is what was counted of it before.
func (t *Tx) passedOf(r *Reader, at LedgerScan, last int64) (storekit.Sums, error) {
	ahead := at.Upto
	for _, h := range r.Shards {
		ahead = max(ahead, min(h.At.High(), last))
	}
	sums := at.Sums
	for after := at.Upto; after < ahead; {
		n := 0
		err := t.Places(t.Query, r.Box, after, ahead, scanRows, func(row *Placed) error {
			n, after = n+1, row.Seq
			if r.Passed(row.Seq, row.Slot) {
				sums.Add(row.Seq, row.ID)
			}
			return nil
		})
		if err != nil {
			return sums, err
		}
		if n < scanRows {
			break
		}
	}
	return sums, nil
}

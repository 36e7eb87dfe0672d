package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
)

// A position rests on seqs that are given out once, upwards. An owner may empty the log and begin its numbering again, or set
// the sequence back. Three things show it: the sequence has another file than it had (restarted, or altered), it has given out
// less than a position or the retention knows of, or just below a bound of a position there is a row that it has not passed: below that of new
// transactions, or below those of the transactions that ran. The last finds a sequence that was set back and has come by again
// before anybody looked.

// renumberedError says what happened to boxes.
func renumberedError(boxes ...string) error {
	return fmt.Errorf("the numbering of box %s was begun again or its sequence was altered; what is in the log and was not sent is sent, "+
		"some of the rest perhaps again: %w", strings.Join(boxes, ", "), store.ErrMoved)
}

// numbering returns the file that a box's sequence should have, zero if that is not known.
func (s *Store) numbering(box string) int64 {
	if r := s.catalog.Load(); r != nil && r.boxes[box] != nil {
		return r.boxes[box].numbering
	}
	return 0
}

// numbered looks whether a read's answer fits the numbering that its position knows.
func (w *turning) numbered(rd *reader, f *facts) error {
	if known := rd.sub.box.numbering; known != 0 && f.numbering != known {
		w.s.catalog.Store(nil) // somebody may have seen to it already
		return refusal()
	}
	if w.s.doubted(rd.q.Box) != nil {
		return renumberedError(rd.q.Box)
	}
	if rd.form.window || !otherNumbering(&rd.at, f.last, f.below, f.missed) {
		return nil
	}
	w.s.doubt(rd.q.Box, w.v.era, nil)
	return renumberedError(rd.q.Box)
}

// witness is a row of which a position says something.
type witness struct {
	seq int64 // negative: there is none
	xid uint64
}

// otherNumbering says that a position is not of this numbering.
func otherNumbering(p *snapshots.Position, last int64, rows ...witness) bool {
	return last < p.Beyond() || slices.ContainsFunc(rows, func(w witness) bool { return w.seq >= 0 && p.Belied(w.xid, w.seq) })
}

// renumbered looks through all boxes, makes the positions of those whose numbering was begun again good, and returns their
// names. What a turn or the housekeeping of this process found counts too, transaction ids only of this era of the server.
func (s *Store) renumbered(ctx context.Context, era int64) ([]string, error) {
	known, err := s.readCatalog(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for name := range known.boxes {
		found, err := s.renumberedBox(ctx, known, name, era)
		if err != nil {
			return nil, fmt.Errorf("box %s: %w", name, err)
		}
		if found {
			out = append(out, name)
		}
		s.doubts.Delete(name)
	}
	slices.Sort(out)
	return out, nil
}

func (s *Store) renumberedBox(ctx context.Context, known *catalog, name string, era int64) (bool, error) {
	var late map[int32][]uint64
	why := "its numbering was begun again, or its sequence was altered"
	box, d := known.boxes[name], s.doubted(name)
	switch {
	case d == nil:
		if begun, err := s.begunAgain(ctx, known, name); err != nil || !begun {
			return false, err
		}
	case d.era == era && len(d.late) > 0:
		late = d.late
		why = "it got a row with a number that others had gone past: drawn long before its insert, or of a sequence that was set back"
	}
	err := s.inOwnTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := execAll(ctx, pgxDDL{tx}, lockTimeout, `SELECT FROM postbag._meta FOR UPDATE`); err != nil {
			return err
		}
		high := int64(0)
		for ref, sub := range known.subs {
			if ref.Box != name {
				continue
			}
			reach, err := s.lower(ctx, tx, sub, late[sub.id])
			if err != nil {
				return fmt.Errorf("subscription %s: %w", ref.Subscription, err)
			}
			high = max(high, reach)
		}
		if err := s.raiseSequence(ctx, tx, name, box, high); err != nil {
			return err
		}
		for _, q := range []string{"begin_copies", "begin_floors", "begin_box"} {
			if _, err := tx.Exec(ctx, s.statements.get(q, name).sql, box.id); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, s.statements.get("begin_audit", "").sql, box.id, why); err != nil {
			return err
		}
		return execAll(ctx, pgxDDL{tx}, `DELETE FROM postbag._life`, `UPDATE postbag._epoch SET n = n + 1`)
	})
	return err == nil, err
}

// begunAgain says whether a box's numbering is not that of which its positions speak.
func (s *Store) begunAgain(ctx context.Context, known *catalog, name string) (bool, error) {
	positions := []snapshots.Position{{}}
	for ref, sub := range known.subs {
		if ref.Box != name || ref.Subscription == store.Maintenance {
			continue
		}
		err := s.run(ctx, call{st: s.statements.get("shard_bounds", ""), args: new(parameters).int4(sub.id), each: func(r row) error {
			c := columns{rest: r}
			p, err := snapshots.Decode(store.Position(c.text()))
			positions = append(positions, p)
			return errors.Join(err, c.err)
		}})
		if err != nil {
			return false, err
		}
	}
	begun := false
	for i := range positions {
		p := &positions[i]
		bounds := p.Bounds()
		args := new(parameters).int8s(len(bounds), func(i int) int64 { return bounds[i] })
		err := s.run(ctx, call{st: s.statements.get("numbered", name), args: args, each: func(r row) error {
			c := columns{rest: r}
			last, same, row := c.int8(), c.bool(), witness{c.int8(), uint64(c.int8())}
			begun = begun || !same || otherNumbering(p, last, row)
			return c.err
		}})
		if err != nil {
			return false, err
		}
	}
	return begun, nil
}

// outnumbered says that the log belies a position, whatever file its sequence has.
func (s *Store) outnumbered(ctx context.Context, tx pgx.Tx, box string, p *snapshots.Position) (bool, error) {
	rows, err := tx.Query(ctx, s.statements.get("numbered", box).sql, p.Bounds())
	if err != nil {
		return false, err
	}
	var last int64
	var same, out bool
	var w witness
	_, err = pgx.ForEachRow(rows, []any{&last, &same, &w.seq, &w.xid}, func() error {
		out = out || otherNumbering(p, last, w)
		return nil
	})
	return out, err
}

// lower has the shards of a subscription look through the whole log once more for what they have not passed, which their
// transaction ids still tell: a bound may be lowered. All get one position, that of the one which has passed least; what late
// transactions wrote comes though they were passed. It returns the highest seq that they knew of.
func (s *Store) lower(ctx context.Context, tx pgx.Tx, sub *catalogSubscription, late []uint64) (int64, error) {
	if sub.ref.Subscription == store.Maintenance {
		_, err := tx.Exec(ctx, s.statements.get("free_shards", "").sql, sub.id)
		return 0, err
	}
	positions, err := s.shardPositions(ctx, tx, sub)
	if err != nil {
		return 0, err
	}
	high := int64(0)
	for i := range positions {
		high = max(high, positions[i].Reach(), positions[i].Beyond(), positions[i].Top)
	}
	back := snapshots.Lowered(positions)
	back.Unpass(late)
	raw, passed := []byte(back.Encode()), "1:1:" // nothing
	if back.Done != nil {
		passed = back.Done.String()
	}
	for _, q := range []struct {
		name string
		args []any
	}{
		{"back_flush", []any{sub.id}},
		{"back_fold", []any{sub.id}},
		{"back_cut", []any{sub.id, raw, int64(0)}},
		{"begin_parked", []any{sub.id, passed}},
		{"begin_past", []any{sub.id, passed}},
		{"begin_discarded", []any{sub.id, passed}},
		{"back_shards", []any{sub.id, raw}},
	} {
		if _, err := tx.Exec(ctx, s.statements.get(q.name, sub.ref.Box).sql, q.args...); err != nil {
			return 0, err
		}
	}
	return high, nil
}

// shardPositions locks the shards of a subscription and returns where they stand.
func (s *Store) shardPositions(ctx context.Context, tx pgx.Tx, sub *catalogSubscription) ([]snapshots.Position, error) {
	rows, err := tx.Query(ctx, s.statements.get("shard_positions", "").sql, sub.id)
	if err != nil {
		return nil, err
	}
	raws, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return nil, err
	}
	out := make([]snapshots.Position, len(raws))
	for i, raw := range raws {
		if out[i], err = snapshots.Decode(store.Position(raw)); err != nil {
			return nil, fmt.Errorf("a position of %s: %w", sub.ref, err)
		}
	}
	return out, nil
}

// raiseSequence has the sequence go on behind all that was ever given out, so that no seq stands for two messages, where the role may
// do that.
func (s *Store) raiseSequence(ctx context.Context, tx pgx.Tx, name string, box *catalogBox, high int64) error {
	if _, err := tx.Exec(ctx, "SAVEPOINT leap"); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, s.statements.get("leap", name).sql, box.id, high)
	if sqlState(err) != codeNoRight {
		return err
	}
	_, err = tx.Exec(ctx, "ROLLBACK TO leap")
	return err
}

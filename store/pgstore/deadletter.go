package pgstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// letter is a dead letter on its way, but for its payload, which the server copies.
type letter struct {
	item    // of Settlement.Park
	message postbag.Message
	headers string
}

// letters are the dead letters of a turn. Their messages are read before the settling
// transaction, and written within it if it applies their settlements: nobody changes a row of
// the log that is still to be delivered.
type letters struct {
	list []letter
	// refused are the boxes that nothing can be written to now, with the reason. Their letters
	// are left out, and the audit log says so.
	refused map[string]error
}

// readLetters reads what the dead letters of the turn are made of.
func (w *turning) readLetters(ctx context.Context) error {
	items := w.settle.items(func(st *store.Settlement) int { return len(st.Park) })
	items = slices.DeleteFunc(items, func(i item) bool { return !storekit.IsLetter(w.settle.parkAt(i)) })
	for from, of := range byBox(items, func(i item) string { return w.settle.list[i.settlement].Box }) {
		if err := w.readLettersOf(ctx, from, of); err != nil {
			return err
		}
	}
	return nil
}

// readLettersOf is readLetters for the messages of one box.
func (w *turning) readLettersOf(ctx context.Context, from string, items []item) error {
	settle := w.settle
	a := new(parameters).int8s(len(items), func(i int) int64 { return settle.parkAt(items[i]).Seq })
	a.int4(w.catalog.boxes[from].id)
	var read []letter
	err := w.s.run(ctx, w.s.guard(w.v, "", nil), call{
		st: w.s.statements.get("letters", from), args: a,
		reset: func() { read = nil },
		each: func(r row) error {
			c := columns{rest: r}
			k, now := int(c.int8())-1, instant(c.int8())
			if c.err != nil || k < 0 || k >= len(items) {
				return c.err
			}
			p := settle.parkAt(items[k])
			rec := store.Record{Seq: p.Seq, Slot: p.Slot, At: instant(c.int8())}
			rec.ID = postbag.ID(c.id())
			rec.Topic, rec.Key, rec.ShardKey, rec.Type = c.text(), c.text(), c.text(), c.text()
			if headers := c.text(); headers != "" {
				rec.Headers, rec.Err = readHeaders(headers)
			}
			m := storekit.DeadLetter(&settle.list[items[k].settlement].Lease, p, &rec, now)
			headers, err := storekit.HeadersText(m.Headers)
			read = append(read, letter{item: items[k], message: m, headers: headers})
			return errors.Join(c.err, err)
		},
	})
	settle.letters.list = append(settle.letters.list, read...)
	return err
}

// byBox divides items by a box, each with its items in their sequence.
func byBox[T any](list []T, box func(T) string) map[string][]T {
	out := map[string][]T{}
	for _, x := range list {
		out[box(x)] = append(out[box(x)], x)
	}
	return out
}

func (w *settling) parkAt(i item) *store.Park { return &w.list[i.settlement].Park[i.entry] }

// hasLetters says whether the turn asks for dead letters.
func (w *settling) hasLetters() bool {
	return w != nil && w.any(storekit.HasLetters)
}

// writeLetters adds the statements that write the letters, or that say why they are not written.
func (w *settling) writeLetters(s *Store, g group) group {
	type road struct{ from, to string }
	roads := map[road][]letter{}
	for _, l := range w.letters.list {
		r := road{w.list[l.settlement].Box, w.parkAt(l.item).DeadTo}
		if w.letters.refused[r.to] == nil {
			roads[r] = append(roads[r], l)
		}
	}
	for r, of := range roads {
		g = append(g, w.writeLettersOf(s, r.from, r.to, of))
	}
	for i := range w.list {
		for _, n := range w.unwritten(i) {
			a := w.under([]item{{settlement: i}}).text(storekit.Itself).text(auditText(n.why.Error())).text(n.what)
			g = append(g, call{st: s.statements.get("no_letter", ""), args: a})
		}
	}
	return g
}

// writeLettersOf returns the statement for the letters from one box to another.
func (w *settling) writeLettersOf(s *Store, from, to string, of []letter) call {
	n := len(of)
	items := make([]item, n)
	for i := range of {
		items[i] = of[i].item
	}
	a := w.under(items)
	a.int8s(n, func(i int) int64 { return w.parkAt(items[i]).Seq })
	a.texts(n, func(i int) string { return of[i].message.ID.String() })
	a.int2s(n, func(i int) int { return store.SlotOf(&of[i].message) + 1 })
	a.texts(n, func(i int) string { return of[i].message.Topic })
	a.texts(n, func(i int) string { return of[i].message.Key })
	a.texts(n, func(i int) string { return of[i].message.ShardKey })
	a.texts(n, func(i int) string { return of[i].message.Type })
	a.texts(n, func(i int) string { return of[i].headers })
	boxes := func() []string { return []string{"{from}", from, "{to}", to} }
	return call{st: s.statements.variant("write_letters", from+" to "+to, 0, boxes), args: a}
}

// notWritten is a line of the audit log for letters that are left out.
type notWritten struct {
	what string
	why  error
}

// unwritten says which letters of a settlement are left out, by box.
func (w *settling) unwritten(i int) (out []notWritten) {
	for _, to := range slices.Sorted(maps.Keys(w.letters.refused)) {
		var seqs []int64
		for _, p := range w.list[i].Park {
			if storekit.IsLetter(&p) && p.DeadTo == to {
				seqs = append(seqs, p.Seq)
			}
		}
		if len(seqs) > 0 {
			out = append(out, notWritten{storekit.NoLetter(w.list[i].Ref, to, seqs), w.letters.refused[to]})
		}
	}
	return out
}

// tell has the verdicts say which letters were left out.
func (w *settling) tell() {
	for i := range w.verdicts {
		if !w.verdicts[i].Applied || len(w.letters.refused) == 0 {
			continue
		}
		for _, n := range w.unwritten(i) {
			w.verdicts[i].Letters = errors.Join(w.verdicts[i].Letters, fmt.Errorf("%s: %w", n.what, n.why))
		}
	}
}

// lettersKept are the classes of errors, and some codes, that say nothing of what is written: of the transaction, the
// server, its resources, a cancel, a bug. By all others the server, or a trigger of the box, may refuse a letter. A trigger
// raises what it likes, and meets what other servers say. A wrong guess costs a settlement without letters.
var lettersKept = []string{"25", "40", "53", "57", "58", "PB", "XX", "08P01", "55P03"}

// refusedLetters says which boxes cannot be written to, after a turn with letters failed with
// err. If none shows itself, a letter is what the server refuses, and all are left out. Nil:
// the server said nothing of that kind.
func (w *turning) refusedLetters(ctx context.Context, err error) map[string]error {
	code := sqlState(err)
	if len(code) != 5 || slices.Contains(lettersKept, code[:2]) || slices.Contains(lettersKept, code) {
		return nil
	}
	refused, all := map[string]error{}, map[string]error{}
	for _, l := range w.settle.letters.list {
		to := w.settle.parkAt(l.item).DeadTo
		if all[to] != nil {
			continue
		}
		all[to] = letterError(to, err)
		switch bad := w.s.mayWrite(ctx, w.v, to); {
		case bad == nil:
		case !isServerError(bad):
			return nil
		default:
			refused[to] = letterError(to, bad)
		}
	}
	if len(refused) > 0 {
		return refused
	}
	return all
}

// wakeLetters tells the relays of the boxes that got letters.
func (w *turning) wakeLetters() {
	for to := range byBox(w.settle.letters.list, func(l letter) string { return w.settle.parkAt(l.item).DeadTo }) {
		w.s.Wake(to)
	}
}

// letterError says why a letter is not written, and names a missing box for what it is.
func letterError(to string, err error) error {
	if sqlState(err) == codeNoTable {
		err = store.ErrNoBox
	}
	return translateError("write a dead letter to box "+to, err)
}

// mayWrite returns an error if this role cannot write to the log of a box.
func (s *Store) mayWrite(ctx context.Context, v *server, box string) error {
	return s.run(ctx, s.guard(v, "", nil), call{st: s.statements.get("may_write", box)})
}

// checkLetters says what stands against dead letters in a box.
func (s *Store) checkLetters(ctx context.Context, v *server, r *catalog, from, box string) error {
	if r.boxes[box] == nil {
		return fmt.Errorf("box %s, for its dead letters: %w", box, store.ErrNoBox)
	}
	if err := storekit.LettersFit(r.boxes[from].slots, r.boxes[box].slots, box); err != nil {
		return err
	}
	if err := s.mayWrite(ctx, v, box); err != nil {
		if sqlState(err) == codeNoRight {
			return letterError(box, err)
		}
		return err
	}
	return nil
}

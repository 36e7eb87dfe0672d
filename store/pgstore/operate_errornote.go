package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.ErrorNoter = (*Store)(nil)

// SetErrorNote implements store.ErrorNoter.
func (s *Store) SetErrorNote(ctx context.Context, a store.Audit, n store.ErrorNote) error {
	doing := "note on errors of " + n.Ref.String()
	if err := storekit.CheckErrorNote(a, &n); err != nil {
		return translateError(doing, err)
	}
	return translateError(doing, s.order(ctx, a, n.Ref, func(v *server, _ *catalogSubscription, a store.Audit) error {
		line := auditText(storekit.ErrorNoteText(&n)) + selectedBy(a)
		if n.Text == "" {
			args := errorNoteKey(&n).text(a.Who).text(a.Why).text(line)
			return s.run(ctx, s.guard(v, "", nil), call{st: s.statements.get("remove_error_note", ""), args: args})
		}
		written := false
		args := errorNoteKey(&n).text(n.Kind).text(n.Text).text(a.Who).text(a.Why).text(line).int4(store.MaxErrorNotes)
		err := s.run(ctx, s.guard(v, "", nil), call{
			st: s.statements.get("set_error_note", ""), args: args,
			reset: func() { written = false },
			each:  func(row) error { written = true; return nil },
		})
		if err == nil && !written {
			err = store.ErrTooManyErrorNotes
		}
		return err
	}))
}

func errorNoteKey(n *store.ErrorNote) *parameters {
	return new(parameters).text(n.Box).text(n.Subscription).bytes(storekit.ErrorNoteHash(n.Kind))
}

// ErrorNotes implements store.ErrorNoter.
func (s *Store) ErrorNotes(ctx context.Context, r store.Ref) (out []store.ErrorNote, err error) {
	if noText(r.Box) || noText(r.Subscription) {
		return nil, nil
	}
	err = s.guarded(ctx, func(v *server) error {
		return s.run(ctx, s.guard(v, "", nil), s.errorNotes("error_notes", new(parameters).text(r.Box).text(r.Subscription), &out))
	})
	storekit.SortErrorNotes(out)
	return out, translateError("read notes on errors of box "+r.Box, err)
}

// errorNotes reads notes into all.
func (s *Store) errorNotes(name string, args *parameters, all *[]store.ErrorNote) call {
	return call{
		st: s.statements.get(name, ""), args: args,
		reset: func() { *all = nil },
		each: func(r row) error {
			c := columns{rest: r}
			n := store.ErrorNote{Ref: store.Ref{Box: c.text(), Subscription: c.text()}, Kind: c.text(), Text: c.text(), Who: c.text()}
			n.At, n.Seen = time.UnixMicro(c.int8()).UTC(), time.UnixMicro(c.int8()).UTC()
			*all = append(*all, n)
			return c.err
		},
	}
}

// errorNotes looks whether the errors of notes are there yet, if nobody has looked for a day, and removes the notes whose errors were
// not there for long. It looks at one subscription after another, as long as there is time. Notes of one that cannot be listed are
// looked at again after a day.
func (m *maintenance) errorNotes(ctx context.Context) (failed error) {
	if !m.unchecked {
		return nil
	}
	for !m.late() {
		var due []store.ErrorNote
		args := new(parameters).text(m.Box).int8(m.now - storekit.ErrorNoteChecked.Microseconds())
		err := m.s.run(ctx, m.s.guard(m.v, "", nil), m.s.errorNotes("unchecked_error_notes", args, &due))
		if err != nil || len(due) == 0 {
			return errors.Join(failed, err)
		}
		due = storekit.ErrorNotesOfOne(due)
		there, err := storekit.ErrorsThere(ctx, due, m.s.List)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed = errors.Join(failed, err)
		if err := m.checkedErrorNotes(ctx, due, there); err != nil {
			return err
		}
	}
	return failed
}

// checkedErrorNotes notes of notes whether their errors are there, unless somebody has written them meanwhile. No answers: nobody knows.
func (m *maintenance) checkedErrorNotes(ctx context.Context, due []store.ErrorNote, there []bool) error {
	calls, known := []call{m.s.guard(m.v, "", nil)}, len(there) > 0
	for i := range due {
		seen, goes := due[i].Seen, false
		if known {
			seen, goes = storekit.LookedAtErrorNote(&due[i], there[i], time.UnixMicro(m.now))
		}
		c := call{st: m.s.statements.get("forget_error_note", ""), args: errorNoteKey(&due[i]).int8(due[i].Seen.UnixMicro())}
		if !goes {
			c.st = m.s.statements.get("checked_error_note", "")
			c.args.int8(seen.UnixMicro()).int8(m.now)
		}
		calls = append(calls, c)
	}
	return m.s.run(ctx, calls...)
}

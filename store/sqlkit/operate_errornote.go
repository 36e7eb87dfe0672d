package sqlkit

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Notes on errors. A kind of error is found by its hash.
const (
	// SQLErrorNote and those below it go by primary key.
	SQLErrorNote       = `SELECT 1 FROM postbag__error_note WHERE box = ? AND name = ? AND hash = ?`
	sqlSetErrorNote    = `REPLACE INTO postbag__error_note (box, name, hash, kind, note, who, at, seen, checked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlRemoveErrorNote = `DELETE FROM postbag__error_note WHERE box = ? AND name = ? AND hash = ?`

	// SQLErrorNotes, and those beside it, read ranges of the primary key: some hundred rows.
	sqlCountErrorNotes = `SELECT COUNT(*) FROM postbag__error_note WHERE box = ?`
	SQLErrorNotes      = `SELECT box, name, kind, note, who, at, seen FROM postbag__error_note WHERE box = ?`
	SQLErrorNotesOf    = SQLErrorNotes + ` AND name = ?`

	// SQLUncheckedErrorNotes goes by a range of (box, checked).
	SQLUncheckedErrorNotes = SQLErrorNotes + ` AND checked <= ? ORDER BY checked LIMIT 500`

	// By primary key.
	sqlCheckedErrorNote = `UPDATE postbag__error_note SET seen = ?, checked = ? WHERE box = ? AND name = ? AND hash = ? AND seen = ?`
	sqlForgetErrorNote  = `DELETE FROM postbag__error_note WHERE box = ? AND name = ? AND hash = ? AND seen = ?`
)

// SetErrorNote writes or removes a note on errors; see [store.ErrorNoter].
func (s *Base) SetErrorNote(ctx context.Context, a store.Audit, n store.ErrorNote) error {
	doing := "note on errors of " + n.Ref.String()
	if err := storekit.CheckErrorNote(a, &n); err != nil {
		return s.dialect.Translate(doing, err)
	}
	return s.hooks.Write(ctx, doing, func(t *Tx) error {
		if found, err := t.Row(SQLHasBox+t.Lock, []any{n.Box}, new(int)); err != nil || !found {
			return orElse(err, store.ErrNoBox)
		}
		if id, err := t.Subscription(n.Ref); err != nil || id == 0 {
			return orElse(err, store.ErrNoSubscription)
		}
		changed, err := t.setErrorNote(a, &n)
		if err != nil || !changed {
			return err
		}
		return t.audit(a, storekit.ErrorNoteText(&n))
	})
}

// setErrorNote says whether something was changed.
func (t *Tx) setErrorNote(a store.Audit, n *store.ErrorNote) (bool, error) {
	key := errorNoteKey(n)
	if n.Text == "" {
		gone, err := t.Exec(sqlRemoveErrorNote, key...)
		return gone > 0, err
	}
	there, err := t.Row(SQLErrorNote, key, new(int))
	if err != nil {
		return false, err
	}
	if !there {
		var all int
		if _, err := t.Row(sqlCountErrorNotes, []any{n.Box}, &all); err != nil || all >= store.MaxErrorNotes {
			return false, orElse(err, store.ErrTooManyErrorNotes)
		}
	}
	_, err = t.Exec(sqlSetErrorNote, append(key, []byte(n.Kind), n.Text, storekit.Reason(a.Who), t.Now, t.Now, t.Now)...)
	return true, err
}

func errorNoteKey(n *store.ErrorNote) []any {
	return []any{n.Box, n.Subscription, storekit.ErrorNoteHash(n.Kind)}
}

// ErrorNotes returns notes on errors; see [store.ErrorNoter].
func (s *Base) ErrorNotes(ctx context.Context, r store.Ref) ([]store.ErrorNote, error) {
	text, args := SQLErrorNotes, []any{r.Box}
	if r.Subscription != "" {
		text, args = SQLErrorNotesOf, []any{r.Box, r.Subscription}
	}
	out, err := errorNotes(s.hooks.Query(ctx), text, args...)
	storekit.SortErrorNotes(out)
	return out, s.dialect.Translate("read notes on errors of box "+r.Box, err)
}

func errorNotes(query Querier, text string, args ...any) (out []store.ErrorNote, err error) {
	err = query(text, args, func(rows *sql.Rows) error {
		var n store.ErrorNote
		var at, seen int64
		err := rows.Scan(&n.Box, &n.Subscription, &n.Kind, &n.Text, &n.Who, &at, &seen)
		n.At, n.Seen = time.UnixMicro(at).UTC(), time.UnixMicro(seen).UTC()
		out = append(out, n)
		return err
	})
	return out, err
}

// ForgetErrorNotes looks whether the errors of notes are there yet, if nobody has looked for a day, and removes the notes whose errors
// were not there for long. It looks at one subscription after another, as long as there is time. Notes of one that cannot be listed are
// looked at again after a day.
func (m *Maintenance) ForgetErrorNotes(ctx context.Context) error {
	if !m.unchecked.Valid {
		return nil
	}
	now, err := m.base.hooks.Now(ctx)
	before := now - storekit.ErrorNoteChecked.Microseconds()
	if err != nil || m.unchecked.Int64 > before {
		return err
	}
	var failed error
	for !m.Late() {
		due, err := errorNotes(m.base.hooks.Query(ctx), SQLUncheckedErrorNotes, m.Box, before)
		if err != nil || len(due) == 0 {
			return errors.Join(failed, err)
		}
		due = storekit.ErrorNotesOfOne(due)
		there, err := storekit.ErrorsThere(ctx, due, m.base.List)
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
func (m *Maintenance) checkedErrorNotes(ctx context.Context, due []store.ErrorNote, there []bool) error {
	return m.Write(ctx, func(t *Tx) error {
		for i := range due {
			key := append(errorNoteKey(&due[i]), due[i].Seen.UnixMicro())
			seen, goes := due[i].Seen, false
			if len(there) > 0 {
				seen, goes = storekit.LookedAtErrorNote(&due[i], there[i], time.UnixMicro(t.Now))
			}
			if goes {
				if _, err := t.Exec(sqlForgetErrorNote, key...); err != nil {
					return err
				}
				continue
			}
			if _, err := t.Exec(sqlCheckedErrorNote, append([]any{seen.UnixMicro(), t.Now}, key...)...); err != nil {
				return err
			}
		}
		return nil
	})
}

package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var (
	_ store.Inbox[pgx.Tx]        = (*Store)(nil)
	_ store.Inbox[postbag.SQLTx] = (*Appender)(nil)
	_ store.Rerunner             = (*Store)(nil)
	_ store.Rerunner             = (*Appender)(nil)
	_ store.OutageTeller         = (*Store)(nil)
	_ store.OutageTeller         = (*Appender)(nil)
)

// Mark implements store.Inbox. Nothing of a mark is changed later, and its time counts
// from this call on, by the database's clock.
func (s *Store) Mark(ctx context.Context, tx pgx.Tx, consumer string, marks []store.Mark) ([]bool, error) {
	if tx == nil {
		return nil, postbag.ErrNoTx
	}
	return markAll(ctx, s.statements, pgxSession{s, tx}, consumer, marks)
}

// Mark implements store.Inbox, as that of a Store does.
func (d *Appender) Mark(ctx context.Context, tx postbag.SQLTx, consumer string, marks []store.Mark) ([]bool, error) {
	if tx == nil {
		return nil, postbag.ErrNoTx
	}
	return markAll(ctx, d.catalog, sqlSession{tx}, consumer, marks)
}

// RunAgain says whether err means that a transaction met another one: a serialization
// failure, a deadlock, or a lock that was not to be had; see [store.Rerunner].
func (*Store) RunAgain(err error) bool {
	return errors.Is(err, store.ErrAgain) || endedByConcurrentTransaction(sqlState(err))
}

// RunAgain is that of a Store. It knows the errors of every driver that have a method
// SQLState.
func (*Appender) RunAgain(err error) bool {
	return errors.Is(err, store.ErrAgain) || endedByConcurrentTransaction(sqlState(err))
}

// Outage says whether err means that the server fails: it has no disk (53100) or connections left,
// is read-only (25006), or has crashed; see [store.OutageTeller].
func (*Store) Outage(err error) bool { return fails(err) }

// Outage is that of a Store. It knows the errors of every driver that have a method SQLState.
func (*Appender) Outage(err error) bool { return fails(err) }

// marking is one call of Mark.
type marking struct {
	*storekit.Marking

	statements *statementSet
	in         session
	consumer   string
}

// markAll writes the marks, and compares the sums of those that were there.
func markAll(ctx context.Context, statements *statementSet, in session, consumer string, marks []store.Mark) ([]bool, error) {
	checked, err := storekit.NewMarking(consumer, marks)
	if err != nil {
		return nil, badMarks(consumer, err)
	}
	m := marking{Marking: checked, statements: statements, in: in, consumer: consumer}
	written, err := m.write(ctx)
	if err == nil && written < len(m.Marks) {
		err = m.compare(ctx)
	}
	if err != nil {
		return nil, markError(consumer, err)
	}
	return m.Answer(), nil
}

// write returns how many marks were written, and notes which.
func (m *marking) write(ctx context.Context) (written int, err error) {
	if len(m.Marks) == 0 {
		return 0, nil
	}
	if len(m.Marks) == 1 && ascii(m.consumer) {
		n, err := m.in.exec(ctx, m.one())
		if n > 0 {
			m.Fresh(0)
		}
		return int(n), err
	}
	var id []byte
	err = m.in.query(ctx, m.many(), []any{&id}, func() error {
		if i, ours := m.Find(id); ours {
			m.Fresh(i)
			written++
		}
		return nil
	})
	return written, err
}

// one is the statement that anybody would write by hand.
func (m *marking) one() command {
	k := &m.Marks[0]
	if k.Sum == (store.Sum{}) {
		return command{m.statements.get("mark_one", "").sql, []any{m.consumer, []byte(k.ID)}}
	}
	return command{m.statements.get("mark_one_with_sum", "").sql, []any{m.consumer, []byte(k.ID), k.Sum[:]}}
}

func (m *marking) many() command {
	var ids, sums list
	some := false
	for i := range m.Marks {
		k := &m.Marks[i]
		ids.bytes([]byte(k.ID))
		if k.Sum == (store.Sum{}) {
			sums.plain("NULL")
			continue
		}
		some = true
		sums.bytes(k.Sum[:])
	}
	text := "{}"
	if some {
		text = sums.close()
	}
	return command{m.statements.get("mark_many", "").sql, []any{[]byte(m.consumer), ids.close(), text}}
}

// compare refuses a mark whose sum is another than the one that was recorded with its id. A mark that was
// forgotten since it was met has no row, and compares with nothing.
func (m *marking) compare(ctx context.Context) error {
	var ask list
	for i := range m.Marks {
		if m.Compares(i) {
			ask.bytes([]byte(m.Marks[i].ID))
		}
	}
	if len(ask.b) == 0 {
		return nil
	}
	var id, sum []byte
	var other error
	text := command{m.statements.get("marked_sums", "").sql, []any{[]byte(m.consumer), ask.close()}}
	err := m.in.query(ctx, text, []any{&id, &sum}, func() error {
		if i, ours := m.Find(id); ours {
			other = cmp.Or(other, m.Repeated(i, sum))
		}
		return nil
	})
	return cmp.Or(err, other)
}

// ascii says that a text is the same bytes in every client_encoding.
func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

const (
	fixMark        = "an id has 1 to 255 bytes"
	fixHiddenMarks = "row-level security of postbag._once would hide marks, and messages be applied twice or never: give this role BYPASSRLS, or switch it off for that table"
)

// badMarks says what Mark was doing when it met an error of its arguments, or of bytes.
func badMarks(consumer string, err error) error {
	if errors.Is(err, store.ErrOtherBytes) {
		err = fmt.Errorf("%w; roll the transaction back, and see who gave two messages one id", err)
	}
	return fmt.Errorf("pgstore: mark messages of consumer %q: %w", consumer, err)
}

// markError says what to do about an error of Mark.
func markError(consumer string, err error) error {
	doing := "mark messages of consumer " + strconv.Quote(consumer)
	code := sqlState(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrOtherBytes):
		return badMarks(consumer, err)
	case code == codeNoTable, code == codeNoSchema, code == codeNoColumn:
		return fmt.Errorf("pgstore: %s: table postbag._once is missing: %w", doing, store.ErrSchema)
	case endedByConcurrentTransaction(code):
		return &fault{doing: doing, said: serverMessage(err), fix: "roll the transaction back and run it again", cause: cause(err)}
	case hidesMarks(err):
		return &fault{doing: doing, said: serverMessage(err), fix: fixHiddenMarks, cause: hidden(err)}
	case code == codeCheck:
		return &fault{doing: doing, said: serverMessage(err), fix: fixMark, cause: hidden(err)}
	case code == codeNoParameter:
		return rewritten(doing)
	}
	return translateError(doing, err)
}

// hidesMarks says that row-level security applies. The constraint says so if no policy refuses the row before.
func hidesMarks(err error) bool {
	switch sqlState(err) {
	case codeCheck:
		return strings.Contains(err.Error(), "_once_visible")
	case codeNoRight:
		return strings.Contains(err.Error(), "row-level security")
	}
	return false
}

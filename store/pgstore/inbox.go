package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
)

// Mark implements store.Inbox. Nothing of a mark is changed later, and its time counts
// from this call on, by the database's clock.
func (s *Store) Mark(ctx context.Context, tx pgx.Tx, consumer string, marks []store.Mark) ([]bool, error) {
	if tx == nil {
		return nil, postbag.ErrNoTx
	}
	m := marking{statements: s.statements, in: pgxSession{s, tx}, consumer: consumer, marks: marks}
	return m.run(ctx)
}

// Mark implements store.Inbox, as that of a Store does.
func (d *Appender) Mark(ctx context.Context, tx postbag.SQLTx, consumer string, marks []store.Mark) ([]bool, error) {
	if tx == nil {
		return nil, postbag.ErrNoTx
	}
	m := marking{statements: d.catalog, in: sqlSession{tx}, consumer: consumer, marks: marks}
	return m.run(ctx)
}

// marking is one call of Mark.
type marking struct {
	statements *statementSet
	in         session
	consumer   string
	marks      []store.Mark
	// order has the first mark of each id, by the bytes of the ids. Who locks in this order waits in no circle.
	order []int
	fresh []bool
}

// run writes the marks, and compares the sums of those that were there.
func (m *marking) run(ctx context.Context) ([]bool, error) {
	m.fresh = make([]bool, len(m.marks))
	written, err := m.write(ctx)
	if err == nil && written < len(m.marks) {
		err = m.compare(ctx)
	}
	if err != nil {
		return nil, markError(m.consumer, err)
	}
	return m.fresh, nil
}

// write returns how many marks were written, and notes which.
func (m *marking) write(ctx context.Context) (written int, err error) {
	if len(m.marks) == 1 && ascii(m.consumer) {
		n, err := m.in.exec(ctx, m.one())
		m.fresh[0] = n > 0
		return int(n), err
	}
	m.sort()
	if len(m.order) == 0 {
		return 0, nil
	}
	var id []byte
	err = m.in.query(ctx, m.many(), []any{&id}, func() error {
		if k, found := m.place(store.MessageID(id)); found {
			m.fresh[m.order[k]] = true
			written++
		}
		return nil
	})
	return written, err
}

// one is the statement that anybody would write by hand.
func (m *marking) one() command {
	k := &m.marks[0]
	if k.Sum == (store.Sum{}) {
		return command{m.statements.get("mark_one", "").sql, []any{m.consumer, []byte(k.ID)}}
	}
	return command{m.statements.get("mark_one_with_sum", "").sql, []any{m.consumer, []byte(k.ID), k.Sum[:]}}
}

func (m *marking) many() command {
	var ids, sums list
	some := false
	for _, i := range m.order {
		k := &m.marks[i]
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

func (m *marking) sort() {
	m.order = make([]int, len(m.marks))
	for i := range m.order {
		m.order[i] = i
	}
	slices.SortStableFunc(m.order, func(a, b int) int { return cmp.Compare(m.marks[a].ID, m.marks[b].ID) })
	m.order = slices.CompactFunc(m.order, func(a, b int) bool { return m.marks[a].ID == m.marks[b].ID })
}

// place returns where in order an id is.
func (m *marking) place(id store.MessageID) (int, bool) {
	return slices.BinarySearchFunc(m.order, id, func(i int, id store.MessageID) int { return cmp.Compare(m.marks[i].ID, id) })
}

// compare refuses a mark whose sum is another than the one that was recorded with its id, by this call or before.
func (m *marking) compare(ctx context.Context) error {
	if m.order == nil {
		m.sort()
	}
	recorded := make([]store.Sum, len(m.order))
	var ask list
	asked := make([]bool, len(m.order))
	for i := range m.marks {
		k, _ := m.place(m.marks[i].ID)
		switch {
		case m.fresh[m.order[k]]:
			recorded[k] = m.marks[m.order[k]].Sum
		case m.marks[i].Sum != store.Sum{} && !asked[k]:
			asked[k] = true
			ask.bytes([]byte(m.marks[i].ID))
		}
	}
	if len(ask.b) > 0 {
		if err := m.sums(ctx, ask.close(), recorded); err != nil {
			return err
		}
	}
	for i := range m.marks {
		k, _ := m.place(m.marks[i].ID)
		if sum := m.marks[i].Sum; sum != (store.Sum{}) && recorded[k] != (store.Sum{}) && sum != recorded[k] {
			return fmt.Errorf("pgstore: mark message %s of consumer %q: %w; roll the transaction back, and see who gave two messages one id",
				storekit.Printable(string(m.marks[i].ID)), m.consumer, store.ErrOtherBytes)
		}
	}
	return nil
}

// sums reads what was recorded. A mark that was forgotten since it was met has no row, and compares with nothing.
func (m *marking) sums(ctx context.Context, ids string, recorded []store.Sum) error {
	var id, sum []byte
	ask := command{m.statements.get("marked_sums", "").sql, []any{[]byte(m.consumer), ids}}
	return m.in.query(ctx, ask, []any{&id, &sum}, func() error {
		if k, found := m.place(store.MessageID(id)); found {
			copy(recorded[k][:], sum)
		}
		return nil
	})
}

// ascii says that a text is the same bytes in every client_encoding.
func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

const (
	fixMark        = "a consumer's name has 1 to 100 bytes, an id 1 to 255, and a sum 32"
	fixHiddenMarks = "row-level security of postbag._once would hide marks, and messages be applied twice or never: give this role BYPASSRLS, or switch it off for that table"
)

// markError says what to do about an error of Mark.
func markError(consumer string, err error) error {
	doing := "mark messages of consumer " + strconv.Quote(consumer)
	code := sqlState(err)
	switch {
	case err == nil, errors.Is(err, store.ErrOtherBytes):
		return err
	case code == codeNoTable, code == codeNoSchema, code == codeNoColumn:
		return fmt.Errorf("pgstore: %s: table postbag._once is missing: %w", doing, store.ErrSchema)
	case metAnother(code):
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

package sqlkit

import (
	"errors"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Letters writes the dead letters of a settlement that the transaction has just applied, one
// after the other. The database copies the payloads. unwritten says which letters the
// database refused, and the audit log has that too. err is one that ends the transaction.
func (t *Tx) Letters(s *store.Settlement) (unwritten, err error) {
	if !storekit.HasLetters(s) {
		return nil, nil
	}
	refused := map[string][]int64{} // by box
	why := map[string]error{}
	for i := range s.Park {
		p := &s.Park[i]
		if !storekit.IsLetter(p) {
			continue
		}
		err := t.NoLetters
		if err == nil {
			err = t.letter(s, p)
		}
		switch {
		case err == nil:
		case t.NoLetters != nil || t.Refused(err):
			refused[p.DeadTo] = append(refused[p.DeadTo], p.Seq)
			why[p.DeadTo] = t.Translate("write a dead letter to box "+p.DeadTo, err)
		default:
			return nil, err
		}
	}
	for box, seqs := range refused {
		what := storekit.NoLetter(s.Ref, box, seqs)
		if _, err := t.Exec(SQLAudit, t.Now, storekit.Itself, why[box].Error(), what); err != nil {
			return nil, err
		}
		unwritten = errors.Join(unwritten, fmt.Errorf("%s: %w", what, why[box]))
	}
	return unwritten, nil
}

// letter writes one. A message that is not in the log is not parked, and has none.
func (t *Tx) letter(s *store.Settlement, p *store.Park) error {
	var row logRow
	found, err := t.Row(t.In(s.Box, sqlLetter), []any{p.Seq}, append(row.listDest(), &row.headers)...)
	if err != nil || !found {
		return err
	}
	rec := row.record()
	m := storekit.DeadLetter(&s.Lease, p, &rec, TimeOf(t.Now))
	headers, err := storekit.HeadersText(m.Headers)
	if err != nil {
		return err
	}
	return t.WriteLetter(t, Letter{Message: &m, Headers: headers, From: s.Box, Seq: p.Seq, To: p.DeadTo})
}

// checkLetters says what stands against dead letters in a box: it is not there, or may not be
// written to. A fault is of the spec, an error of the database.
func (t *Tx) checkLetters(from, box string) (fault, err error) {
	to, found, err := t.RuleOf(box)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return fmt.Errorf("box %s, for its dead letters: %w", box, store.ErrNoBox), nil
	}
	own, _, err := t.RuleOf(from)
	if err != nil {
		return nil, err
	}
	switch fault := storekit.LettersFit(own, to, box); {
	case fault != nil:
		return fault, nil
	case t.MayWriteLetters == "":
		return nil, nil
	}
	if _, err := t.Exec(t.In(box, t.MayWriteLetters)); err != nil {
		if t.Refused(err) {
			return t.Translate("write dead letters to box "+box, err), nil
		}
		return nil, err
	}
	return nil, nil
}

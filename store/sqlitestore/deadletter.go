package sqlitestore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// endedByLetterError says that a trigger of the box ended the whole transaction, by RAISE(ROLLBACK).
type endedByLetterError struct{ why error }

func (e *endedByLetterError) Error() string {
	return "a dead letter ended the transaction: " + e.why.Error()
}

// writeLetter is [sqlkit.Dialect.WriteLetter]. What a trigger did before it failed is undone.
func writeLetter(t *sqlkit.Tx, l sqlkit.Letter) error {
	if _, err := t.Exec(`SAVEPOINT postbag_letter`); err != nil {
		return err
	}
	err := insertLetter(t, l)
	if err != nil {
		if _, gone := t.Exec(`ROLLBACK TO postbag_letter`); gone != nil && refused(err) {
			return &endedByLetterError{err}
		}
	}
	_, released := t.Exec(`RELEASE postbag_letter`)
	return cmp.Or(err, released)
}

func insertLetter(t *sqlkit.Tx, l sqlkit.Letter) error {
	_, err := t.Exec(fmt.Sprintf(sqlLetter, quoted(l.To), quoted(l.From)),
		l.ID[:], t.Now, l.Topic, l.Key, l.ShardKey, l.Type, nullable(l.Headers), l.Seq)
	return err
}

// refused is [sqlkit.Dialect.Refused]. A statement that a constraint ends is undone alone.
func refused(err error) bool {
	if _, ended := errors.AsType[*endedByLetterError](err); ended {
		return false
	}
	return rowRefused(err) || slices.Contains([]int{codeError, codeTooBig, codeMismatch}, resultCode(err))
}

func hasLetters(s store.Settlement) bool { return storekit.HasLetters(&s) }

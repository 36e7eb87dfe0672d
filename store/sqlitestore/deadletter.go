package sqlitestore

import (
	"fmt"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// writeLetter is [sqlkit.Dialect.WriteLetter].
func writeLetter(t *sqlkit.Tx, l sqlkit.Letter) error {
	_, err := t.Exec(fmt.Sprintf(sqlLetter, quoted(l.To), quoted(l.From)),
		l.ID[:], t.Now, l.Topic, l.Key, l.ShardKey, l.Type, nullable(l.Headers), l.Seq)
	return err
}

// refused is [sqlkit.Dialect.Refused]. A statement that a constraint ends is undone alone.
func refused(err error) bool {
	return rowRefused(err) || resultCode(err) == codeTooBig || err != nil && strings.Contains(err.Error(), "no such table: postbag_")
}

func hasLetters(s store.Settlement) bool { return storekit.HasLetters(&s) }

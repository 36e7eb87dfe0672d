package sqlitestore

import (
	"errors"
	"fmt"

	"github.com/postbag/postbag/store/sqlkit"
)

// blank overwrites a message. Its table has a trigger that refuses every change, which
// is taken away and put back within the transaction: nobody else writes meanwhile.
func blank(t *sqlkit.Tx, box string, seq int64, shardKey string) error {
	name := "postbag_" + box + "__fixed"
	var text string
	guarded, err := t.Row(sqlTriggerText, []any{name}, &text)
	if err != nil {
		return err
	}
	if guarded {
		if _, err := t.Exec(fmt.Sprintf(sqlDropTrigger, name)); err != nil {
			return err
		}
	}
	if err := overwrite(t, fmt.Sprintf(sqlBlank, quoted(box)), shardKey, seq); err != nil || !guarded {
		return err
	}
	_, err = t.Exec(text)
	return err
}

// overwrite runs a change whose old bytes are overwritten in the file too.
func overwrite(t *sqlkit.Tx, text string, args ...any) error {
	var was int
	if _, err := t.Row(sqlSecure, nil, &was); err != nil {
		return err
	}
	if _, err := t.Row(fmt.Sprintf(sqlSetSecure, 1), nil, new(int)); err != nil {
		return err
	}
	_, err := t.Exec(text, args...)
	_, end := t.Row(fmt.Sprintf(sqlSetSecure, was), nil, new(int))
	return errors.Join(err, end)
}

package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// Primary result codes of SQLite (sqlite.org/rescode.html); the low byte of an
// extended code.
const (
	codeError    = 1
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeTooBig   = 18
	codeRefused  = 19
	codeMismatch = 20
	codeNotADB   = 26
)

// resultCode returns SQLite's primary result code, or zero for another error: those of other
// libraries, and of applications, can have a method Code, too.
func resultCode(err error) int {
	if refused, is := errors.AsType[*sqlite.Error](err); is {
		return refused.Code() & 0xff
	}
	return 0
}

func isBusy(err error) bool {
	code := resultCode(err)
	return code == codeBusy || code == codeLocked
}

// fails says whether the database itself fails, and not what it was asked. What one statement can
// cause each time is not among it: memory that is used up (7), a row that is damaged (11), and a
// file that a handler attaches and that cannot be opened (14) or is no database (26). Where the
// whole file is so, the mark before the handler fails, too.
func fails(err error) bool {
	switch resultCode(err) {
	case codeReadOnly, codeIO, codeFull:
		return true
	}
	return errors.Is(err, store.ErrStandby)
}

// rowRefused says whether a row has a value that its table does not allow. Headers that
// are no JSON make a CHECK fail with a general error.
func rowRefused(err error) bool {
	return resultCode(err) == codeRefused || err != nil && strings.Contains(err.Error(), "malformed JSON")
}

// translateError wraps err, once, with what failed and what to do about it.
// SQLite's messages name tables, columns and constraints and never a value.
func translateError(doing string, err error) error { return sqlkit.Tell(doing, err, translate) }

func translate(doing string, err error) error {
	switch {
	case storekit.Said(err, ErrBusy), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("sqlitestore: %s: %w", doing, err)
	case strings.Contains(err.Error(), "no such table: postbag__"):
		return fmt.Errorf("sqlitestore: %s: %w", doing, store.ErrSchema)
	case strings.Contains(err.Error(), "no such table: postbag_"):
		return fmt.Errorf("sqlitestore: %s: %w", doing, store.ErrNoBox)
	}
	if ended := sqlkit.EndedTx(err); ended != nil {
		return fmt.Errorf("sqlitestore: %s: %w", doing, ended)
	}
	switch code := resultCode(err); code {
	case codeRefused:
		if text := err.Error(); strings.Contains(text, numberName) || strings.Contains(text, "takes slots by number") {
			return fmt.Errorf("sqlitestore: %s: %w", doing, sqlkit.NoNumber(err))
		}
		return fmt.Errorf("sqlitestore: %s: %w", doing, err)
	case codeBusy, codeLocked:
		return fmt.Errorf("sqlitestore: %s: %w: %w", doing, err, ErrBusy)
	case codeReadOnly:
		return fmt.Errorf("sqlitestore: %s: %w: %w", doing, err, store.ErrStandby)
	default:
		return fmt.Errorf("sqlitestore: %s: %w%s", doing, err, fixOf(code))
	}
}

func fixOf(code int) string {
	switch code {
	case codeFull:
		return "; the disk is full: make room, nothing is lost"
	case codeIO:
		return "; the disk failed: look at the system's log before going on"
	case codeCorrupt, codeNotADB:
		return "; the file is damaged or no database: stop its writers and restore a backup"
	case codeTooBig:
		return "; the message is larger than SQLite's limit: send a reference to it"
	}
	return ""
}

// ErrBusy says that the one writer lock of the database was not to be had in time.
var ErrBusy = errors.New("the database stayed locked; " +
	"keep write transactions short, end those that were forgotten, or raise Options.BusyTimeout")

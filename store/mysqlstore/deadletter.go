package mysqlstore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// writeLetter is [sqlkit.Dialect.WriteLetter]. One that met a tombstone is given another seq.
func writeLetter(t *sqlkit.Tx, l sqlkit.Letter) error {
	text := fmt.Sprintf(sqlLetter, tableOf(l.To), tableOf(l.From))
	for n := 0; ; n++ {
		_, err := t.Exec(text, l.ID[:], []byte(l.Topic), []byte(l.Key), []byte(l.ShardKey), []byte(l.Type), l.Headers, l.Seq)
		if codeOf(err) != codeDuplicate || n >= repeats {
			return err
		}
	}
}

// refused is [sqlkit.Dialect.Refused]. A statement that fails so is undone alone.
func refused(err error) bool {
	switch codeOf(err) {
	case codeNoTable, codeDenied, codeColumnDenied, codePacketTooLarge:
		return true
	case codeSignal, codeNoPartitionFor, codeTriggerUpdates, codeDefiner, codeForeignParent, codeForeignChild, codeNoDefault,
		codeOutOfRange, codeBadValue, codeDuplicate, codeNoRoutine, codeRoutineDenied, codeNoColumn:
		return true // a trigger, a partition or a constraint of the box
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok && slices.Contains(classesOfRows, string(e.SQLState[:2])) {
		return true
	}
	return rowRefused(err)
}

// classesOfRows are the classes of SQLSTATE that concern what is written. A trigger chooses its number and its state as it
// likes. None is of a deadlock (40), of a wait for a lock (HY), or of a server that ends (08, 70).
var classesOfRows = []string{"21", "22", "23", "42", "44", "45"}

// By these a box refuses a letter, that somebody gave a trigger, partitions or constraints.
const (
	codeSignal         = 1644 // or another, if the trigger says so
	codeNoPartitionFor = 1526
	codeTriggerUpdates = 1442
	codeDefiner        = 1449
	codeForeignParent  = 1216
	codeForeignChild   = 1452
	codeNoDefault      = 1364
	codeOutOfRange     = 1264
	codeBadValue       = 1366
	codeNoColumn       = 1054
)

func hasLetters(s store.Settlement) bool { return storekit.HasLetters(&s) }

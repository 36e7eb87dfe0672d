package mysqlstore

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// Error numbers, of both servers unless said otherwise (dev.mysql.com, "Server
// Error Message Reference"; mariadb.com/kb, "MariaDB Error Codes").
const (
	codeNull           = 1048
	codeNoDatabase     = 1049
	codeColumnThere    = 1060
	codeKeyThere       = 1061
	codeCheckThere     = 3822 // MySQL
	codeForeignThere   = 1826 // so MariaDB says it of a check, too
	codeDuplicate      = 1062
	codeNoTable        = 1146
	codeNoVariable     = 1193
	codeStatementTime  = 1969 // MariaDB's
	codeExecutionTime  = 3024 // MySQL's
	codePacketTooLarge = 1153
	codeLockWait       = 1205
	codeDeadlock       = 1213
	codeReadOnly       = 1290 // also: another option forbids it
	codeReadOnlyTx     = 1792
	codeReadOnlyMode   = 1836 // MySQL's innodb_read_only
	codeStatementLog   = 1665
	codeSecondary      = 3100 // MySQL: a plug-in refuses, as on a secondary of a group
	codeTableFull      = 1114
	codeDiskFull       = 1021
	codeWriteFails     = 3    // a file cannot be written, as for a disk without room
	codeFileFull       = 20   // a file waits for room
	codeLogWrite       = 1026 // a log file cannot be written
	codeEngine         = 1030 // the engine failed; the number behind it says for what
	codeCommit         = 1180 // as codeEngine, at the commit
	codeTooMany        = 1040
	codeNoThread       = 1135
	codeBinlogStopped  = 1598 // MySQL: the binary log cannot be written
	codeOffline        = 3032 // MySQL's offline_mode
	codeNotReady       = 1047 // a node of a Galera cluster that has no quorum, too
	codeCheckMySQL     = 3819
	codeCheckMariaDB   = 4025
	codeTooLong        = 1406
	codeNoRoutine      = 1305
	codeRoutineDenied  = 1370
	codeSpecialDenied  = 1227 // the procedure belongs to an account with more rights
	codeBadJSON        = 3141 // MySQL: a function was given what is no JSON
	codeDenied         = 1142
	codeColumnDenied   = 1143
	codeAccessDenied   = 1045
	codeDatabaseDenied = 1044
	codeKilled         = 1317
	codeTableChanged   = 1412
	codeNoPartition    = 1507
	codeUnknownPrepare = 1243
	codeShutdown       = 1053
	codeConnKilled     = 1927 // MariaDB
	codeRecordChanged  = 1020 // MariaDB, with innodb_snapshot_isolation: another has changed the row since
	codeXATimeout      = 1613
	codeXADeadlock     = 1614
)

// codeOf returns the server's error number, or zero for another error.
func codeOf(err error) uint16 {
	if refused, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return refused.Number
	}
	return 0
}

// fails says whether the server itself fails, and not what it was asked. What one statement can
// cause each time is not among it: memory that is used up (1037, 1041), temporary tables and files
// that have no room, a transaction that is too large for a group (3100), and the end of its session
// (1053): a server that is being stopped says so, but also one on which somebody killed it because
// its statement took too long.
func fails(err error) bool {
	refused, is := errors.AsType[*mysql.MySQLError](err)
	if !is {
		return errors.Is(err, store.ErrStandby)
	}
	switch refused.Number {
	case codeTooMany, codeNoThread, codeBinlogStopped, codeOffline, codeNotReady, codeReadOnlyTx, codeReadOnlyMode:
		return true
	case codeTableFull, codeDiskFull, codeWriteFails, codeFileFull, codeLogWrite:
		return !temporary.MatchString(refused.Message)
	case codeReadOnly: // also for what other options forbid, such as secure_file_priv
		return readOnlyOption.MatchString(refused.Message)
	case codeEngine, codeCommit:
		return systemError.MatchString(refused.Message)
	}
	return false
}

// readOnlyOption matches the options that make a server refuse all writes. systemError matches
// an error number of the system in a message: a disk that fails (5), a full disk (28), a read-only
// file system (30). temporary matches the names of temporary tables, and of the files of a sort.
var (
	readOnlyOption = regexp.MustCompile(`read[-_]only`)
	systemError    = regexp.MustCompile(`error (5|28|30)\b`)
	temporary      = regexp.MustCompile(`#sql|[/\\]M[YL][^/\\]*'`)
)

// rowRefused says whether a row has a value that its table does not allow.
func rowRefused(err error) bool {
	switch codeOf(err) {
	case codeCheckMySQL, codeCheckMariaDB, codeTooLong, codeNull, codeBadJSON:
		return true
	}
	return false
}

// again says whether a transaction that failed so may simply be run again.
func again(err error) bool {
	code := codeOf(err)
	return code == codeDeadlock || code == codeLockWait
}

// translateError wraps err, once, with what failed and what to do about it.
func translateError(doing string, err error) error { return sqlkit.Tell(doing, err, translate) }

func translate(doing string, err error) error {
	if storekit.Said(err, errStatementLog, errTooLarge) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("mysqlstore: %s: %w", doing, err)
	}
	if ended := sqlkit.EndedTx(err); ended != nil {
		return fmt.Errorf("mysqlstore: %s: %w", doing, ended)
	}
	if noNumber(err) {
		return fmt.Errorf("mysqlstore: %s: %w", doing, sqlkit.NoNumber(err))
	}
	text := serverMessage(err)
	switch code := codeOf(err); code {
	case codeNoTable:
		if tableName.MatchString(err.Error()) {
			return fmt.Errorf("mysqlstore: %s: %w", doing, store.ErrSchema)
		}
		return fmt.Errorf("mysqlstore: %s: %w", doing, store.ErrNoBox)
	case codeReadOnly, codeReadOnlyTx, codeReadOnlyMode, codeSecondary:
		return fmt.Errorf("mysqlstore: %s: %s: %w", doing, text, store.ErrStandby)
	case codeStatementLog:
		return fmt.Errorf("mysqlstore: %s: %w", doing, errStatementLog)
	case codeDenied, codeColumnDenied, codeDatabaseDenied:
		return fmt.Errorf("mysqlstore: %s: %w%s", doing, &lacking{plain{text: text, err: err}}, fixOf(code))
	default:
		return fmt.Errorf("mysqlstore: %s: %w%s", doing, &plain{text: text, err: err}, fixOf(code))
	}
}

// tableName matches a table of ours that is not a box's.
var tableName = regexp.MustCompile(`postbag__[a-z]`)

// plain is an error of the driver or the server without the values that a
// server's message may quote.
type plain struct {
	text string
	err  error
}

func (p *plain) Error() string { return p.text }
func (p *plain) Unwrap() error { return p.err }

// lacking is plain, and store.ErrDenied.
type lacking struct{ plain }

func (l *lacking) Unwrap() []error { return []error{store.ErrDenied, l.err} }

// serverMessage returns the message of the server, without what some of them
// quote: the value of a duplicate key, a column's value, a piece of a statement.
func serverMessage(err error) string {
	refused, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return err.Error()
	}
	switch refused.Number {
	case codeNoTable, codeNoDatabase, codeLockWait, codeDeadlock, codeReadOnly, codeReadOnlyTx, codeStatementLog,
		codeCheckMySQL, codeCheckMariaDB, codeTooLong, codePacketTooLarge, codeTableFull, codeDiskFull,
		codeDenied, codeColumnDenied, codeAccessDenied, codeDatabaseDenied, codeKilled, codeShutdown, codeConnKilled,
		codeUnknownPrepare, codeSecondary, codeReadOnlyMode, codeNoVariable, codeXATimeout, codeXADeadlock:
		return refused.Error()
	}
	return fmt.Sprintf("the server refused with error %d (%s)", refused.Number, refused.SQLState[:])
}

func fixOf(code uint16) string {
	switch code {
	case codeTableFull, codeDiskFull:
		return "; the disk is full: make room, nothing is lost"
	case codePacketTooLarge:
		return "; raise max_allowed_packet, or send a reference to the payload"
	case codeDenied, codeColumnDenied, codeDatabaseDenied:
		return "; grant the right that is missing: docs/reference/mysql.md lists them"
	case codeNoVariable:
		return "; correct the parameters in the DSN: what the driver does not know is set as a variable of the server"
	case codeLockWait, codeDeadlock, codeRecordChanged, codeXATimeout, codeXADeadlock:
		return "; roll the transaction back and run it again"
	case codeCheckMySQL, codeCheckMariaDB, codeTooLong:
		return "; a column has a value that the contract of the table does not allow"
	}
	return ""
}

var (
	errStatementLog = errors.New("binlog_format is STATEMENT, with which the server refuses writes of READ COMMITTED sessions; " +
		"set binlog_format = ROW")

	errTooLarge = errors.New("the message is larger than the server takes; raise max_allowed_packet, or send a reference to the payload")
)

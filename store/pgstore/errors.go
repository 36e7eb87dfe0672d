package pgstore

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// SQLSTATE codes (PostgreSQL manual, appendix A), and one of our own.
const (
	codeFeatureNotSupported = "0A000"
	codeReadOnly            = "25006"
	codeTxFailed            = "25P02"
	codeNoStatement         = "26000"
	codeNoSchema            = "3F000"
	codeSerialization       = "40001"
	codeDeadlock            = "40P01"
	codeDuplicateStatement  = "42P05"
	codeDuplicateSchema     = "42P06"
	codeDuplicateTable      = "42P07"
	codeNoColumn            = "42703"
	codeNoFunction          = "42883"
	codeNoRight             = "42501"
	codeNoTable             = "42P01"
	codeNoParameter         = "42P02"
	codeNoType              = "42704"
	codeBadValue            = "22023"
	codeNotNow              = "55P02"
	codeUnique              = "23505"
	codeCheck               = "23514"
	codeNotNull             = "23502"
	codeLockTimeout         = "55P03"
	codeOutOfDisk           = "53100"
	codeShutdown            = "57P01"
	codeCrashed             = "57P02" // another session's process crashed, and all are ended
	codeStarting            = "57P03"
	codeLogin               = "28000"
	codePassword            = "28P01"
	codeNoDatabase          = "3D000"
	codeTooMany             = "53300"
	codeRefused             = "PB001" // postbag._refuse
)

// sqlState returns the SQLSTATE of a server's error, or "" for another.
func sqlState(err error) string {
	var e interface{ SQLState() string }
	if errors.As(err, &e) {
		return e.SQLState()
	}
	return ""
}

// fails says whether the server itself fails, and not what it was asked. What one statement can
// cause each time is not among it: memory (53200) or temporary files (53400) that are used up, a
// row that is damaged (XX001), and the end of its session (57P01), by which a server that is being
// stopped can be told only from one on which somebody ends what takes too long.
func fails(err error) bool {
	switch sqlState(err) {
	case codeOutOfDisk:
		e, is := errors.AsType[*pgconn.PgError](err)
		return !is || !slices.Contains(passing, e.File)
	case codeTooMany, codeReadOnly, codeCrashed, codeStarting:
		return true
	}
	return errors.Is(err, store.ErrStandby)
}

// passing are the files of the server's source that write what a statement needs while it runs:
// memory that the workers of a query share, and temporary files.
var passing = []string{"dsm_impl.c", "buffile.c", "logtape.c"}

// standbyRead says that a server in recovery refused to show an unlogged table.
func standbyRead(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == codeFeatureNotSupported && e.Routine == "get_relation_info"
}

// fault is an error of the store: what it was doing, what the server said with
// no value of a row in it, and what to do.
type fault struct {
	doing, said, fix string
	cause            error // for errors.Is and As of what it stands for; nil hides the driver's
}

func (f *fault) Error() string {
	text := "pgstore: " + f.doing + ": " + f.said
	if f.fix != "" {
		text += "; " + f.fix
	}
	return text
}

func (f *fault) Unwrap() error { return f.cause }

// translateError wraps err, once, with what failed and what to do about it. Of a
// server's error only the message is kept: its detail quotes rows.
func translateError(doing string, err error) error {
	var done *fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), storekit.Said(err, errRow), errors.Is(err, store.ErrSlotRule):
		return wrapOurs(doing, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("pgstore: %s: %w; give it more time, or look what it waits for", doing, contextError(err))
	case errors.Is(err, pgx.ErrTxClosed), errors.Is(err, sql.ErrTxDone):
		return fmt.Errorf("pgstore: %s: %w", doing, &endedTxError{err})
	case standbyRead(err), sqlState(err) == codeReadOnly:
		return readOnlyError(doing, err)
	}
	if logFull(err) {
		return &fault{doing: doing, said: serverMessage(err), fix: fixFull, cause: hidden(err)}
	}
	if noNumber(err) {
		said := strings.TrimPrefix(store.ErrNoNumber.Error(), "store: ")
		return &fault{doing: doing, said: said, cause: errors.Join(store.ErrNoNumber, hidden(err))}
	}
	if code := sqlState(err); code != "" {
		return &fault{doing: doing, said: serverMessage(err), fix: fixOf(code, err), cause: cause(err)}
	}
	said, fix := lineError(err)
	return &fault{doing: doing, said: said, fix: fix, cause: hidden(err)}
}

// readOnlyError is store.ErrStandby. The code of a standby that is to write is also that of a
// transaction that may not.
func readOnlyError(doing string, err error) error {
	if sqlState(err) == codeReadOnly {
		return fmt.Errorf("pgstore: %s: %w, or begin a transaction that may write", doing, store.ErrStandby)
	}
	return fmt.Errorf("pgstore: %s: %w", doing, store.ErrStandby)
}

// endedTxError is postbag.ErrTxEnded, and the driver's error.
type endedTxError struct{ driver error }

func (*endedTxError) Error() string     { return postbag.ErrTxEnded.Error() }
func (e *endedTxError) Unwrap() []error { return []error{postbag.ErrTxEnded, e.driver} }

// fixOf says what to do about an error of the server. While connecting, the only
// names that it can miss, and values that it can refuse, are those of parameters.
func fixOf(code string, err error) string {
	var connect *pgconn.ConnectError
	if slices.Contains([]string{codeNoType, codeBadValue, codeNotNow}, code) && errors.As(err, &connect) {
		return "correct the parameters in the DSN"
	}
	var e *pgconn.PgError
	if code == codeNoRight && errors.As(err, &e) && e.Routine == "check_enable_rls" {
		return "row-level security would hide messages, which would be lost: give this role BYPASSRLS, or switch it off for that table"
	}
	return fixes[code]
}

// fixes say what to do about an error of the server.
var fixes = map[string]string{
	codeNoRight:            "grant the role its rights, as docs/reference/sql-contract.md lists them and pgstore.GrantProducer, GrantConsumer and GrantRelay print them, or run this as the owner of the schema",
	codeNoSchema:           "run postbag migrate up",
	codeNoTable:            "run postbag migrate up, or make the box",
	codeNoColumn:           "run postbag migrate up",
	codeNoFunction:         "run postbag migrate up",
	codeNoType:             "run postbag migrate up",
	codeTxFailed:           "an earlier statement of the transaction failed: roll back, and look at the error of that one",
	codeSerialization:      "try again",
	codeDeadlock:           "try again",
	codeLockTimeout:        "try again when the session that holds the lock is done; pg_locks shows them",
	codeOutOfDisk:          "give the server's disk room, then try again",
	codeShutdown:           "try again when the server is back",
	codeStarting:           "try again when the server is up",
	codeLogin:              "correct the user in the DSN, or let it in by the server's pg_hba.conf",
	codePassword:           "correct user and password in the DSN",
	codeNoDatabase:         "make the database, or correct its name in the DSN",
	codeTooMany:            "try again later, lower the pools' sizes, or raise the server's max_connections",
	codeNoStatement:        fixPooler,
	codeDuplicateStatement: fixPooler,
	codeCheck:              "the constraint's name says which part of the message it refuses; postbag.Publisher checks messages beforehand",
}

const fixPooler = "a pooler in transaction mode is in between: give the DSN default_query_exec_mode=exec, and try again"

const fixFull = "the log is full: run postbag migrate up --box NAME under the role that owns the tables, which adds partitions, and see why no relay did"

// logFull says whether there is no partition for a row. PostgreSQL gives that the code of a constraint, of which it then
// does not say the name; other drivers' errors have the message alone.
func logFull(err error) bool {
	if sqlState(err) != codeCheck {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.ConstraintName == "" && e.ColumnName == "" && e.DataTypeName == ""
	}
	return strings.Contains(err.Error(), "no partition of relation")
}

// noNumber says whether a box by number refused a key: see postbag._by_number. Other drivers' errors have the message alone.
func noNumber(err error) bool {
	return sqlState(err) == codeCheck && strings.Contains(err.Error(), "takes slots by number")
}

// wrapOurs adds what was being done to an error that says the rest itself.
func wrapOurs(doing string, err error) error {
	if _, ours := errors.AsType[*fault](err); ours {
		return err
	}
	return fmt.Errorf("pgstore: %s: %w", doing, err)
}

func contextError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// serverMessage returns the server's message with its code. Messages name
// tables, columns, constraints and types; the few that quote a value come from
// turning text into a type, and are left out.
func serverMessage(err error) string {
	code := sqlState(err)
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return "SQLSTATE " + code
	}
	if code[:2] == "22" {
		return "the server refused a value (SQLSTATE " + code + ")"
	}
	return fmt.Sprintf("%s (SQLSTATE %s)", e.Message, code)
}

// lineError returns what is wrong with the connection, and the fix. Drivers put
// addresses and user names into their messages, and some have put passwords
// there.
func lineError(err error) (said, fix string) {
	var op *net.OpError
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var connect *pgconn.ConnectError
	fix = "look whether the server runs and can be reached, then try again"
	switch {
	case errors.As(err, &name):
		return "the server's host name cannot be resolved", "correct the host in the DSN, or see to the name service"
	case errors.As(err, &certificate):
		return "the server's certificate is not trusted: " + certificate.Err.Error(),
			"name its authority with sslrootcert in the DSN, and the host as the certificate does"
	case errors.As(err, &op):
		return "the connection failed: " + op.Op + ": " + op.Err.Error(), fix
	case errors.As(err, &connect) && strings.Contains(connect.Unwrap().Error(), "server refused TLS connection"):
		return "the server does not speak TLS, which sslmode in the DSN asks for", "switch TLS on in the server, or choose another sslmode"
	case errors.As(err, &connect):
		return "no connection can be made", fix
	default:
		return "the connection failed: " + err.Error(), fix
	}
}

// endedByConcurrentTransaction says whether a transaction was ended because of another one.
func endedByConcurrentTransaction(code string) bool {
	return code == codeSerialization || code == codeDeadlock || code == codeLockTimeout
}

// cause is hidden, and store.ErrAgain if another transaction is to blame, store.ErrDenied if a
// right is missing.
func cause(err error) error {
	switch code := sqlState(err); {
	case endedByConcurrentTransaction(code):
		return errors.Join(store.ErrAgain, hidden(err))
	case code == codeNoRight:
		return errors.Join(store.ErrDenied, hidden(err))
	}
	return hidden(err)
}

// hidden lets errors.As find a server's error and nothing print it.
func hidden(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return &pgconn.PgError{Severity: e.Severity, Code: e.Code, Message: serverMessage(err)}
	}
	return err
}

// withoutPrepared notices a pooler that gives each transaction another session,
// on which prepared statements are missing or somebody else's. It says whether
// the round trip is worth repeating.
func (s *Store) withoutPrepared(err error) bool {
	if code := sqlState(err); code != codeNoStatement && code != codeDuplicateStatement {
		return false
	}
	s.unprepared.Store(true) // even if another call noticed it meanwhile, this one was sent before
	return true
}

// stalePlan notices that the schema has changed under a prepared statement, and
// has all connections forget theirs.
func (s *Store) stalePlan(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != codeFeatureNotSupported || e.Routine != "RevalidateCachedQuery" {
		return false
	}
	s.pool.Reset()
	return true
}

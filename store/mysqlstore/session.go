package mysqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// sessionKind is what a session is for.
type sessionKind int

const (
	// ordinary reads and writes the store's tables, READ COMMITTED.
	ordinary sessionKind = iota
	// burying writes tombstones, each a transaction of its own, and gives up soon
	// where a producer has the row.
	burying
	// dirtyReading sees what is not committed, to tell what is in flight.
	dirtyReading
)

// connector opens sessions with the settings that the store relies on, and
// verifies each.
type connector struct {
	driver.Connector

	kind sessionKind
}

func newConnector(config *mysql.Config, kind sessionKind) (*connector, error) {
	c := config.Clone()
	c.InterpolateParams = true // one round trip a statement, and nothing to keep prepared
	c.MultiStatements = true
	c.ParseTime, c.ClientFoundRows = false, false
	c.MaxAllowedPacket = 0 // the server's
	c.RejectReadOnly = false
	c.Logger = &mysql.NopLogger{} // what it says is in the errors that it returns, and standard error is not ours
	inner, err := mysql.NewConnector(c)
	return &connector{Connector: inner, kind: kind}, err
}

// sqlMode is what the store needs: a value that does not fit is an error, and 0
// is not taken for a new seq.
const sqlMode = "STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// Connect opens a session, sets it up and looks whether the settings took.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.dial(ctx)
	if err == nil {
		if err = c.setUp(ctx, conn); err == nil {
			return conn, nil
		}
		err = errors.Join(err, conn.Close())
	}
	// A dial that was cut off says only that it took too long, and may say so before
	// the context does.
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		err = context.DeadlineExceeded
	} else if ctx.Err() != nil {
		err = ctx.Err()
	}
	return nil, err
}

// dialTries is how often a session is opened whose first statement the server ended.
const dialTries = 20

// dial opens a session. Before it can be set up, the driver asks it for the largest packet. A server that limits how long statements
// take, for all sessions, may end that one too. Then it is tried again.
func (c *connector) dial(ctx context.Context) (conn driver.Conn, err error) {
	for range dialTries {
		conn, err = c.Connector.Connect(ctx)
		if code := codeOf(err); code != codeExecutionTime && code != codeStatementTime || ctx.Err() != nil {
			break
		}
	}
	return conn, err
}

// rowWait is for how many seconds a statement waits for a row.
const rowWait = 5

func (c *connector) setUp(ctx context.Context, conn driver.Conn) error {
	run, ok := conn.(interface {
		driver.ExecerContext
		driver.QueryerContext
	})
	if !ok {
		return errors.New("the driver cannot run statements without preparing them; use go-sql-driver/mysql 1.10 or newer")
	}
	level, lock := "READ COMMITTED", rowWait
	switch c.kind {
	case burying:
		lock = 1
	case dirtyReading:
		level = "READ UNCOMMITTED"
	default:
	}
	// Changes this session only. What stands in /*M! */ is MariaDB's alone.
	sets := []string{
		fmt.Sprintf("SET SESSION sql_mode = '%s', innodb_lock_wait_timeout = %d", sqlMode, lock),
		"SET SESSION TRANSACTION ISOLATION LEVEL " + level + ", READ WRITE",
		"SET NAMES utf8mb4",
	}
	for _, setting := range plainSettings {
		sets = append(sets, "SET SESSION "+setting.name+" = "+setting.set)
	}
	sets = append(sets, "/*M! SET SESSION max_statement_time = 0, check_constraint_checks = 1 */") // at the end: MySQL takes nothing before a semicolon for an error
	if _, err := run.ExecContext(ctx, strings.Join(sets, ";\n"), nil); err != nil {
		return fmt.Errorf("set up a session: %w", err)
	}
	if _, err := run.ExecContext(ctx, "SET SESSION max_execution_time = 0", nil); err != nil && codeOf(err) != codeNoVariable { // MySQL's alone
		return fmt.Errorf("set up a session: %w", err)
	}
	return verify(ctx, run, level)
}

// plainSettings are what the store relies on and a server, an account or a pooler may have set
// otherwise: how each is set, and as what it is shown.
var plainSettings = []struct{ name, set, shown string }{
	{"time_zone", "'+00:00'", "+00:00"},
	{"autocommit", "1", "ON"},
	{"sql_safe_updates", "0", "OFF"},                                     // statements whose keys the server does not see are refused
	{"completion_type", "0", "NO_CHAIN"},                                 // a COMMIT begins the next transaction, or ends the session
	{"sql_select_limit", "18446744073709551615", "18446744073709551615"}, // pages end early
	{"sql_auto_is_null", "0", "OFF"},                                     // IS NULL finds the last row that was inserted
	{"max_join_size", "18446744073709551615", "18446744073709551615"},
	{"foreign_key_checks", "1", "ON"},
	{"unique_checks", "1", "ON"},
}

// verify reads the settings back: a pooler may have sent them elsewhere, or left
// them out.
func verify(ctx context.Context, run driver.QueryerContext, level string) error {
	settings, err := settingsOf(ctx, run)
	if err != nil {
		return fmt.Errorf("verify a session: %w", err)
	}
	const advice = "connect without a pooler that keeps settings from its sessions"
	level = strings.ReplaceAll(level, " ", "-")
	isolation := settings["transaction_isolation"] + settings["tx_isolation"]
	switch {
	case !strings.Contains(isolation, level):
		return fmt.Errorf("the session's isolation level is %q although %s was set; %s", isolation, level, advice)
	case !strings.Contains(settings["sql_mode"], "STRICT_ALL_TABLES"), strings.Contains(settings["sql_mode"], "NO_AUTO_VALUE_ON_ZERO"):
		return fmt.Errorf("the session's sql_mode is %q although a strict one was set; %s", settings["sql_mode"], advice)
	case settings["character_set_client"] != "utf8mb4":
		return fmt.Errorf("the session's character_set_client is %q although utf8mb4 was set; %s", settings["character_set_client"], advice)
	}
	for _, setting := range plainSettings {
		if shown := settings[setting.name]; shown != setting.shown {
			return fmt.Errorf("the session's %s is %q although %s was set; %s", setting.name, shown, setting.shown, advice)
		}
	}
	return nil
}

// settingsOf reads what verify looks at.
func settingsOf(ctx context.Context, run driver.QueryerContext) (settings map[string]string, err error) {
	names := []string{"sql_mode", "tx_isolation", "transaction_isolation", "character_set_client"}
	for _, setting := range plainSettings {
		names = append(names, setting.name)
	}
	// Reads variables of the session. Both servers know SHOW; the variable of the
	// isolation level has another name in each.
	rows, err := run.QueryContext(ctx, "SHOW SESSION VARIABLES WHERE Variable_name IN ('"+strings.Join(names, "', '")+"')", nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	settings = make(map[string]string)
	for dest := make([]driver.Value, 2); ; {
		if err := rows.Next(dest); errors.Is(err, io.EOF) {
			return settings, nil
		} else if err != nil {
			return nil, err
		}
		name, _ := dest[0].([]byte)
		value, _ := dest[1].([]byte)
		settings[string(name)] = string(value)
	}
}

package adopt

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// myGranted are the rights that an account has by itself on a database or a table.
const myGranted = `SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = @postbag_me
	UNION SELECT PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE = @postbag_me AND ? LIKE TABLE_SCHEMA
	UNION SELECT PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES WHERE GRANTEE = @postbag_me AND TABLE_SCHEMA = ? AND TABLE_NAME = ?`

// rights refuses a plan for which the account lacks rights, and names all that are
// missing. An account that has taken a role is believed: what a role may do is not
// to be asked for.
func (d *MySQL) rights(ctx context.Context, p *Plan) error {
	return d.session(ctx, func(conn *sql.Conn) error {
		var role, me, home string
		err := conn.QueryRowContext(ctx, `SELECT COALESCE(CURRENT_ROLE(), 'NONE'), CURRENT_USER(), DATABASE()`).Scan(&role, &me, &home)
		if err != nil || role != "NONE" {
			return myError("look at the account's rights", err)
		}
		_, err = conn.ExecContext(ctx, `SET @postbag_me = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')`)
		if err != nil {
			return myError("look at the account's rights", err)
		}
		var lacks []string
		for _, on := range []struct {
			schema, table string
			needs         []string
		}{
			{home, "postbag__adopted", []string{"CREATE", "SELECT", "INSERT", "UPDATE", "DELETE"}},
			{home, "postbag_" + p.Box, []string{"INSERT"}},
			{p.Table.Schema, p.Table.Name, p.needs()},
		} {
			has, err := granted(ctx, conn, on.schema, on.table)
			if err != nil {
				return err
			}
			for _, need := range on.needs {
				if !slices.Contains(has, need) {
					lacks = append(lacks, need+" on "+on.schema+"."+on.table)
				}
			}
		}
		if p.Mode == Trigger && lacks == nil {
			return trusted(ctx, conn, home, me)
		}
		if lacks == nil {
			return nil
		}
		return fmt.Errorf("adopt: account %s lacks %s; grant it, or use an account that has it", me, strings.Join(lacks, ", "))
	})
}

// trusted refuses a trigger that a server with a binary log takes from trusted
// accounts alone.
func trusted(ctx context.Context, conn *sql.Conn, schema, me string) error {
	var lax bool
	err := conn.QueryRowContext(ctx, `SELECT NOT @@log_bin OR @@log_bin_trust_function_creators`).Scan(&lax)
	if err != nil || lax {
		return myError("look at the server's settings", err)
	}
	has, err := granted(ctx, conn, schema, "")
	if err != nil {
		return err
	}
	for _, right := range []string{"SUPER", "BINLOG ADMIN", "BINLOG_ADMIN", "SET_ANY_DEFINER", "SET_USER_ID"} {
		if slices.Contains(has, right) {
			return nil
		}
	}
	return fmt.Errorf("adopt: the server has a binary log, and lets account %s make no trigger; have log_bin_trust_function_creators set, or use an account with SUPER", me)
}

// needs are the rights on the original.
func (p *Plan) needs() []string {
	needs := []string{"SELECT"}
	switch p.Originals {
	case Mark:
		needs = append(needs, "UPDATE")
	case Delete:
		needs = append(needs, "DELETE")
	case Leave:
	}
	if p.Mode == Trigger {
		needs = append(needs, "LOCK TABLES", "TRIGGER")
	}
	return needs
}

func granted(ctx context.Context, conn *sql.Conn, schema, table string) ([]string, error) {
	var has []string
	err := each(ctx, conn, myGranted, []any{schema, schema, table}, func(rows *sql.Rows) error {
		var right string
		err := rows.Scan(&right)
		has = append(has, right)
		return err
	})
	return has, myError("look at the account's rights", err)
}

// answered are the server's errors whose texts name nothing of a row: rights, names
// and syntax.
var answered = map[uint16]string{
	1044: fixGrant, 1045: fixGrant, 1142: fixGrant, 1143: fixGrant, 1227: fixGrant, 1370: fixGrant,
	1054: "", 1064: "", 1146: "", 1305: "",
	1419: "; have an administrator set log_bin_trust_function_creators, or use an account with its rights",
	1205: "; try again", 1213: "; try again",
}

const fixGrant = "; grant the account its rights, or use one that has them"

// myError wraps an error, once, with what failed.
func myError(doing string, err error) error {
	var answer *mysql.MySQLError
	var done *answerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), errors.Is(err, sql.ErrNoRows), errors.Is(err, context.Canceled), errors.Is(err, errBusy), errors.Is(err, errTooMany), errors.Is(err, errFaulty):
		return err
	case errors.As(err, &answer):
		said := fmt.Sprintf("the server refused it (error %d)", answer.Number)
		fix, known := answered[answer.Number]
		if known {
			said = fmt.Sprintf("%s (error %d)", answer.Message, answer.Number)
		}
		return &answerError{doing, said + fix, err}
	}
	return &answerError{doing, "the connection failed; look whether the server runs and can be reached, then run this again: it goes on where it was", err}
}

package mysqlstore_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/effectstest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// The handler's own table is full. An empty transaction works there, and the marks have room. A table in memory says what one
// on a full disk says. MySQL refuses such a table beside others under GTIDs, so that server is told to say it.
func TestAFullTableCountsNoAttemptOfAHandler(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		effectstest.RunOutage(t, func(t *testing.T) effectstest.Outage[postbag.SQLTx] {
			t.Helper()
			s := newTestBox(t, k)
			s.exec("CREATE TABLE effect (n INT NOT NULL) ENGINE = InnoDB")
			s.exec("CREATE TABLE small (rest CHAR(255) NOT NULL) ENGINE = MEMORY MAX_ROWS = 50")
			var full atomic.Bool
			return effectstest.Outage[postbag.SQLTx]{
				Store: s.Store,
				Write: func(ctx context.Context, tx postbag.SQLTx, n int) error {
					if _, err := tx.ExecContext(ctx, "INSERT INTO effect VALUES ("+strconv.Itoa(n)+")"); err != nil {
						return err
					}
					text := "INSERT INTO small VALUES ('')"
					switch {
					case k.oracle && full.Load():
						text = "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table is full'"
					case k.oracle:
						return nil
					}
					_, err := tx.ExecContext(ctx, text)
					return err
				},
				Written: func() (all []int) {
					rows, err := s.plain.QueryContext(context.Background(), "SELECT n FROM effect")
					s.Must(err)
					defer func() { s.Must(rows.Close()) }()
					for rows.Next() {
						all = append(all, 0)
						s.Must(rows.Scan(&all[len(all)-1]))
					}
					s.Must(rows.Err())
					return all
				},
				Fail: func() {
					s.fillUp("small")
					full.Store(true)
				},
				Work: func() {
					s.exec("DELETE FROM small")
					full.Store(false)
				},
				Says: "1114",
			}
		})
	})
}

// fillUp adds rows to a table until it is full.
func (s *testBox) fillUp(table string) {
	s.Helper()
	row := "('" + strings.Repeat("x", 255) + "')"
	for _, rows := range []string{strings.Repeat(row+",", 99) + row, row} {
		for {
			_, err := s.plain.ExecContext(s.Context(), "INSERT INTO "+table+" VALUES "+rows)
			if err == nil {
				continue
			}
			if !strings.Contains(err.Error(), "1114") {
				s.Fatal(err)
			}
			break
		}
	}
}

func TestAnErrorOfTheServerItselfIsAnOutage(t *testing.T) {
	t.Parallel()
	said := func(number uint16, message string) error { return &mysql.MySQLError{Number: number, Message: message} }
	for _, c := range []struct {
		err  error
		want bool
	}{
		{said(1114, "The table 'effect' is full"), true},
		{said(1021, "Disk full (/tmp)"), true},
		{said(3, "Error writing file './binlog' (errno: 28 \"No space left on device\")"), true},
		{said(3, "Error writing file '/tmp/MYfd=33' (OS errno 28 - No space left on device)"), false}, // of a sort
		{said(1114, "The table '/tmp/#sql1f_5_0' is full"), false},
		{said(1041, "Out of memory"), false},
		{said(1030, `Got error 28 "No space left on device" from storage engine InnoDB`), true},
		{said(1030, "Got error 28 - 'No space left on device' from storage engine"), true},
		{said(1030, `Got error 128 "Out of memory in engine" from storage engine`), false}, // of a table's own limits
		{said(1180, `Got error 28 "No space left on device" during COMMIT`), true},
		{said(1290, "The MySQL server is running with the --super-read-only option so it cannot execute this statement"), true},
		{said(1290, "The MariaDB server is running with the --read-only option so it cannot execute this statement"), true},
		{said(1290, "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement"), false},
		{said(1836, "Running in read-only mode"), true},
		{said(1792, "Cannot execute statement in a READ ONLY transaction."), true},
		{said(3100, "Error on observer while running replication hook 'before_commit'."), false},
		{said(1040, "Too many connections"), true},
		{said(1053, "Server shutdown in progress"), false}, // or a session that was killed
		{store.ErrStandby, true},
		{said(1205, "Lock wait timeout exceeded"), false},
		{said(1062, "Duplicate entry"), false},
		{said(1317, "Query execution was interrupted"), false},
		{said(1146, "Table 'x.y' doesn't exist"), false},
		{nil, false},
		{context.DeadlineExceeded, false},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("charge: %w", err)
		}
		if (*mysqlstore.Store)(nil).Outage(err) != c.want || (&mysqlstore.Appender{}).Outage(err) != c.want {
			t.Errorf("%v is an outage: %v", err, !c.want)
		}
	}
}

// What an account without special rights gets from servers that are read-only, as a handler gets it.
func TestAWriteOnAReadOnlyServerIsAnOutage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		m := k.private(t)
		s := testBoxOn(t, databaseOn(t, m, "standby"))
		s.exec("CREATE TABLE effect (n INT NOT NULL) ENGINE = InnoDB")
		s.exec("CREATE USER writer IDENTIFIED BY 'w'")
		s.exec("GRANT INSERT ON standby.* TO writer")
		config, err := mysql.ParseDSN(m.DSN("standby"))
		s.Must(err)
		config.User, config.Passwd = "writer", "w"
		writer := openSQL(t, config.FormatDSN())
		s.Must(writer.PingContext(t.Context()))
		s.exec("SET GLOBAL read_only = 1")
		_, err = writer.ExecContext(t.Context(), "INSERT INTO effect VALUES (1)")
		if err == nil || !s.Outage(fmt.Errorf("charge: %w", err)) {
			t.Errorf("a write of a handler says %v, which is no outage", err)
		}
		s.exec("SET GLOBAL read_only = 0")
	})
}

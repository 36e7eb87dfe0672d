package mysqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/store/mysqlstore"
)

// printingEnv makes a process of the tests one that loses connections, with the
// driver's own logger. It holds what loses them, store or pool, and the DSN of an
// empty database.
const printingEnv = "POSTBAG_TEST_PRINTING"

// The driver's logger writes to standard error, which belongs to the application.
func TestAStoreThatLosesItsConnectionsPrintsNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for what, prints := range map[string]bool{"store": false, "pool": true} {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), printingEnv+"="+what+" "+k.database(t))
			said, err := cmd.CombinedOutput()
			if err != nil || len(said) > 0 != prints {
				t.Errorf("a %s prints %q and ends with %v", what, said, err)
			}
		}
	})
}

// losing is the whole of such a process.
func losing(order string) error {
	what, dsn, _ := strings.Cut(order, " ")
	ctx := context.Background()
	if what == "pool" {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return err
		}
		return errors.Join(loseFiveTimes(ctx, dsn, db.PingContext), db.Close())
	}
	s, err := mysqlstore.Open(ctx, dsn, mysqlstore.Options{Create: true})
	if err != nil {
		return err
	}
	check := func(ctx context.Context) error {
		_, err := s.Check(ctx)
		return err
	}
	return errors.Join(loseFiveTimes(ctx, dsn, check), s.Close())
}

func loseFiveTimes(ctx context.Context, dsn string, use func(context.Context) error) error {
	for range 5 {
		if err := errors.Join(use(ctx), cutOff(ctx, dsn)); err != nil {
			return err
		}
	}
	return use(ctx)
}

// cutOff ends all other sessions on the database.
func cutOff(ctx context.Context, dsn string) (err error) {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	var ids sql.NullString
	err = db.QueryRowContext(ctx, "SELECT GROUP_CONCAT(id) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()").Scan(&ids)
	if err != nil || !ids.Valid {
		return errors.Join(err, errors.New("there are no sessions to end"))
	}
	const gone = 1094 // it ended by itself meanwhile
	for id := range strings.SplitSeq(ids.String, ",") {
		_, err := db.ExecContext(ctx, "KILL "+id)
		if refused, ok := errors.AsType[*mysql.MySQLError](err); err != nil && (!ok || refused.Number != gone) {
			return err
		}
	}
	return nil
}

package pgstore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/effectstest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store/pgstore"
)

var tablespaces atomic.Int64

// tablespace makes a tablespace on a small disk.
func (s *testBox) tablespace() (name string, disk *testserver.Tmpfs) {
	s.Helper()
	disk = servertest.Tmpfs(s, 8<<20)
	folder := filepath.Join(disk.Dir(), "space")
	s.Must(os.Mkdir(folder, 0o700))
	data, err := os.Stat(shared.Server(s).DataDir())
	s.Must(err)
	owner, _ := data.Sys().(*syscall.Stat_t)
	s.Must(os.Chown(folder, int(owner.Uid), int(owner.Gid)))
	name = fmt.Sprint("small", tablespaces.Add(1))
	s.exec("CREATE TABLESPACE " + name + " LOCATION '" + folder + "'")
	s.Cleanup(func() {
		_, err := s.plain.Exec(context.Background(), "DROP TABLE IF EXISTS effect")
		s.Must(err)
		_, err = s.plain.Exec(context.Background(), "DROP TABLESPACE "+name)
		s.Must(err)
	})
	return name, disk
}

// The handler's own table is on a disk that is full. An empty transaction works there, and the marks are on another disk.
func TestAFullDiskCountsNoAttemptOfAHandler(t *testing.T) {
	t.Parallel()
	effectstest.RunOutage(t, func(t *testing.T) effectstest.Outage[pgx.Tx] {
		t.Helper()
		s := newTestBox(t)
		space, disk := s.tablespace()
		s.exec("CREATE TABLE effect (n int NOT NULL, rest text NOT NULL) TABLESPACE " + space)
		s.exec("ALTER TABLE effect ALTER COLUMN rest SET STORAGE EXTERNAL") // as large as it is
		var room func(context.Context) error
		return effectstest.Outage[pgx.Tx]{
			Store: s.Store,
			Write: func(ctx context.Context, tx pgx.Tx, n int) error {
				_, err := tx.Exec(ctx, "INSERT INTO effect VALUES ($1, $2)", n, strings.Repeat("x", 100_000))
				return err
			},
			Written: func() (all []int) {
				s.Must(s.plain.QueryRow(context.Background(), "SELECT coalesce(array_agg(n), '{}') FROM effect").Scan(&all))
				return all
			},
			Fail: func() {
				var err error
				room, err = disk.Full(t.Context())
				s.Must(err)
			},
			Work: func() { s.Must(room(t.Context())) },
			Says: "No space left on device",
		}
	})
}

// stateError is an error of a driver of PostgreSQL.
type stateError string

func (e stateError) Error() string    { return "SQLSTATE " + string(e) }
func (e stateError) SQLState() string { return string(e) }

func TestAnErrorOfTheServerItselfIsAnOutage(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	readOnly, err := s.plain.BeginTx(t.Context(), pgx.TxOptions{AccessMode: pgx.ReadOnly})
	s.Must(err)
	defer readOnly.Rollback(t.Context()) //nolint:errcheck // the pool is closed with the test
	_, refused := readOnly.Exec(t.Context(), "CREATE TABLE account (id int)")
	_, mistake := s.plain.Exec(t.Context(), "SELECT FROM nowhere")
	for _, c := range []struct {
		err  error
		want bool
	}{
		{refused, true},
		{mistake, false},
		{nil, false},
		{context.DeadlineExceeded, false},
		{stateError("53000"), false},
		{stateError("53100"), true},
		{&pgconn.PgError{Code: "53100", File: "md.c", Message: "could not extend file"}, true},
		{&pgconn.PgError{Code: "53100", File: "dsm_impl.c", Message: "could not resize shared memory segment"}, false},
		{stateError("53200"), false},
		{stateError("53300"), true},
		{stateError("57P01"), false}, // or a session that was ended
		{stateError("57P02"), true},
		{stateError("57P03"), true},
		{stateError("58030"), false},
		{stateError("XX001"), false},
		{stateError("XX002"), false},
		{stateError("53400"), false},
		{stateError("57014"), false},
		{stateError("57P05"), false},
		{stateError("40001"), false},
		{stateError("23505"), false},
		{stateError("25P03"), false},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("charge: %w", err)
		}
		if s.Outage(err) != c.want || (&pgstore.Appender{}).Outage(err) != c.want {
			t.Errorf("%v is an outage: %v", err, !c.want)
		}
	}
}

// A sort writes there, or memory that workers share: its message would be tried for ever.
func TestATemporaryFileThatFindsNoRoomIsNoOutage(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	space, disk := s.tablespace()
	room, err := disk.Full(t.Context())
	s.Must(err)
	tx, err := s.plain.Begin(t.Context())
	s.Must(err)
	for _, text := range []string{"SET LOCAL temp_tablespaces = " + space, "SET LOCAL work_mem = '64kB'"} {
		_, err := tx.Exec(t.Context(), text)
		s.Must(err)
	}
	_, err = tx.Exec(t.Context(), "SELECT count(*) FROM (SELECT DISTINCT repeat('x', 1000) || g FROM generate_series(1, 20000) g) x")
	if err == nil || !strings.Contains(err.Error(), "53100") || s.Outage(err) {
		t.Errorf("a query without room for its temporary files says %v, an outage: %v", err, s.Outage(err))
	}
	s.Must(tx.Rollback(t.Context()))
	s.Must(room(t.Context()))
}

// What watches a server ends sessions whose statements take too long. A message with such a statement fails so each time.
func TestAMessageWhoseSessionIsEndedEachTimeIsParked(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	broker := memsource.New(memsource.Options{})
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[pgx.Tx]{
		Store: s.Store, Source: broker.Join("billing"), Consumer: "billing", Box: "outbox",
		Retry: inbox.Retry{Min: time.Millisecond, Max: time.Millisecond, MaxAttempts: 2},
		Handle: func(ctx context.Context, tx pgx.Tx, _ *inbox.Message) error {
			_, err := tx.Exec(ctx, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)")
			return err
		},
	})
	s.Must(err)
	s.Must(broker.Publish(source.Message{MessageID: "1", Payload: []byte("1")}))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	within, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	waited := broker.WaitUntilAcked(within, "billing")
	stop()
	s.Must(<-ended)
	s.Must(waited)
	if n := c.Stats(); n.Failed != 2 || n.Parked != 1 {
		t.Errorf("after a message whose session is ended each time it counted %+v", n)
	}
}

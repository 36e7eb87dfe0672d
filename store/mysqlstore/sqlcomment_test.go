package mysqlstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

var orders = store.SQLComments{Application: "orders */ x'"}

// ordersComment is what the server's log shows of that.
func ordersComment(role string) string {
	return " /*application='orders%20%2A%2F%20x%27',framework='postbag',postbag_role='" + role + "'*/"
}

func commented(o *mysqlstore.Options) { o.SQLComments = orders }

// logged returns the statements about our tables since the last call.
func logged(s *testBox) (texts []string) {
	s.Helper()
	rows, err := s.plain.QueryContext(s.Context(), `SELECT argument FROM mysql.general_log
WHERE command_type IN ('Query', 'Execute') AND argument LIKE '%postbag\_%' AND argument NOT LIKE '%general\_log%' AND argument NOT LIKE '%slot = 65535'`)
	s.Must(err)
	defer func() { s.Must(rows.Close()) }()
	for rows.Next() {
		var text string
		s.Must(rows.Scan(&text))
		for one := range strings.SplitSeq(strings.ReplaceAll(text, "; COMMIT", ";\nCOMMIT"), ";\n") { // MariaDB logs what came together as one
			if strings.Contains(strings.ReplaceAll(one, "postbag_role", ""), "postbag_") {
				texts = append(texts, strings.TrimSuffix(strings.TrimSpace(one), ";"))
			}
		}
	}
	s.Must(rows.Err())
	s.exec("TRUNCATE TABLE mysql.general_log")
	return texts
}

// wantRoles fails the test unless every statement ends in the comment of one of the roles, and each role has one.
func wantRoles(s *testBox, doing string, roles ...string) {
	s.Helper()
	seen := map[string]bool{}
	for _, text := range logged(s) {
		known := false
		for _, role := range roles {
			if strings.HasSuffix(text, ordersComment(role)) && strings.Count(text, "/*application") == 1 {
				known, seen[role] = true, true
			}
		}
		if !known {
			s.Fatalf("%s: this statement has no such comment: %q", doing, text)
		}
	}
	if len(seen) != len(roles) {
		s.Errorf("%s: the comments are of %v, want %v", doing, seen, roles)
	}
}

func TestTheLogOfTheServerShowsWhoseEachStatementIs(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := testBoxOn(t, databaseOn(t, k.private(t, "log-output=TABLE"), "commented"), commented, grace(2*time.Second))
		s.exec("SET GLOBAL general_log = ON")
		s.exec("TRUNCATE TABLE mysql.general_log")
		s.publishAll(s.Store)
		wantRoles(s, "publish", "publisher")
		s.markAll(s.Store)
		wantRoles(s, "mark", "consumer")
		s.relayAll()
		wantRoles(s, "relay", "relay", "publisher")

		s.Must(s.Close()) // else it looks for tombstones at any time
		to, err := mysqlstore.OpenAppender(t.Context(), s.plain, mysqlstore.AppenderOptions{SQLComments: orders})
		s.Must(err)
		s.publishAll(to)
		wantRoles(s, "publish through an appender", "publisher")
		s.markAll(to)
		s.Must(to.DeclareConsumer(t.Context(), "c", time.Hour))
		_, err = to.Forget(t.Context())
		s.Must(err)
		wantRoles(s, "mark through an appender", "consumer")
	})
}

// publishAll has an application write all that it can.
func (s *testBox) publishAll(to postbag.Appender[postbag.SQLTx]) {
	s.Helper()
	later := postbag.Message{ID: postbag.NewID(), Key: "k", NotBefore: time.Now().Add(time.Hour)}
	s.Must(to.InTx(s.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		_, cancelled := to.Cancel(ctx, tx, "outbox", postbag.NewID())
		return errors.Join(cancelled, to.Lock(ctx, tx, "outbox", []string{"k"}),
			to.Append(ctx, tx, "outbox", append(boxtest.Messages(5, "k"), later)))
	}))
}

// consuming is what a consumer needs.
type consuming interface {
	postbag.Appender[postbag.SQLTx]
	store.Inbox[postbag.SQLTx]
	store.Lanes[postbag.SQLTx]
}

// markAll has a consumer write all that it can.
func (s *testBox) markAll(to consuming) {
	s.Helper()
	for range 2 { // the second time, marks are compared
		s.Must(to.InTx(s.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			_, marked := to.Mark(ctx, tx, "c", []store.Mark{{ID: "a"}, {ID: "b"}})
			lane, opened := to.OpenLane(ctx, tx, "l")
			return errors.Join(marked, opened, to.WriteLane(ctx, tx, "l", lane.Epoch, []byte("r")))
		}))
	}
}

// relayAll has a relay, its housekeeping and an operator work.
func (s *testBox) relayAll() {
	s.Helper()
	ctx := s.Context()
	records := s.Read()
	first := &records[0]
	s.Settle(&s.Lease, store.Settlement{To: s.At, Park: []store.Park{{Seq: first.Seq, Slot: store.SlotOf(&first.Message), State: store.ParkDead}}})
	s.Must(s.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		return s.Append(ctx, tx, "outbox", boxtest.Messages(3, "k"))
	}))
	s.Deliver()
	s.Housekeep()
	_, err := s.Overview(ctx)
	s.Must(err)
	_, err = s.Check(ctx)
	s.Must(err)
	_, _, err = s.List(ctx, store.Query{Ref: outbox, State: store.StateDead})
	s.Must(err)
	_, err = s.Command(ctx, store.Audit{Who: "a", Why: "b"}, outbox, store.Retry, []int64{first.Seq})
	s.Must(err)
	s.Deliver() // it hears of the command
	_, err = s.Due(ctx, store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20})
	s.Must(err)
	_, err = s.Blocked(ctx, s.Lease)
	s.Must(err)
	undone := errors.New("undone") // leaves a seq that a tombstone fills
	if err := s.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		return errors.Join(s.Append(ctx, tx, "outbox", boxtest.Messages(1, "k")), undone)
	}); !errors.Is(err, undone) {
		s.Fatal(err)
	}
	s.publish(boxtest.Messages(1, "k")...)
	s.Eventually("there is a tombstone", func() bool {
		s.Deliver()
		return s.tombstones() == 1
	})
}

func TestBadNamesOfApplicationsAreRefusedAtOpen(t *testing.T) {
	t.Parallel()
	bad := store.SQLComments{Application: "a\nb"}
	if err := (mysqlstore.Options{SQLComments: bad}).Validate(); err == nil || !strings.Contains(err.Error(), "mysqlstore: Options.SQLComments.Application holds a control character") {
		t.Errorf("the options have the fault %v", err)
	}
	db := openSQL(t, "nobody@tcp(127.0.0.1:1)/none")
	if _, err := mysqlstore.OpenAppender(t.Context(), db, mysqlstore.AppenderOptions{SQLComments: bad}); err == nil || !strings.Contains(err.Error(), "control character") {
		t.Errorf("an appender was opened: %v", err)
	}
}

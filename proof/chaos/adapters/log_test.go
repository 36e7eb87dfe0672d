package adapters

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/store"
)

// logged is a store of a started database, with its log.
type logged struct {
	t     *testing.T
	store store.Store
	all   interface {
		store.Inspector
		store.Operator
	}
	of chaos.Damageable
}

func damageable(t *testing.T, k chaos.Store) *logged {
	t.Helper()
	d := begin(t, k)
	s, closeStore, err := k.Open(t.Context(), d.DSN(chaos.Operators))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closeStore() })
	l := &logged{t: t, store: s}
	var inspects, damages bool
	l.all, inspects = s.(interface {
		store.Inspector
		store.Operator
	})
	if l.of, damages = d.(chaos.Damageable); !inspects || !damages {
		t.Fatal("its log cannot be damaged, or not be looked at")
	}
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	if err := s.Declare(t.Context(), []store.Spec{{Ref: ref}}); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *logged) plant() []postbag.Message {
	l.t.Helper()
	var msgs []postbag.Message
	for range 3 {
		id := postbag.NewID()
		payload, _ := json.Marshal(map[string]string{"id": id.String()})
		msgs = append(msgs, postbag.Message{ID: id, Topic: "events", Key: "k", Headers: map[string]string{"tx": "t"}, Payload: payload})
	}
	if err := l.of.Plant(l.t.Context(), msgs, 1); err != nil {
		l.t.Fatal(err)
	}
	return msgs
}

func (l *logged) listed() []store.Item {
	l.t.Helper()
	items, _, err := l.all.List(l.t.Context(), store.Query{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Oldest: true, Limit: 100})
	if err != nil {
		l.t.Fatal(err)
	}
	return items
}

func everyStore(t *testing.T, do func(*testing.T, chaos.Store)) {
	t.Helper()
	for _, k := range []chaos.Store{Postgres{}, SQLite{}, MySQL{}, MySQL{MariaDB: true}} {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			do(t, k)
		})
	}
}

func TestAnUnreadableRowIsInsertedBetweenTwoReadableOnes(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, k chaos.Store) {
		t.Helper()
		l := damageable(t, k)
		for round := range 2 { // what the first has switched off is on again
			msgs := l.plant()
			items := l.listed()
			if len(items) != 3*(round+1) {
				t.Fatalf("%d messages are listed", len(items))
			}
			for i, it := range items[3*round:] {
				if it.ID != msgs[i].ID || (it.Err != nil) != (i == 1) {
					t.Errorf("message %d is %v, with the error %v", i, it.ID, it.Err)
				}
			}
		}
	})
}

func TestTheFaultEmptiesALogAndRestartsItsNumbering(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, k chaos.Store) {
		t.Helper()
		l := damageable(t, k)
		r := rand.New(rand.NewPCG(1, 0))
		for range 4 { // in each way that there is
			msgs := l.plant()
			first := l.listed()[0].Seq
			ids, err := l.of.Empty(t.Context(), r)
			if err != nil || len(ids) != len(msgs) || len(l.listed()) != 0 {
				t.Fatalf("%d messages were taken, %d are left: %v", len(ids), len(l.listed()), err)
			}
			if l.plant(); l.listed()[0].Seq != first {
				t.Errorf("the numbering begins with %d, and did with %d", l.listed()[0].Seq, first)
			}
			if _, err := l.of.Empty(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestTheFaultGivesUpOnALockedLog(t *testing.T) {
	t.Parallel()
	l := damageable(t, SQLite{})
	f, _ := l.of.(*sqlite)
	tx, err := open(t, "sqlite", f.path).Conn(t.Context())
	if err == nil {
		_, err = tx.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Close() }()
	_, err = l.of.Empty(context.Background(), nil)
	if !errors.Is(err, chaos.ErrGivenUp) {
		t.Errorf("it says %v", err)
	}
}

// Who prepared the transaction is gone, and MariaDB lets others lock the table that it has written to.
func TestEmptyingALogRemovesThePreparedTransactionsRows(t *testing.T) {
	t.Parallel()
	for _, k := range []MySQL{{}, {MariaDB: true}} {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			l := damageable(t, k)
			s, _ := l.of.(*mysqlServer)
			committed := preparedAndCommittedLate(t, s, 1)
			ids, err := l.of.Empty(t.Context(), rand.New(rand.NewPCG(1, 0)))
			if err := <-committed; err != nil {
				t.Fatal(err)
			}
			if left := l.listed(); err != nil && !errors.Is(err, chaos.ErrGivenUp) || len(ids)+len(left) != 1 {
				t.Errorf("of one message %d were taken and %d are left: %v", len(ids), len(left), err)
			}
		})
	}
}

// MariaDB 10.11 loses the row if it is not in the first partition, and nobody waits for it before the rebuild begins.
func TestARebuildOfADividedLogKeepsThePreparedTransactionsRows(t *testing.T) {
	t.Parallel()
	for _, k := range []MySQL{{}, {MariaDB: true}} {
		for _, text := range []string{"ALTER TABLE postbag_outbox FORCE", "OPTIMIZE TABLE postbag_outbox"} {
			t.Run(k.Name()+": "+text, func(t *testing.T) {
				t.Parallel()
				l := damageable(t, k)
				s, _ := l.of.(*mysqlServer)
				committed := preparedAndCommittedLate(t, s, 1_000_000)
				err := s.rebuild(t.Context(), text)
				if err := <-committed; err != nil {
					t.Fatal(err)
				}
				if left := l.listed(); len(left) != 1 {
					t.Errorf("of one message %d are left: %v", len(left), err)
				}
			})
		}
	}
}

// preparedAndCommittedLate prepares a transaction that writes a message with this seq, ends its session, and commits it when others
// wait for it.
func preparedAndCommittedLate(t *testing.T, s *mysqlServer, seq int64) (committed <-chan error) {
	t.Helper()
	id, db := postbag.NewID(), open(t, "mysql", s.dsn("root", s.operators))
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	xid, err := xaStart(t.Context(), conn, "p")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "XA END " + xid, "XA PREPARE " + xid} {
		if text == "" {
			_, err = conn.ExecContext(t.Context(), "INSERT INTO postbag_outbox (seq, id, topic, payload) VALUES (?, ?, 't', '')", seq, id[:])
		} else {
			_, err = conn.ExecContext(t.Context(), text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := dropped(conn); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_ = chaos.Pause(t.Context(), time.Second) // the other one waits by then
		done <- patiently(t.Context(), func() error { return xaCommitElsewhere(t.Context(), db, "p") })
	}()
	return done
}

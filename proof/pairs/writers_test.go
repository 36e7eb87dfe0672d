package pairs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/internal/record"
	"github.com/postbag/postbag/store/mysqlstore"
)

const (
	writerCount   = 16
	keysOfAWriter = 30
	most          = 5 // messages of a statement
)

// newDatabase makes a database with a box and the tables of the writers, and returns its DSN.
func newDatabase(t *testing.T, server *testserver.MySQL) string {
	t.Helper()
	admin, err := sql.Open("mysql", server.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	numbers := make([]string, most)
	for i := range numbers {
		numbers[i] = fmt.Sprintf("(%d)", i)
	}
	for _, text := range []string{
		"CREATE DATABASE shop",
		// A transaction's row stands there if the transaction does.
		"CREATE TABLE shop.placed (name VARCHAR(100) PRIMARY KEY, stands BOOLEAN NOT NULL)",
		"CREATE TABLE shop.numbers (n INT PRIMARY KEY)",
		"INSERT INTO shop.numbers VALUES " + strings.Join(numbers, ", "),
	} {
		if _, err := admin.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	s, err := mysqlstore.Open(t.Context(), server.DSN("shop"), mysqlstore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return server.DSN("shop")
}

// writers commit messages, many at a time. Each key has one writer, so that its transactions are ordered.
type writers struct {
	t   *testing.T
	db  *sql.DB
	pub *postbag.Publisher[postbag.SQLTx]

	limit atomic.Int64 // how many messages may be committed by now

	mu                    sync.Mutex
	committed             map[string][]string // by key, the transaction of each message
	sum                   int
	rolled, unsure, stood int // transactions: rolled back, without an answer to COMMIT, of those that stood
}

func newWriters(t *testing.T, dsn string) *writers {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(writerCount + 4)
	db.SetMaxIdleConns(writerCount + 4)
	out, err := mysqlstore.OpenAppender(t.Context(), db, mysqlstore.AppenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := postbag.NewPublisher[postbag.SQLTx](out, postbag.PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &writers{t: t, db: db, pub: pub, committed: map[string][]string{}}
}

// allow lets the writers go on until n messages are committed.
func (w *writers) allow(n int) { w.limit.Store(int64(n)) }

// reach waits until n messages are committed.
func (w *writers) reach(n int) {
	w.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); w.total() < n; pause(time.Millisecond) {
		if time.Now().After(deadline) || w.t.Failed() {
			w.t.Fatalf("the writers came to %d of %d", w.total(), n)
		}
	}
}

// start starts the writers, and returns what waits until they have committed all.
func (w *writers) start(ctx context.Context) (wait func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for i := range writerCount {
		all.Go(func() { w.write(ctx, i) })
	}
	w.t.Cleanup(func() { cancel(); all.Wait() })
	return all.Wait
}

func (w *writers) write(ctx context.Context, writer int) {
	for w.total() < messages() && ctx.Err() == nil {
		if int64(w.total()) >= w.limit.Load() {
			pause(time.Millisecond)
			continue
		}
		err := w.transaction(ctx, writer)
		// A server that is gone says nothing. One that answers has nothing to refuse, but a seq under which there is a tombstone.
		if refused, ok := errors.AsType[*mysql.MySQLError](err); ok && refused.Number != duplicateEntry {
			w.t.Errorf("a writer was refused: %v", err)
			return
		}
		if err != nil {
			pause(20 * time.Millisecond)
		}
	}
}

const duplicateEntry = 1062

func (w *writers) total() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sum
}

// counts is how many messages of each key are committed.
func (w *writers) counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[string]int, len(w.committed))
	for key, names := range w.committed {
		out[key] = len(names)
	}
	return out
}

// payload is that of the N-th message of a key that was committed.
func (w *writers) payload(key string, n int) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return record.Event{Key: key, N: n, Note: w.committed[key][n]}.Payload()
}

// committedBy says whether e was committed by the very transaction that it names.
func (w *writers) committedBy(e record.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := w.committed[e.Key]
	return e.N < len(names) && names[e.N] == e.Note
}

// delay is how late a commit comes: up to 50 ms, and 2 s in one of a hundred.
func delay() time.Duration {
	if rand.IntN(100) == 0 {
		return 2 * time.Second
	}
	return time.Duration(rand.IntN(50)) * time.Millisecond
}

// transaction commits, or rolls back, one transaction of up to three statements.
func (w *writers) transaction(ctx context.Context, writer int) error {
	level := sql.LevelRepeatableRead
	if rand.IntN(2) == 0 {
		level = sql.LevelReadCommitted
	}
	tx, err := w.db.BeginTx(ctx, &sql.TxOptions{Isolation: level})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit there is nothing to roll back
	name := fmt.Sprintf("%d-%016x", writer, rand.Uint64())
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO placed VALUES ('%s', TRUE)", name)); err != nil {
		return err
	}
	added := map[string]int{}
	for range 1 + rand.IntN(3) {
		key, n := fmt.Sprintf("w%d-k%d", writer, rand.IntN(keysOfAWriter)), 1+rand.IntN(most)
		w.mu.Lock()
		first := len(w.committed[key]) + added[key]
		w.mu.Unlock()
		if err := w.publish(ctx, tx, key, first, n, name); err != nil {
			return err
		}
		added[key] += n
	}
	pause(delay())
	if rand.IntN(12) == 0 {
		w.mu.Lock()
		w.rolled++
		w.mu.Unlock()
		return tx.Rollback()
	}
	return w.note(ctx, name, added, tx.Commit())
}

// publish writes n messages of a key: with the library, by a plain INSERT of several rows, or by INSERT ... SELECT.
func (w *writers) publish(ctx context.Context, tx *sql.Tx, key string, first, n int, name string) error {
	form := rand.IntN(3)
	if form == 0 {
		_, err := tx.ExecContext(ctx, fmt.Sprintf(
			"INSERT INTO postbag_outbox (topic, `key`, payload) "+
				"SELECT '%s', '%s', CONCAT('{\"key\":\"%s\",\"n\":', n + %d, ',\"note\":\"%s\"}') FROM numbers WHERE n < %d ORDER BY n",
			topic, key, key, first, name, n))
		return err
	}
	msgs, rows := make([]postbag.Message, n), make([]string, n)
	for i := range msgs {
		payload := record.Event{Key: key, N: first + i, Note: name}.Payload()
		msgs[i] = postbag.Message{Topic: topic, Key: key, Type: "event", Payload: payload, Headers: map[string]string{"a": "b"}}
		rows[i] = fmt.Sprintf("('%s', '%s', '%s')", topic, key, payload)
	}
	if form == 1 {
		_, err := tx.ExecContext(ctx, "INSERT INTO postbag_outbox (topic, `key`, payload) VALUES "+strings.Join(rows, ", "))
		return err
	}
	return w.pub.Publish(ctx, tx, msgs...)
}

// note records what became of a commit. Where its answer was lost the database is asked, once it can be.
func (w *writers) note(ctx context.Context, name string, added map[string]int, unsure error) error {
	if unsure != nil {
		stands, err := w.stands(ctx, name)
		if err != nil {
			return err
		}
		w.mu.Lock()
		w.unsure++
		if stands {
			w.stood++
		}
		w.mu.Unlock()
		if !stands {
			return unsure
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, n := range added {
		for range n {
			w.committed[key] = append(w.committed[key], name)
		}
		w.sum += n
	}
	return nil
}

// stands finds out whether a transaction stands whose commit got no answer: it writes the transaction's own unique row with
// another word. That waits for a commit that is still on its way, and keeps one from coming later.
func (w *writers) stands(ctx context.Context, name string) (stands bool, err error) {
	for {
		_, err = w.db.ExecContext(ctx, fmt.Sprintf("INSERT IGNORE INTO placed VALUES ('%s', FALSE)", name))
		if err == nil {
			err = w.db.QueryRowContext(ctx, fmt.Sprintf("SELECT stands FROM placed WHERE name = '%s'", name)).Scan(&stands)
		}
		if err == nil || ctx.Err() != nil {
			return stands, err
		}
		pause(50 * time.Millisecond)
	}
}

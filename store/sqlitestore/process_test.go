package sqlitestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
	"go.uber.org/goleak"
)

// roleVariable makes this program act as another process that uses the file in
// its first argument; see roles.
const roleVariable = "SQLITESTORE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role, ok := roles()[os.Getenv(roleVariable)]; ok {
		if err := role(context.Background(), os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func roles() map[string]func(context.Context, string) error {
	return map[string]func(context.Context, string) error{
		"writer": writeUntilKilled,
		"holder": holdTransaction,
		"busy":   writeBusily,
	}
}

// batchRows is how many messages each transaction of the roles has, all with the
// transaction's key.
const batchRows = 10

// writeUntilKilled commits batches for ever, and says each one's key afterwards.
func writeUntilKilled(ctx context.Context, path string) error {
	s, err := sqlitestore.Open(ctx, path, sqlitestore.Options{BusyTimeout: patience})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		key := fmt.Sprintf("%d-%d", os.Getpid(), n)
		if err := appendBatch(ctx, s, key); err != nil {
			return err
		}
		fmt.Println(key) //nolint:forbidigo // to the test that started this process
	}
}

func appendBatch(ctx context.Context, s *sqlitestore.Store, key string) error {
	return s.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		return s.Append(ctx, tx, "outbox", messages(batchRows, key))
	})
}

// holdTransaction writes, and keeps the writer lock until the process is killed.
func holdTransaction(ctx context.Context, path string) error {
	s, err := sqlitestore.Open(ctx, path, sqlitestore.Options{})
	if err != nil {
		return err
	}
	return s.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		if err := s.Append(ctx, tx, "outbox", messages(5000, "never")); err != nil {
			return err
		}
		fmt.Println("holding") //nolint:forbidigo // to the test that started this process
		<-ctx.Done()
		return ctx.Err()
	})
}

// Writers of one process, and batches of each, in the busy role.
const (
	busyWriters = 16
	busyBatches = 8
)

// writeBusily commits from many goroutines at once.
func writeBusily(ctx context.Context, path string) error {
	s, err := sqlitestore.Open(ctx, path, sqlitestore.Options{BusyTimeout: patience})
	if err != nil {
		return err
	}
	return errors.Join(writeAtOnce(ctx, s, strconv.Itoa(os.Getpid())), s.Close())
}

func writeAtOnce(ctx context.Context, s *sqlitestore.Store, name string) error {
	failed := make(chan error, busyWriters)
	var all sync.WaitGroup
	for w := range busyWriters {
		all.Go(func() {
			for n := range busyBatches {
				if err := appendBatch(ctx, s, fmt.Sprintf("%s-%d-%d", name, w, n)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}

// process is another process at work.
type process struct {
	*exec.Cmd

	lines *bufio.Scanner
}

// start runs this program in a role, as another process.
func start(f *fixture, role string) *process {
	f.Helper()
	program, err := os.Executable()
	f.check(err)
	cmd := exec.Command(program, f.path)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	f.check(err)
	f.check(cmd.Start())
	p := &process{Cmd: cmd, lines: bufio.NewScanner(out)}
	f.Cleanup(func() { p.kill() })
	return p
}

// kill ends the process without warning, as kill -9 does, and returns the lines
// that it had still written.
func (p *process) kill() (rest []string) {
	if p.ProcessState != nil {
		return nil
	}
	_ = p.Process.Kill()
	for line := p.line(); line != ""; line = p.line() {
		rest = append(rest, line)
	}
	_ = p.Wait() // it says that the process was killed
	return rest
}

// line returns the next line that the process writes.
func (p *process) line() string {
	if !p.lines.Scan() {
		return ""
	}
	return p.lines.Text()
}

// intact fails the test unless the file is sound and every batch is whole.
func (f *fixture) intact(committed []string) {
	f.Helper()
	var verdict string
	f.check(f.DB().QueryRowContext(f.Context(), `PRAGMA integrity_check`).Scan(&verdict))
	if verdict != "ok" {
		f.Fatalf("the file is damaged: %s", verdict)
	}
	rows := make(map[string]int)
	for _, r := range f.readAll("") {
		rows[r.Key]++
	}
	for key, n := range rows {
		if n != batchRows {
			f.Errorf("of the transaction %s there are %d of %d messages", key, n, batchRows)
		}
	}
	for _, key := range committed {
		if rows[key] == 0 {
			f.Errorf("the transaction %s was committed and is lost", key)
		}
	}
}

func TestAProcessKilledInATransactionLeavesNothingAndNoLock(t *testing.T) {
	t.Parallel()
	f := open(t)
	p := start(f, "holder")
	if got := p.line(); got != "holding" {
		t.Fatalf("the other process says %q", got)
	}
	if got := f.readAll(""); len(got) != 0 {
		t.Fatalf("read %d messages of a transaction that is open", len(got))
	}
	p.kill()
	f.check(appendBatch(t.Context(), f.Store, "after"))
	f.intact([]string{"after"})
}

func TestWritersKilledAgainAndAgainLoseNothing(t *testing.T) {
	t.Parallel()
	f := open(t)
	var committed []string
	for round := range 6 {
		writers := []*process{start(f, "writer"), start(f, "writer")}
		for n := range 20 + 7*round {
			if line := writers[n%2].line(); line != "" {
				committed = append(committed, line)
			}
		}
		for _, p := range writers {
			committed = append(committed, p.kill()...)
		}
		f.intact(committed)
	}
}

func TestTwoProcessesAndManyGoroutinesWriteAtOnce(t *testing.T) {
	t.Parallel()
	f := openAt(t, open(t).path, sqlitestore.Options{BusyTimeout: patience})
	others := []*process{start(f, "busy"), start(f, "busy")}
	chain := &follower{f: f}
	done := make(chan error, 1)
	go func() { done <- writeAtOnce(t.Context(), f.Store, "own") }()
	for range busyWriters {
		chain.step()
	}
	f.check(<-done)
	for _, p := range others {
		f.check(p.Wait())
	}
	for chain.step() {
	}
	const want = 3 * busyWriters * busyBatches * batchRows
	if len(chain.keys) != want/batchRows || chain.rows != want {
		t.Fatalf("read %d messages of %d transactions, want %d of %d", chain.rows, len(chain.keys), want, want/batchRows)
	}
	f.intact(nil)
}

// follower reads on from where it was, while others write.
type follower struct {
	f    *fixture
	from store.Position
	rows int
	keys map[string]int
}

// step reads a page, and says whether there was anything.
func (r *follower) step() bool {
	r.f.Helper()
	batch := r.f.read(r.from, 100)
	r.from = batch.Next
	if r.keys == nil {
		r.keys = make(map[string]int)
	}
	for i := range batch.Records {
		key := batch.Records[i].Key
		if want := strconv.Itoa(r.keys[key]); batch.Records[i].Headers["n"] != want {
			r.f.Fatalf("after %s messages of a transaction comes its number %s", want, batch.Records[i].Headers["n"])
		}
		r.keys[key]++
	}
	r.rows += len(batch.Records)
	return len(batch.Records) > 0
}

func TestACommitOfAnotherProcessWakes(t *testing.T) {
	t.Parallel()
	f := open(t)
	woken := f.Woken()
	p := start(f, "writer")
	for {
		select {
		case <-woken:
		case <-t.Context().Done():
			t.Fatal("no hint came")
		}
		if got := f.readAll(""); len(got) > 0 && strings.HasPrefix(got[0].Key, strconv.Itoa(p.Process.Pid)) {
			return
		}
	}
}

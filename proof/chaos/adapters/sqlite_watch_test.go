package adapters

import (
	"os"
	"testing"

	"github.com/postbag/postbag/proof/chaos"
)

func TestTheProcessThatHoldsSQLitesWriteLockIsFound(t *testing.T) {
	t.Parallel()
	d := begin(t, SQLite{})
	f, ok := d.(*sqlite)
	if !ok {
		t.Fatal("it is something else")
	}
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("skipped: this system has no list of locks, and SQLite is not watched on it")
	}
	writer := func() int {
		pid, err := writerOf(f.path + "-shm")
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	tx, err := open(t, "sqlite", f.path).Conn(t.Context())
	if err == nil {
		_, err = tx.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	if pid := writer(); pid != os.Getpid() {
		t.Errorf("the writer is process %d, and this is %d", pid, os.Getpid())
	}
	if isRelay(os.Getpid()) {
		t.Error("this process is taken for a relay")
	}
	if seen, err := chaos.Watched(f).Watch(t.Context()); err != nil || seen.Waited >= 0 {
		t.Errorf("a look: %v, and a wait of %v was seen, which nobody can", err, seen.Waited)
	}
	if _, err := tx.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if pid := writer(); pid != 0 {
		t.Errorf("process %d writes, though nobody does", pid)
	}
	if err := tx.Close(); err != nil {
		t.Error(err)
	}
}

package sqlitestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// A file that is replaced under a relay is not worked on any more, and the one that is
// there now is, once it is safe to open.
func TestAReplacedFileIsReopened(t *testing.T) {
	t.Parallel()
	f := open(t)
	_, err := f.Check(t.Context())
	f.check(err)
	f.publish(messages(5, "k")...)
	copied := filepath.Join(t.TempDir(), "copy.db")
	f.check(f.Exec(t.Context(), `VACUUM INTO ?`, copied))
	lease := f.lease(outbox)
	first := f.read("", 10)
	f.settle(&lease, store.Settlement{To: first.Next})
	idle := store.Turn{Read: []store.Request{request(first.Next, 10)}}
	f.turn(idle)
	f.turn(idle) // from memory

	moved := func() {
		t.Helper()
		if _, err := f.Turn(t.Context(), idle); !errors.Is(err, store.ErrMoved) {
			t.Fatalf("the next turn returned %v, want ErrMoved", err)
		}
		if _, err := f.Beat(t.Context(), beat("another")); !errors.Is(err, store.ErrMoved) {
			t.Errorf("Beat returned %v, want ErrMoved", err)
		}
	}
	f.check(os.Rename(f.path, f.path+".away"))
	moved()
	if _, err := f.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "put it back") {
		t.Errorf("Check of a file that is gone returned %v", err)
	}
	if _, err := os.Stat(f.path); err == nil {
		t.Error("a file was made where there was none")
	}
	f.check(os.Rename(copied, f.path))
	moved()
	if _, err := f.Check(t.Context()); err == nil || errors.Is(err, store.ErrMoved) || !strings.Contains(err.Error(), "-wal") {
		t.Errorf("Check beside the log of the old file returned %v", err)
	}
	f.check(os.Remove(f.path + "-wal"))
	f.check(os.Remove(f.path + "-shm"))
	if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Errorf("Check returned %v, want ErrMoved", err)
	}
	if _, err := f.Check(t.Context()); err != nil {
		t.Fatalf("Check after that: %v", err)
	}
	if got := f.readAll(f.take("third", outbox)[0].Position); len(got) != 5 {
		t.Errorf("of the copy come %d messages", len(got))
	}
	other := openAt(t, f.path, sqlitestore.Options{})
	other.publish(messages(1, "k")...)
	if got := f.readAll(""); len(got) != 6 {
		t.Errorf("with what another process writes there are %d messages", len(got))
	}
}

package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

func TestUnmigratedFileTellsWhatIsPendingAndTakesIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new.db")
	f := openAt(t, path, sqlitestore.Options{Create: true, Unmigrated: true})
	version, steps, err := f.Pending(t.Context())
	f.check(err)
	if version != 0 || len(steps) == 0 || steps[0].SQL == "" {
		t.Fatalf("a new file has version %d and %d steps pending, want version 0 and all steps", version, len(steps))
	}
	if _, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{}); !errors.Is(err, store.ErrSchema) {
		t.Fatalf("opening it for work answers %v, want ErrSchema", err)
	}
	done, err := f.Migrate(t.Context())
	f.check(err)
	if len(done) != len(steps) || done[0] != steps[0].Name {
		t.Errorf("took the steps %v, want the %d that were pending", done, len(steps))
	}
	if _, left, err := f.Pending(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("after that %d steps are pending (%v), want none", len(left), err)
	}
	openAt(t, path, sqlitestore.Options{})
}

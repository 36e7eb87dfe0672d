package testserver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestAServerGoesOnWithDataThatWasKept(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "postbag-kept-") //nolint:usetesting // t.TempDir is closed to the server's account
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "data")
	start := func() *testserver.Postgres {
		pg, err := testserver.StartPostgres(t.Context(), testserver.PostgresOptions{DataDir: dir, Kept: true, NoSync: true})
		servertest.Need(t, err)
		return pg
	}
	first := start()
	if err := first.CreateDatabase(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(t.Context(), testserver.StopFast); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := start()
	if err := second.CreateDatabase(t.Context(), "kept"); err == nil {
		t.Error("the data of the first server is gone")
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

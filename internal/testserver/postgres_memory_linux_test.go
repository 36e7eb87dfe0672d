package testserver_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestOnlyDataWithoutSyncIsInMemoryAndTMPDIRAndTheLongFormKeepItOnDisk(t *testing.T) {
	slow(t)
	const memory = "/dev/shm"
	t.Setenv("TMPDIR", "")
	t.Setenv("POSTBAG_FULL", "")
	var room syscall.Statfs_t
	if err := syscall.Statfs(memory, &room); err != nil || int64(room.Bavail)*room.Bsize < 5<<30 {
		t.Skipf("%s has no room of 5 GB, in which data would be put: %v", memory, err)
	}
	where := func(opts testserver.PostgresOptions) string {
		return query(t, servertest.Postgres(t, opts), "SHOW data_directory")
	}
	if got := where(testserver.PostgresOptions{NoSync: true}); !strings.HasPrefix(got, memory+"/postbag-postgres-") {
		t.Errorf("data without sync is in %s, want it in %s", got, memory)
	}
	if got := where(testserver.PostgresOptions{}); strings.HasPrefix(got, memory) {
		t.Errorf("durable data is in %s", got)
	}
	t.Setenv("POSTBAG_FULL", "1")
	if got := where(testserver.PostgresOptions{NoSync: true}); strings.HasPrefix(got, memory) {
		t.Errorf("data of the long form is in %s", got)
	}
	t.Setenv("POSTBAG_FULL", "")
	dir := os.TempDir()
	t.Setenv("TMPDIR", dir)
	if got := where(testserver.PostgresOptions{NoSync: true}); !strings.HasPrefix(got, dir+"/postbag-postgres-") {
		t.Errorf("with TMPDIR=%s, data is in %s", dir, got)
	}
}

package testserver_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestTmpfsIsSmallAndGoesAway(t *testing.T) {
	t.Parallel()
	fs := servertest.Tmpfs(t, 1<<20)
	ballast, err := fs.Fill(64 << 10)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(fs.Dir(), "more")
	if err := os.WriteFile(file, make([]byte, 128<<10), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("writing more than is left: %v, want ENOSPC", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	open, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }() // open over the end: it must not hinder it
	if _, err := open.Write(make([]byte, 128<<10)); err != nil {
		t.Errorf("after making room: %v", err)
	}
	if err := errors.Join(fs.Close(), fs.Close()); err != nil {
		t.Fatal(err)
	}
	if mounts, err := os.ReadFile("/proc/mounts"); err != nil || strings.Contains(string(mounts), fs.Dir()) {
		t.Errorf("it is still mounted: %v", err)
	}
	if _, err := os.Stat(fs.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is still there: %v", err)
	}
}

func TestTmpfsIsFullUntilThereIsRoomAgain(t *testing.T) {
	t.Parallel()
	fs := servertest.Tmpfs(t, 1<<20)
	file := filepath.Join(fs.Dir(), "file")
	write := func() error { return os.WriteFile(file, make([]byte, 128<<10), 0o600) }
	if err := write(); err != nil {
		t.Fatal(err)
	}
	makeRoom, err := fs.Full(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+"2", make([]byte, 128<<10), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("writing to a full disk: %v, want ENOSPC", err)
	}
	if err := write(); err != nil {
		t.Errorf("what has its room is written again: %v", err)
	}
	if err := makeRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+"2", make([]byte, 512<<10), 0o600); err != nil {
		t.Errorf("with room: %v", err)
	}
}

func TestPostgresOnAFullDiskRefusesWritesAndRecoversWithRoom(t *testing.T) {
	t.Parallel()
	slow(t)
	fs := servertest.Tmpfs(t, 128<<20)
	pg := servertest.Postgres(t, testserver.PostgresOptions{DataDir: filepath.Join(fs.Dir(), "data")})
	query(t, pg, "CREATE TABLE big (filler text); ALTER TABLE big ALTER filler SET STORAGE EXTERNAL")
	ballast, err := fs.Fill(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO big SELECT repeat(md5(n::text), 100) FROM generate_series(1, 2000) n"
	_, err = pg.Exec(t.Context(), "postgres", insert)
	if err == nil || !strings.Contains(err.Error(), "No space left") {
		t.Fatalf("a full disk took 6 MB: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	await(t, "a write after making room", func() bool {
		_, err := pg.Exec(t.Context(), "postgres", insert)
		return err == nil
	})
	if got := query(t, pg, "SELECT count(*) FROM big"); got != "2000" {
		t.Errorf("%s rows, want 2000", got)
	}
}

func TestAnEmptyTmpfsCanBeFilled(t *testing.T) {
	t.Parallel()
	fs := servertest.Tmpfs(t, 1<<20)
	makeRoom, err := fs.Full(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write := func() error { return os.WriteFile(filepath.Join(fs.Dir(), "file"), make([]byte, 128<<10), 0o600) }
	if err := write(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("writing to a full disk: %v, want ENOSPC", err)
	}
	if err := makeRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Errorf("after making room: %v", err)
	}
}

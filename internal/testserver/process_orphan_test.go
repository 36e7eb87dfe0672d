package testserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// victimEnv turns this test program into one that starts servers and waits to be killed.
const victimEnv = "POSTBAG_TESTSERVER_VICTIM"

// victim starts servers, prints their folders, and ends its output.
func victim() error {
	ctx := context.Background()
	running, err := testserver.StartPostgres(ctx, testserver.PostgresOptions{})
	if err != nil {
		return err
	}
	paused, err := testserver.StartPostgres(ctx, testserver.PostgresOptions{})
	if err != nil {
		return err
	}
	if err := paused.Pause(); err != nil {
		return err
	}
	nats, err := testserver.StartNATS(ctx, testserver.NATSOptions{})
	if err != nil {
		return err
	}
	folders := []string{running.DataDir(), paused.DataDir(), nats.StoreDir()}
	small, err := testserver.MountTmpfs(ctx, 1<<20)
	switch {
	case err == nil:
		folders = append(folders, small.Dir())
	case !errors.Is(err, testserver.ErrMissing):
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, strings.Join(folders, "\n"))
	return errors.Join(err, os.Stdout.Close())
}

func TestServersDieWithAProcessThatIsKilled(t *testing.T) {
	t.Parallel()
	slow(t)
	if runtime.GOOS != "linux" {
		t.Skip("skipped: only Linux ends a process with its parent")
	}
	started, err := testserver.StartPostgres(t.Context(), testserver.PostgresOptions{}) // is it there at all?
	servertest.Need(t, err)
	if err := started.Close(); err != nil {
		t.Fatal(err)
	}
	folders := killVictim(t)
	if len(folders) < 3 {
		t.Fatalf("the victim named only %q", folders)
	}
	for _, folder := range folders {
		await(t, "the end of the processes of "+folder, func() bool { return !inUse(t, folder) })
		await(t, "the end of "+folder, func() bool {
			_, err := os.Stat(folder)
			return errors.Is(err, os.ErrNotExist)
		})
	}
}

// killVictim runs a victim, waits until its servers run, kills it and returns their folders.
func killVictim(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), victimEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var folders []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		folders = append(folders, lines.Text())
		if !inUse(t, lines.Text()) && !strings.Contains(lines.Text(), "tmpfs") {
			t.Errorf("nobody uses %s: the test would see nothing end", lines.Text())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return folders
}

// inUse says whether a folder is in the arguments of a living process other than its guardian, or mounted.
func inUse(t *testing.T, folder string) bool {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have ended meanwhile
		if strings.Contains(string(text), folder) && !strings.Contains(string(text), "postbag-guardian") {
			return true
		}
	}
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(mounts), " "+folder+" ")
}

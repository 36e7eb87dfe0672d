//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

// A command for many messages stops between two portions of them, and not within a transaction.
func TestACommandForManyMessagesIsPausedAndGoesOn(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	arrived(t, at)
	var lines strings.Builder
	for n := range 60 {
		fmt.Fprintf(&lines, "{\"type\":\"many\",\"payload\":%d}\n", n)
	}
	cliWith(t, lines.String(), "publish", at.flag, at.where, "--ndjson").ok()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "messages", "discard", "--state", "pending", "--type", "many", "--rate", "20", "--yes", "--why", "a flood", at.flag, at.where)
	var out, errs buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	given := func() int64 { return longOperations(t, at)[0].At }
	await(t, "it has begun", func() bool { return len(longOperations(t, at)) > 0 && given() > 0 })
	send := func(s syscall.Signal) {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	send(syscall.SIGTSTP)
	await(t, "it says that it is paused", func() bool { return strings.Contains(errs.String(), "Ctrl-Z again goes on") })
	handled := given()
	for range 5 {
		if o := longOperations(t, at)[0]; o.At != handled || handled > 58 || o.State != store.OperationPaused || cmd.ProcessState != nil {
			t.Fatalf("paused after %d messages of 60, it is %s after %d", handled, o.State, o.At)
		}
	}
	send(syscall.SIGTSTP)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("it ended with %v: %s", err, errs.String())
	}
	if !strings.Contains(out.String(), "queued 60 of 60 messages") || !strings.Contains(errs.String(), "it goes on") {
		t.Errorf("it says %q and %q", out.String(), errs.String())
	}
	cli(t, "messages", "discard", "--state", "pending", "--type", "many", "--yes", "--why", "again", at.flag, at.where).ok().says("queued 0 of 60")
	cli(t, "messages", "delete", "--all", "--why", "x", at.flag, at.where).ends(exit.NotFound, "no dead message of outbox/default matches")
}

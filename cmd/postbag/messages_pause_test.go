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
	audited := func() int {
		return strings.Count(cli(t, "audit", at.flag, at.where).ok().out, "discard outbox/default")
	}
	await(t, "it has begun", func() bool { return audited() > 0 })
	send := func(s syscall.Signal) {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	send(syscall.SIGTSTP)
	await(t, "it says that it is paused", func() bool { return strings.Contains(errs.String(), "Ctrl-Z again goes on") })
	handled := 0
	for rounds := 0; rounds < 5; rounds++ { // the portion that was at work may come to its end
		if n := audited(); n != handled {
			handled, rounds = n, 0
		}
	}
	if cmd.ProcessState != nil || handled > 29 {
		t.Fatalf("paused, it has handled %d portions of 30", handled)
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

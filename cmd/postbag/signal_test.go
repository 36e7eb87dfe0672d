package main

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// stopOnce is what a process does that ends with its first signal and takes a moment.
func stopOnce() {
	ctx, stop := untilSignal(oneSignal)
	defer stop()
	_, _ = os.Stdout.WriteString("ready\n")
	<-ctx.Done()
	<-time.After(oneSignal / 4)
}

// A process group's signal and its parent's come together. The second one ended the relay
// in the middle of its shutdown.
func TestTwoSignalsAtOnceCountAsOne(t *testing.T) {
	t.Parallel()
	for range 5 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "stop-once")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !bufio.NewScanner(out).Scan() {
			t.Error("it does not begin")
		}
		for range 2 {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			<-time.After(20 * time.Millisecond)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with: %v", err)
		}
	}
}

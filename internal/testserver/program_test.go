package testserver_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
)

func startShell(t *testing.T, script string) *testserver.Program {
	t.Helper()
	p, err := testserver.StartProgram(testserver.ProgramOptions{
		Name: "a shell", Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"WORD=told"}, Log: filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill(t.Context()) })
	return p
}

func TestAProgramIsToldWhatToDoAndEndsInOrder(t *testing.T) {
	t.Parallel()
	p := startShell(t, `trap 'echo bye; exit 0' TERM; echo $WORD; while :; do sleep 0.05; done`)
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(p.LogTail(5), "told"); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it says nothing")
		}
	}
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	if ended, _ := p.Ended(); ended {
		t.Error("a frozen program has ended")
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ended, how := p.Ended(); !ended || how != nil || !strings.Contains(p.LogTail(5), "bye") {
		t.Errorf("ended %v with %v: %s", ended, how, p.LogTail(5))
	}
}

func TestAKilledProgramSaysHowItEnded(t *testing.T) {
	t.Parallel()
	p := startShell(t, "while :; do sleep 0.05; done")
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ended, how := p.Ended(); !ended || how == nil {
		t.Errorf("ended %v with %v", ended, how)
	}
	if p.PID() == 0 {
		t.Error("it had no number")
	}
}

//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A configuration that comes by a pipe can be read once.
func TestMigratePrintReadsItsConfigurationOnce(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where).ok()
	pipe := filepath.Join(t.TempDir(), "postbag.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		text := "store: {kind: sqlite, dsn: " + at.where + "}\ndestinations: {main: {stdout: {}}}\nsubscriptions: [{box: outbox, name: main, to: main}]\n"
		_ = os.WriteFile(pipe, []byte(text), 0o600)
	}()
	cli(t, "migrate", "print", "-c", pipe).ok().says("no step is missing")
}

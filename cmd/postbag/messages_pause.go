package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
)

// pausable lets the user hold a command for many messages between two portions of them, until ended is called: Ctrl-Z holds it
// and lets it go on, and so does the signal from another shell.
func pausable(ctx context.Context, toggle func()) (ended func()) {
	if len(holdSignals) == 0 {
		return func() {}
	}
	signals, stop, done := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, holdSignals...)
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-stop:
				return
			case <-signals:
				toggle()
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(stop)
		<-done
	}
}

// hold pauses a command, or lets it go on.
func hold(c *terminal.Terminal, run *operations.Run) {
	at := run.Progress()
	if at.Paused {
		c.Notef("it goes on")
		run.Resume()
		return
	}
	run.Pause()
	c.Notef("paused, with %d of %s handled; Ctrl-Z again goes on, Ctrl-C ends it", at.Handled, terminal.Count(at.Chosen, "message"))
}

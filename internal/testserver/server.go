package testserver

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// server is the process of a server, and the commands that every server takes. It is embedded. Its methods may be called
// concurrently; commands wait for each other.
type server struct {
	name string // in errors
	// begin starts the process by launch; the caller has the lock.
	begin func(ctx context.Context) error
	// patience is how long Stop waits before it kills, without a word. Zero: as long as its context.
	patience time.Duration

	mu     sync.Mutex
	proc   *process
	closed bool
}

// firstStart starts the server on a port, or where that is zero on one that is free, which it stores first.
func (s *server) firstStart(ctx context.Context, wanted int, port *int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *port = wanted; wanted != 0 {
		return s.begin(ctx)
	}
	var err error
	for range startAttempts {
		if *port, err = freePort(); err != nil {
			return err
		}
		if err = s.begin(ctx); err == nil || !portTaken(*port) {
			return err
		}
	}
	return err
}

// launch runs a command as the server's process, and returns when ready says so.
func (s *server) launch(ctx context.Context, c command, ready func(context.Context) bool) error {
	proc, err := c.start()
	if err != nil {
		return err
	}
	s.proc = proc
	if err := proc.until(ctx, func() bool { return ready(ctx) }); err != nil {
		return errors.Join(err, proc.stop(context.WithoutCancel(ctx), os.Kill))
	}
	return nil
}

// Start starts the server again, after Stop or Kill, on the same ports and with what it stored, and returns when it is
// ready.
func (s *server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.runs() {
		return errState(s.name, "start", "it runs already or is closed: Stop or Kill it first, or make a new one")
	}
	return s.begin(ctx)
}

// runs says whether the process is there; the caller has the lock.
func (s *server) runs() bool { return s.proc != nil && !s.proc.ended() }

// Running says whether the process is there.
func (s *server) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs()
}

// Stop ends the server in order (SIGTERM) and waits for it. When ctx ends first the server is killed and the error says
// so. A server that does not run is no error.
func (s *server) Stop(ctx context.Context) error {
	if s.patience == 0 {
		return s.end(ctx, sigTerm)
	}
	short, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	err := s.end(short, sigTerm)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil // it was killed then
	}
	return err
}

// Kill is kill -9. What the server stored stays for the next Start.
func (s *server) Kill(ctx context.Context) error { return s.end(ctx, os.Kill) }

func (s *server) end(ctx context.Context, sig os.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.runs() {
		return nil
	}
	if err := s.proc.signal(sigContinue); err != nil {
		return err
	}
	return s.proc.stop(ctx, sig)
}

// Restart is Stop and Start.
func (s *server) Restart(ctx context.Context) error {
	if err := s.Stop(ctx); err != nil {
		return err
	}
	return s.Start(ctx)
}

// Pause freezes the server (SIGSTOP): connections stay open and nothing answers.
func (s *server) Pause() error { return s.order("pause", (*process).freeze) }

// Resume ends a Pause. Without one it does nothing.
func (s *server) Resume() error {
	return s.order("resume", func(p *process) error { return p.signal(sigContinue) })
}

// order does something with a process that runs.
func (s *server) order(word string, do func(*process) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.runs() {
		return errState(s.name, word, "it does not run: Start it first")
	}
	return do(s.proc)
}

// retire kills the server for good.
func (s *server) retire() error {
	err := s.end(context.Background(), os.Kill)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return err
}

package demo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// relayProcess runs the relay as a process of its own, so that it can be killed as
// processes are.
type relayProcess struct {
	command []string
	env     []string
	log     string
	cmd     *exec.Cmd
	// life is the relay's standard input, which it reads to its end: a demo that
	// is itself killed leaves no relay behind.
	life io.Closer
}

func (c *relayProcess) start() error {
	if len(c.command) == 0 {
		return errors.New("demo: no command for the relay")
	}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("demo: the relay's log cannot be written: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(c.command[0], c.command[1:]...) //nolint:noctx // our own program, ended by kill and close
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = log, log
	life, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("demo: the relay does not start: %w", err)
	}
	c.cmd, c.life = cmd, life
	return nil
}

func (c *relayProcess) pid() int { return c.cmd.Process.Pid }

// kill ends the relay without warning.
func (c *relayProcess) kill() (pid int, err error) {
	pid = c.pid()
	if err := c.cmd.Process.Kill(); err != nil {
		return pid, fmt.Errorf("demo: the relay (process %d) was gone already: %w; its log: %s", pid, err, c.tail())
	}
	_ = c.cmd.Wait() // says "killed", as it should
	c.cmd = nil
	return pid, nil
}

// close asks the relay for a graceful shutdown, and waits for it.
func (c *relayProcess) close() error {
	if c.cmd == nil {
		return nil
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // one that has ended tells when it is waited for
	defer func() { _ = c.life.Close() }()
	ended := make(chan error, 1)
	go func() { ended <- c.cmd.Wait() }()
	select {
	case err := <-ended:
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGTERM {
				return nil // it was only just started, and has nothing to give back yet
			}
		}
		if err != nil {
			return fmt.Errorf("demo: the relay ended with %w; its log: %s", err, c.tail())
		}
		return nil
	case <-time.After(15 * time.Second):
		return errors.Join(c.cmd.Process.Kill(), <-ended,
			errors.New("demo: the relay did not end in 15 s and was killed; its log: "+c.tail()))
	}
}

// tail is the end of the relay's log.
func (c *relayProcess) tail() string {
	b, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	if len(b) > 2000 {
		b = b[len(b)-2000:]
	}
	return string(b)
}

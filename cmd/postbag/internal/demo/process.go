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

// process runs the relay or the billing service as a process of its own, so that it can be
// killed as processes are.
type process struct {
	name    string // what errors call it
	command []string
	env     []string
	log     string
	cmd     *exec.Cmd
	// life is the standard input, which the process reads to its end: a demo that is
	// itself killed leaves none behind.
	life io.Closer
}

func (c *process) start() error {
	if len(c.command) == 0 {
		return errors.New("demo: no command for " + c.name)
	}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("demo: the log of %s cannot be written: %w", c.name, err)
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
		return fmt.Errorf("demo: %s does not start: %w", c.name, err)
	}
	c.cmd, c.life = cmd, life
	return nil
}

func (c *process) pid() int { return c.cmd.Process.Pid }

// kill ends it without warning.
func (c *process) kill() (pid int, err error) {
	pid = c.pid()
	if err := c.cmd.Process.Kill(); err != nil {
		return pid, fmt.Errorf("demo: %s (process %d) was gone already: %w; its log: %s", c.name, pid, err, c.tail())
	}
	_ = c.cmd.Wait() // says "killed", as it should
	c.cmd = nil
	return pid, nil
}

// close asks for a graceful shutdown, and waits for it.
func (c *process) close() error {
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
			return fmt.Errorf("demo: %s ended with %w; its log: %s", c.name, err, c.tail())
		}
		return nil
	case <-time.After(15 * time.Second):
		return errors.Join(c.cmd.Process.Kill(), <-ended,
			errors.New("demo: "+c.name+" did not end in 15 s and was killed; its log: "+c.tail()))
	}
}

// tail is the end of its log.
func (c *process) tail() string {
	b, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	if len(b) > 2000 {
		b = b[len(b)-2000:]
	}
	return string(b)
}

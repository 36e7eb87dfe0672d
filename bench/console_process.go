package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// envShown is where the console's process reads the DSN of its store.
const envShown = "POSTBAG_BENCH_SHOWN"

// consoleProcess is a console of the postbag command, in a process of its own.
type consoleProcess struct {
	url string
	cmd *exec.Cmd
}

// buildPostbag builds the postbag command once, beside the data of this run.
func (l *testbed) buildPostbag(ctx context.Context) (string, error) {
	if l.postbag != "" {
		return l.postbag, nil
	}
	dir, err := os.MkdirTemp("", "postbag-bench-")
	if err != nil {
		return "", err
	}
	l.closers = append(l.closers, func() error { return os.RemoveAll(dir) })
	program := filepath.Join(dir, "postbag")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	cmd.Dir = filepath.Join("..", "cmd", "postbag")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the postbag command (run bench in its own folder): %w: %s", err, text)
	}
	l.postbag = program
	return program, nil
}

// startConsole starts a console over a store, as an operator would.
func (l *testbed) startConsole(ctx context.Context, s *shown) (*consoleProcess, error) {
	program, err := l.buildPostbag(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "console", "--store-env", envShown, "--store-kind", s.kind, "--listen", "127.0.0.1:0", "--payloads", "--commands")
	cmd.Env = append(os.Environ(), envShown+"="+s.dsn)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	said, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines, all := bufio.NewScanner(said), ""
	for lines.Scan() {
		all += lines.Text() + "\n"
		_, at, is := strings.Cut(lines.Text(), "the console is at ")
		if is {
			go func() { _, _ = io.Copy(os.Stderr, said) }()
			return &consoleProcess{url: strings.TrimSpace(at), cmd: cmd}, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("the console did not start: %s", all), cmd.Wait())
}

// cpu is the CPU time of the process.
func (c *consoleProcess) cpu() time.Duration {
	return processCPU(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
}

func (c *consoleProcess) stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return c.cmd.Wait()
}

package testserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// command is a program to run.
type command struct {
	name  string   // the server's name in error messages
	path  string   // of the program
	args  []string // without the program's own name
	env   []string // KEY=value, added to a short, fixed environment
	as    *account // the account to run under; nil is the caller's own
	input string   // standard input, for run only
	death os.Signal
	log   string // file that takes standard output and standard error; empty means nowhere
}

// build makes the [exec.Cmd]. The environment is not inherited: a PGHOST or PGOPTIONS of the developer would lead
// the programs astray.
func (c command) build(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/nonexistent"}, c.env...)
	setAttributes(cmd, c.as, c.death)
	return cmd
}

// run runs a short-lived program to its end and returns its standard output. The error holds the end of its standard
// error, never its arguments.
func (c command) run(ctx context.Context) (string, error) {
	runtime.LockOSThread() // the kernel's death signal follows the thread that forked
	defer runtime.UnlockOSThread()
	var out, diag strings.Builder
	cmd := c.build(ctx)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.input), &out, &diag
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("testserver: %s failed: %w: %s", c.name, err, lastLines(diag.String(), 8))
	}
	return out.String(), nil
}

// process is a running child. Its methods may be called concurrently.
type process struct {
	name string
	log  string
	proc *os.Process
	done chan struct{} // closed when it has ended
	end  error         // how it ended; read it only after done
}

// start starts a long-lived program.
//
// On Linux the child dies with the thread that forked it, so a goroutine locked to its thread forks and then stays
// until the child has ended.
func (c command) start() (*process, error) {
	out, err := c.openLog()
	if err != nil {
		return nil, err
	}
	p := &process{name: c.name, log: c.log, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		cmd := c.build(context.Background())
		if out != nil {
			cmd.Stdout, cmd.Stderr = out, out
			defer func() { _ = out.Close() }()
		}
		err := cmd.Start()
		p.proc = cmd.Process
		started <- err
		if err == nil {
			p.end = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		<-p.done
		return nil, fmt.Errorf("testserver: %s did not start: %w", c.name, err)
	}
	return p, nil
}

func (c command) openLog() (*os.File, error) {
	if c.log == "" {
		return nil, nil //nolint:nilnil // no log was asked for
	}
	out, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("testserver: %s: its log cannot be opened: %w", c.name, err)
	}
	return out, nil
}

// pid is the child's process id, also after its end.
func (p *process) pid() int { return p.proc.Pid }

// ended says whether the child is gone.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// howItEnded is never nil; read it only after done.
func (p *process) howItEnded() error {
	if p.end == nil {
		return errors.New("exit status 0")
	}
	return p.end
}

// signal sends a signal; a child that has ended already is no error.
func (p *process) signal(sig os.Signal) error {
	if err := p.proc.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("testserver: %s (process %d) could not be sent %v: %w", p.name, p.pid(), sig, err)
	}
	return nil
}

// wait waits for the child's end. How it ended is no error; ctx ending first is.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("testserver: %s (process %d) did not end: %w: %s",
			p.name, p.pid(), ctx.Err(), fileTail(p.log, 8))
	}
}

// stop sends sig and waits; when ctx ends first the child is killed.
func (p *process) stop(ctx context.Context, sig os.Signal) error {
	if err := p.signal(sig); err != nil {
		return err
	}
	err := p.wait(ctx)
	if err != nil {
		_ = p.signal(os.Kill)
		<-p.done
	}
	return err
}

// until waits for ready to be true, asking every few milliseconds, and gives up when the child or ctx has ended.
func (p *process) until(ctx context.Context, ready func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-p.done:
			return fmt.Errorf("testserver: %s ended while it was waited for: %w: %s", p.name, p.howItEnded(), fileTail(p.log, 12))
		case <-ctx.Done():
			return fmt.Errorf("testserver: %s was not there in time: %w: %s", p.name, ctx.Err(), fileTail(p.log, 12))
		case <-tick.C:
		}
	}
	return nil
}

// freeze stops the process, and returns when all its threads stand still.
func (p *process) freeze() error {
	if err := p.signal(sigStop); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return p.until(ctx, func() bool { return halted(p.pid()) })
}

// fileText returns what is in a file, or nothing.
func fileText(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// fileTail returns the last lines of a file, of 64 KiB at most, or nothing.
func fileTail(path string, lines int) string {
	const most = 64 << 10
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		if _, err := f.Seek(-most, io.SeekEnd); err != nil {
			return ""
		}
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return lastLines(string(text), lines)
}

func lastLines(text string, n int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-n):], "\n")
}

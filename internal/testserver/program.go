package testserver

import (
	"context"
	"os"
	"sync"
)

// Program is any program as a child process, such as one of the test's own roles. Like the servers it does not outlive who
// started it. Its methods may be called concurrently.
type Program struct {
	proc *process

	mu     sync.Mutex
	frozen bool
}

// ProgramOptions say what to start.
type ProgramOptions struct {
	// Name is the program's in errors. Path is where it is. Both are required.
	Name, Path string
	// Args are its arguments, without its own name.
	Args []string
	// Env is added to a short, fixed environment: "NAME=value".
	Env []string
	// Log is a file that its output is added to. Defaults to nowhere.
	Log string
}

// StartProgram starts a program and returns at once.
func StartProgram(opts ProgramOptions) (*Program, error) {
	proc, err := command{name: opts.Name, path: opts.Path, args: opts.Args, env: opts.Env, log: opts.Log}.start()
	if err != nil {
		return nil, err
	}
	return &Program{proc: proc}, nil
}

// Name is the program's in errors.
func (p *Program) Name() string { return p.proc.name }

// PID is the process's number, also after its end.
func (p *Program) PID() int { return p.proc.pid() }

// Done is closed when the process has ended.
func (p *Program) Done() <-chan struct{} { return p.proc.done }

// Ended says whether the process has ended, and with an error or a signal how; nil is an end with code 0.
func (p *Program) Ended() (bool, error) {
	if !p.proc.ended() {
		return false, nil
	}
	return true, p.proc.end
}

// Kill is kill -9. It returns when the process is gone; one that has ended is no error.
func (p *Program) Kill(ctx context.Context) error {
	if err := p.proc.signal(os.Kill); err != nil {
		return err
	}
	return p.proc.wait(ctx)
}

// Stop asks the process to end (SIGTERM) and waits for it; when ctx ends first it is killed, and the error says so. A frozen one
// goes on first.
func (p *Program) Stop(ctx context.Context) error {
	if err := p.Resume(); err != nil {
		return err
	}
	return p.proc.stop(ctx, sigTerm)
}

// Pause freezes the process (SIGSTOP), and returns when all its threads stand still.
func (p *Program) Pause() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = true
	return p.proc.freeze()
}

// Resume ends a Pause. Without one it does nothing.
func (p *Program) Resume() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.frozen {
		return nil
	}
	p.frozen = false
	return p.proc.signal(sigContinue)
}

// LogTail returns the last lines of what the process said.
func (p *Program) LogTail(lines int) string { return fileTail(p.proc.log, lines) }

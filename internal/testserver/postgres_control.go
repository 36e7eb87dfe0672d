package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// StopMode is how a PostgreSQL server goes down (the manual's chapter "Shutting Down the Server").
type StopMode int

// The modes.
const (
	// StopFast rolls back what is open, ends the sessions and writes a checkpoint. It is the zero value.
	StopFast StopMode = iota
	// StopSmart waits for the clients to go by themselves.
	StopSmart
	// StopImmediate ends everything at once; the next start recovers from the log.
	StopImmediate
)

func (m StopMode) signal() os.Signal {
	switch m {
	case StopSmart:
		return sigTerm
	case StopImmediate:
		return sigQuit
	default:
		return os.Interrupt
	}
}

// grace is how long orphaned backends get to notice that the postmaster was killed.
const grace = 5 * time.Second

// startAttempts is how many ports are tried: somebody may take a free one first.
const startAttempts = 5

// firstStart chooses the port, unless the caller did, and starts.
func (p *Postgres) firstStart(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opts.Port != 0 {
		p.port = p.opts.Port
		return errors.Join(p.configure(), p.start(ctx))
	}
	var err error
	for range startAttempts {
		if p.port, err = freePort(); err != nil {
			return err
		}
		if err = errors.Join(p.configure(), p.start(ctx)); err == nil || !portTaken(p.port) {
			return err
		}
	}
	return err
}

// Start starts the server again, after Stop or Kill, on the same port and data, and waits for it to accept connections.
func (p *Postgres) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.proc != nil && !p.proc.ended() {
		return errState("PostgreSQL", "start", "it runs already or is closed: Stop or Kill it first, or make a new one")
	}
	return p.start(ctx)
}

func (p *Postgres) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.opts.StartTimeout)
	defer cancel()
	proc, err := command{
		name: "PostgreSQL", path: p.programs.path("postgres"), as: p.as, death: sigQuit, log: p.logFile(),
		args: []string{"-D", p.data, "-c", "config_file=" + filepath.Join(p.data, "postgresql.conf")},
	}.start()
	if err != nil {
		return err
	}
	p.proc = proc
	if err := proc.until(ctx, p.ready); err != nil {
		return errors.Join(err, proc.stop(context.Background(), sigQuit))
	}
	return nil
}

// ready looks where pg_ctl looks: the eighth line of postmaster.pid says "ready", also on a standby that answers
// queries. The first line tells a file of an earlier life.
func (p *Postgres) ready() bool {
	line := p.pidFile()
	return len(line) >= 8 && line[0] == strconv.Itoa(p.proc.pid()) && strings.TrimSpace(line[7]) == "ready"
}

func (p *Postgres) pidFile() []string {
	text, err := os.ReadFile(filepath.Join(p.data, "postmaster.pid"))
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}

// Stop ends the server in an orderly way and waits for it. When ctx ends first the server is killed and the
// error says so. A server that does not run is no error.
func (p *Postgres) Stop(ctx context.Context, mode StopMode) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stop(ctx, mode)
}

func (p *Postgres) stop(ctx context.Context, mode StopMode) error {
	if p.proc == nil || p.proc.ended() {
		return nil
	}
	p.resume()
	if err := p.proc.signal(mode.signal()); err != nil {
		return err
	}
	err := p.proc.wait(ctx)
	if err != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*grace)
		defer cancel()
		err = errors.Join(err, p.kill(late))
	}
	return err
}

// Restart is Stop and Start.
func (p *Postgres) Restart(ctx context.Context, mode StopMode) error {
	if err := p.Stop(ctx, mode); err != nil {
		return err
	}
	return p.Start(ctx)
}

// Kill is kill -9 of the postmaster. It returns when all backends are gone too: they notice by themselves that they are
// orphans, and those busy with a statement finish it first, as after a real crash; after five seconds they are killed.
func (p *Postgres) Kill(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kill(ctx)
}

func (p *Postgres) kill(ctx context.Context) error {
	if p.proc == nil || p.proc.ended() {
		return nil
	}
	if err := p.proc.freeze(); err != nil { // stopped, it makes no more children
		return err
	}
	backends := children(p.proc.pid())
	if err := p.proc.stop(ctx, os.Kill); err != nil {
		return err
	}
	p.resume()
	return awaitGone(ctx, backends)
}

// awaitGone waits for processes that are not our children; those that stay are killed.
func awaitGone(ctx context.Context, all []relative) error {
	ctx, cancel := context.WithTimeout(ctx, 2*grace)
	defer cancel()
	deadline := time.Now().Add(grace)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		living := 0
		for _, r := range all {
			if !r.alive() {
				continue
			}
			living++
			if time.Now().After(deadline) {
				r.signal(os.Kill)
			}
		}
		if living == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("testserver: %d processes of the killed PostgreSQL are still there: %w", living, ctx.Err())
		case <-tick.C:
		}
	}
}

// Pause freezes the server and all its backends (SIGSTOP): connections stay open and nothing answers.
func (p *Postgres) Pause() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.proc == nil || p.proc.ended() {
		return errState("PostgreSQL", "pause", "it does not run: Start it first")
	}
	if err := p.proc.freeze(); err != nil { // stopped, it makes no more children
		return err
	}
	p.frozen = children(p.proc.pid())
	pids := []int{p.proc.pid()}
	for _, backend := range p.frozen {
		backend.signal(sigStop)
		pids = append(pids, backend.pid)
	}
	p.home.frozen(pids)
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return p.proc.until(ctx, func() bool {
		return !slices.ContainsFunc(p.frozen, func(r relative) bool { return r.alive() && !halted(r.pid) })
	})
}

// Resume ends a Pause. Without one it does nothing.
func (p *Postgres) Resume() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.proc == nil || p.proc.ended() {
		return errState("PostgreSQL", "resume", "it does not run: Start it first")
	}
	p.resume()
	return nil
}

func (p *Postgres) resume() {
	for _, backend := range p.frozen {
		backend.signal(sigContinue)
	}
	_ = p.proc.signal(sigContinue) // one that has ended needs none
	p.frozen = nil
	p.home.frozen(nil)
}

// Close ends the server at once and removes its files. It may be called twice, and after Kill.
func (p *Postgres) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	ctx, cancel := context.WithTimeout(context.Background(), 2*grace)
	defer cancel()
	err := p.stop(ctx, StopImmediate)
	p.dropSharedMemory(ctx)
	return errors.Join(err, p.home.Close())
}

// dropSharedMemory removes the small System V segment that a killed server leaves for its next start, which will not
// come. The seventh line of its postmaster.pid names it.
func (p *Postgres) dropSharedMemory(ctx context.Context) {
	lines := p.pidFile()
	if len(lines) < 7 {
		return
	}
	if words := strings.Fields(lines[6]); len(words) == 2 {
		_ = exec.CommandContext(ctx, "ipcrm", "-m", words[1]).Run() // a system without ipcrm keeps the segment
	}
}

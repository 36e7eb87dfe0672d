package chaos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/testserver"
)

// Server is implemented by a Broker whose server is a part of this program, such as a receiver of webhooks: it serves, in a process of
// its own, until ctx ends. arg is what Terms.Child was given.
type Server interface {
	Serve(ctx context.Context, arg string) error
}

// Child is a process of this program that serves for a Broker. It can be killed, frozen and started again like any server. Its methods
// may be called concurrently.
type Child struct {
	job Job
	log string

	mu      sync.Mutex
	program *testserver.Program
}

// Child starts a process whose Broker is a Server.
func (t Terms) Child(arg string) (*Child, error) {
	c := &Child{job: Job{Role: servers, Name: "server", Store: t.store, Broker: t.broker, To: arg}, log: filepath.Join(t.Dir, "server.log")}
	return c, c.Start(context.Background())
}

// servers is the role of a Child.
const servers Role = "server"

// Start starts it, again after Kill or Stop.
func (c *Child) Start(context.Context) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program != nil {
		if ended, _ := c.program.Ended(); !ended {
			return nil
		}
	}
	c.program, err = startRole(c.job, c.log, "")
	return err
}

// Kill is kill -9.
func (c *Child) Kill(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.program.Kill(ctx)
}

// Restart stops it in order and starts it again.
func (c *Child) Restart(ctx context.Context) error {
	c.mu.Lock()
	p := c.program
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return errors.Join(p.Stop(ctx), c.Start(ctx))
}

// Pause freezes it.
func (c *Child) Pause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.program.Pause()
}

// Resume ends a Pause.
func (c *Child) Resume() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.program.Resume()
}

// Close kills it. It may be called twice.
func (c *Child) Close() error { return c.Kill(context.Background()) }

// beServer serves until ctx ends.
func beServer(ctx context.Context, job *Job, b Broker) error {
	s, ok := b.(Server)
	if !ok {
		return fmt.Errorf("chaos: the broker %s has no method Serve; add it, or start no Child", b.Name())
	}
	return s.Serve(ctx, job.To)
}

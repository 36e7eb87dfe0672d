package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/testserver"
)

// crew are the relays' processes. Whoever falls is started again, as a service manager does.
type crew struct {
	job Job
	dir string
	run *run

	mu      sync.Mutex
	members []*member
	stopped bool
	watch   sync.WaitGroup
}

// member is one relay's place in the crew; process after process fills it.
type member struct {
	number int

	mu       sync.Mutex // held by whoever changes the process
	program  *testserver.Program
	lives    int
	expected bool // it was told to end
	armed    bool // a point of failure may end it
	falls    int  // since it was armed
}

func startCrew(r *run, job Job, n int) (*crew, error) {
	c := &crew{job: job, dir: r.dir, run: r}
	for i := range n {
		m := &member{number: i}
		c.members = append(c.members, m)
		if err := c.start(m); err != nil {
			return c, err
		}
	}
	return c, nil
}

// start fills a place with a new process.
func (c *crew) start(m *member) error {
	job := c.job
	job.Role, job.Name = Relays, fmt.Sprintf("relay%d-%d", m.number, m.lives)
	job.History = filepath.Join(c.dir, fmt.Sprintf("relay%d.%d.accepted", m.number, m.lives))
	m.lives++
	_ = os.Remove(c.failpoints(m)) // what killed the one before is over
	p, err := startRole(job, c.log(m), c.failpoints(m))
	if err != nil {
		return err
	}
	m.program, m.expected = p, false
	c.watch.Go(func() { c.mind(m, p) })
	return nil
}

func (c *crew) log(m *member) string {
	return filepath.Join(c.dir, fmt.Sprintf("relay%d.log", m.number))
}

// failpoints is the file that arms points in a relay.
func (c *crew) failpoints(m *member) string {
	return filepath.Join(c.dir, fmt.Sprintf("relay%d.points", m.number))
}

// mind waits for a process's end and starts another unless it was told to end.
func (c *crew) mind(m *member, p *testserver.Program) {
	<-p.Done()
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.ending() || m.expected || m.program != p {
		return
	}
	if _, how := p.Ended(); m.armed {
		m.falls++
	} else {
		c.run.fell(m.number, how)
	}
	time.AfterFunc(restartAfter, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if !c.ending() && m.program == p {
			if err := c.start(m); err != nil {
				c.run.failf("a relay did not start: %v", err)
			}
		}
	})
}

// restartAfter is how long a relay that ended by itself stays away.
const restartAfter = 300 * time.Millisecond

func (c *crew) ending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

// kill is kill -9 of a relay, and another takes its place.
func (c *crew) kill(ctx context.Context, i int) error {
	m := c.members[i]
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected = true
	return errors.Join(m.program.Kill(ctx), c.start(m))
}

// restart stops a relay in order, and another takes its place.
func (c *crew) restart(ctx context.Context, i int) error {
	m := c.members[i]
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected = true
	return errors.Join(stopRole(ctx, m.program, fmt.Sprintf("relay %d", i)), c.start(m))
}

// freeze stops a relay for a time.
func (c *crew) freeze(i int) (resume func() error, err error) {
	m := c.members[i]
	m.mu.Lock()
	p := m.program
	m.mu.Unlock()
	return p.Resume, p.Pause()
}

// stop ends all in order.
func (c *crew) stop(ctx context.Context) error {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	var errs []error
	for i, m := range c.members {
		m.mu.Lock()
		if m.program != nil {
			errs = append(errs, stopRole(ctx, m.program, fmt.Sprintf("relay %d", i)))
		}
		m.mu.Unlock()
	}
	c.watch.Wait()
	return errors.Join(errs...)
}

// stopRole asks a process to end and wants it to do so in order.
func stopRole(ctx context.Context, p *testserver.Program, name string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		return fmt.Errorf("chaos: %s does not end: %w", name, err)
	}
	if _, how := p.Ended(); how != nil {
		return fmt.Errorf("chaos: %s ended with %w: %s", name, how, p.LogTail(5))
	}
	return nil
}

// Job is what a process of a role is told.
type Job struct {
	Role    Role          `json:"role"`
	Name    string        `json:"name"`
	Store   string        `json:"store"`
	Broker  string        `json:"broker"`
	From    string        `json:"from"` // the store's DSN
	To      string        `json:"to"`   // the broker's DSN
	Topic   string        `json:"topic"`
	History string        `json:"history"` // the file of its events, or of what its destination accepted
	Origin  time.Time     `json:"origin"`
	Seed    uint64        `json:"seed"`
	Rate    int           `json:"rate"`
	Number  int           `json:"number"` // of the producer
	TTL     time.Duration `json:"ttl"`
}

// envJob is the variable that makes a process of this program one of a role.
const envJob = "POSTBAG_CHAOS_JOB"

// startRole starts this very program as a process of a role.
func startRole(job Job, log, points string) (*testserver.Program, error) {
	text, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return testserver.StartProgram(testserver.ProgramOptions{
		Name: job.Name, Path: self, Log: log,
		Env: []string{envJob + "=" + string(text), "POSTBAG_FAILPOINTS_FILE=" + points, "GORACE=" + os.Getenv("GORACE")},
	})
}

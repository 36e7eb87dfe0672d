package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/testserver"
)

// crew are the processes of a role. One that falls is started again, as a service manager does.
type crew struct {
	job Job // what all of them are told; its role is what each of them is called
	run *run

	mu      sync.Mutex
	members []*member
	guest   *member // one that is there for a while
	stopped bool
	deaths  []death
	watch   sync.WaitGroup
}

// member is one place in the crew; process after process fills it.
type member struct {
	number int

	mu       sync.Mutex // held while the process is changed
	program  *testserver.Program
	lives    int
	since    time.Time // when the process was started
	expected bool      // it was told to end
	armed    bool      // a point of failure may end it
	falls    int       // since it was armed
	logged   int64     // bytes of its log until then
}

func startCrew(r *run, job Job, n int) (*crew, error) {
	c := &crew{job: job, run: r}
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
	job.Name, job.Number, job.Life = c.name(m), m.number, m.lives
	job.History = historyOf(c.run.dir, &job)
	m.lives++
	_ = os.Remove(c.failpoints(m)) // what killed the one before is over
	p, err := startRole(job, c.log(m), c.failpoints(m))
	if err != nil {
		return err
	}
	m.program, m.expected, m.since = p, false, time.Now()
	c.watch.Go(func() { c.mind(m, p) })
	return nil
}

// name is what the next process of a place is called.
func (c *crew) name(m *member) string { return fmt.Sprintf("%s%d-%d", c.job.Role, m.number, m.lives) }

// place is what a place is called.
func (c *crew) place(i int) string { return fmt.Sprintf("%s %d", c.job.Role, i) }

func (c *crew) log(m *member) string { return c.file(m, "log") }

// failpoints is the file that arms points in a process.
func (c *crew) failpoints(m *member) string { return c.file(m, "points") }

func (c *crew) file(m *member, what string) string {
	return filepath.Join(c.run.dir, fmt.Sprintf("%s%d.%s", c.job.Role, m.number, what))
}

// historyOf is the file into which a process of a role records: its events, or what its destination accepted.
func historyOf(dir string, j *Job) string {
	what := "events"
	if j.Role == Relays {
		what = "accepted"
	}
	return filepath.Join(dir, fmt.Sprintf("%s%d.%d.%s", j.Role, j.Number, j.Life, what))
}

// mind waits for a process's end and starts another unless it was told to end.
func (c *crew) mind(m *member, p *testserver.Program) {
	<-p.Done()
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.ending() || m.expected || m.program != p {
		return
	}
	c.died(p)
	if _, how := p.Ended(); m.armed {
		m.falls++
	} else {
		c.run.fell(c, m, how)
	}
	time.AfterFunc(restartAfter, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if !c.ending() && m.program == p {
			if err := c.start(m); err != nil {
				c.run.failf("%s does not start: %v", c.place(m.number), err)
			}
		}
	})
}

// restartAfter is how long a process that ended by itself stays away.
const restartAfter = 300 * time.Millisecond

func (c *crew) ending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

// kill is kill -9 of a process, and another takes its place.
func (c *crew) kill(ctx context.Context, i int) error {
	m := c.members[i]
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected = true
	c.died(m.program)
	return errors.Join(m.program.Kill(ctx), c.start(m))
}

// restart stops a process in order, and another takes its place.
func (c *crew) restart(ctx context.Context, i int) error {
	m := c.members[i]
	m.mu.Lock()
	defer m.mu.Unlock()
	if ended, _ := m.program.Ended(); ended {
		return nil // it fell by itself, and mind starts another
	}
	m.expected = true
	c.died(m.program)
	young := time.Since(m.since) < youth
	err := stopRole(ctx, m.program, c.place(i))
	if _, ended := errors.AsType[*exec.ExitError](err); young && ended {
		err = nil // it had not come so far that it listens to signals
	}
	return errors.Join(err, c.start(m))
}

// youth is how long a process may take until it listens to signals.
const youth = 2 * time.Second

// freeze stops a process for a time.
func (c *crew) freeze(i int) (resume func() error, err error) {
	m := c.members[i]
	m.mu.Lock()
	p := m.program
	m.mu.Unlock()
	c.died(p)
	return p.Resume, p.Pause()
}

// join adds a process, until leave stops it in order. There is one at a time.
func (c *crew) join() (leave func(context.Context) error, err error) {
	if c.guest == nil {
		c.guest = &member{number: len(c.members)}
	}
	m := c.guest
	m.mu.Lock()
	defer m.mu.Unlock()
	return func(ctx context.Context) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		p := m.program
		m.expected, m.program = true, nil
		if ended, _ := p.Ended(); ended {
			return nil // it fell, which was told, and nobody takes its place
		}
		return stopRole(ctx, p, c.place(m.number))
	}, c.start(m)
}

// died notes that from now on others have to do what a process did.
func (c *crew) died(p *testserver.Program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deaths = append(c.deaths, death{relay: p.Name(), at: time.Now()})
}

// stop ends all in order.
func (c *crew) stop(ctx context.Context) error {
	return c.close(func(i int, p *testserver.Program) error { return stopRole(ctx, p, c.place(i)) })
}

// end kills all that are left.
func (c *crew) end(ctx context.Context) error {
	return c.close(func(_ int, p *testserver.Program) error { return p.Kill(ctx) })
}

// close ends what still runs, one after another, so that nobody takes its place.
func (c *crew) close(end func(i int, p *testserver.Program) error) error {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	var errs []error
	for i, m := range c.members {
		m.mu.Lock()
		if m.program != nil {
			errs = append(errs, end(i, m.program))
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
	Inbox   bool          `json:"inbox,omitempty"`
	From    string        `json:"from"` // the store's DSN
	To      string        `json:"to"`   // the broker's DSN
	Topic   string        `json:"topic"`
	Branch  string        `json:"branch,omitempty"` // the second topic
	History string        `json:"history"`          // the file of its events, or of what its destination accepted
	Origin  time.Time     `json:"origin"`
	Seed    uint64        `json:"seed"`
	Rate    int           `json:"rate"`
	Number  int           `json:"number"` // of its place among those of its role
	Life    int           `json:"life"`   // how many processes had that place before
	TTL     time.Duration `json:"ttl"`
	// Supersede is what becomes of rejected messages: a newer one of their key supersedes them.
	Supersede bool `json:"supersede,omitempty"`
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

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/failpoint"
	"github.com/postbag/postbag/store"
)

// ttl is the time of the relays' leases.
const ttl = 2 * time.Second

// run is one run of the harness.
type run struct {
	Options

	dir       string
	began     time.Time
	origin    time.Time // of the clock of the histories
	database  Database
	place     Place
	crew      *crew
	producers *crew
	operator  *operator
	watcher   *watcher
	overseer  *overseer
	sink      Database // behind the broker, if there is one
	takers    *crew    // the consumers that apply there
	consumer  *consumer
	damage    damage

	mu       sync.Mutex
	happened []Happening
	wipes    [][2]time.Time // from when everything had been read, to when the broker was empty
	unloaded time.Time      // when the producers were told to end
	failures []string
}

// Happening is a fault that happened.
type Happening struct {
	Fault    string
	Room     Room
	From, To time.Time
	Repeats  Repeats
	Stops    bool
	// Topic is the only one that it broke, if it broke no other.
	Topic string
	// Throughout: it lasted for the whole run.
	Throughout bool
	// Idle: it had no effect.
	Idle  bool
	Notes []string
}

// Run runs the harness once and returns its report. The error says that the run could not be made; what it found is in the report.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.defaults()
	r := &run{Options: o, dir: o.Dir, origin: time.Now()}
	defer func() { err = errors.Join(err, r.close(context.WithoutCancel(ctx))) }()
	if r.Inbox {
		return r.takeIn(ctx)
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	if err := r.inflict(ctx); err != nil {
		return nil, err
	}
	drained := r.drain(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.judge(ctx, drained)
}

// sayf writes a line about what happens.
func (r *run) sayf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := ""
	if !r.began.IsZero() {
		at = fmt.Sprintf("%7.2fs ", time.Since(r.began).Seconds())
	}
	_, _ = fmt.Fprintf(r.Log, at+format+"\n", args...) // a broken log is no fault of the run
}

// failf notes something that is wrong, which is not for the checker of histories.
func (r *run) failf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.sayf("WRONG: %s", text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, text)
}

// startServers starts the database and the broker.
func (r *run) startServers(ctx context.Context) error {
	t := Terms{Only: r.Only, Inbox: r.Inbox, store: r.Store.Name(), broker: r.Broker.Name()}
	for _, side := range []struct {
		name  string
		start func(Terms) error
	}{
		{"database", func(t Terms) (err error) { r.database, err = r.Store.Start(ctx, t); return err }},
		{"broker", func(t Terms) (err error) { r.place, err = r.Broker.Start(ctx, t); return err }},
	} {
		t.Dir = filepath.Join(r.dir, side.name)
		if err := os.MkdirAll(t.Dir, 0o755); err != nil { //nolint:gosec // as the folder above it
			return fmt.Errorf("chaos: the folder for logs and the report cannot be made: %w; name another", err)
		}
		if err := side.start(t); err != nil {
			return fmt.Errorf("chaos: the %s does not start: %w", side.name, err)
		}
	}
	r.sayf("%s", strings.Join(r.versions(), " to "))
	return nil
}

// versions say what runs, in the direction of the messages.
func (r *run) versions() []string {
	out := []string{r.database.Version(), r.place.Version()}
	if r.Inbox {
		slices.Reverse(out)
	}
	if r.sink != nil {
		out = append(out, r.sink.Version())
	}
	return out
}

// job is what processes of all roles are told.
func (r *run) job() Job {
	return Job{
		Store: r.Store.Name(), Broker: r.Broker.Name(), Inbox: r.Inbox, To: r.place.DSN(), Topic: r.place.Topic(), Branch: r.branch(), TTL: ttl,
		Seed: r.Seed, Rate: r.Rate / r.Producers, Origin: r.origin, Supersede: r.supersedes(),
	}
}

// supersedes says what the seed drew: whether newer messages supersede rejected ones.
func (r *run) supersedes() bool {
	return !r.Inbox && r.Sink == nil && !exactlyOnce(r.Broker) && rand.New(rand.NewPCG(r.Seed, 0)).IntN(2) == 0
}

// start starts servers, relays and producers, and waits until messages arrive.
func (r *run) start(ctx context.Context) (err error) {
	if err := r.startServers(ctx); err != nil {
		return err
	}
	if err := r.startSink(ctx); err != nil {
		return err
	}
	if err := r.known(); err != nil {
		return err
	}
	if r.consumer, err = startConsumer(ctx, r); err != nil {
		return err
	}
	if r.operator, err = startOperator(r); err != nil {
		return err
	}
	if r.watcher, err = startWatcher(ctx, r); err != nil {
		return err
	}
	if r.overseer, err = startOverseer(ctx, r); err != nil {
		return err
	}
	job := r.job()
	job.Role, job.From = Relays, r.database.DSN(Relays)
	if r.crew, err = startCrew(r, job, r.Relays); err != nil {
		return err
	}
	job.Role, job.From = Producers, r.database.DSN(Producers)
	if r.producers, err = startCrew(r, job, r.Producers); err != nil {
		return err
	}
	if err := r.startTakers(); err != nil {
		return err
	}
	return r.awaitArrivals(ctx)
}

// awaitArrivals waits for the first messages: the run begins then.
func (r *run) awaitArrivals(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := Until(ctx, func() bool { return r.consumer.count() > 100 }); err != nil {
		return fmt.Errorf("chaos: no messages arrive before any fault: %w; the logs are in %s", err, r.dir)
	}
	return nil
}

// faults are all that may come.
func (r *run) faults() []Fault {
	t := Terms{Only: r.Only}
	return slices.DeleteFunc(r.everyFault(), func(f Fault) bool { return !t.Wants(f.Name) })
}

// everyFault are all that there are.
func (r *run) everyFault() []Fault {
	if r.Inbox {
		return r.inboxFaults()
	}
	if r.Sink != nil { // what is in a log that is emptied is not delivered, so that nobody could say what is to be applied
		return whole(slices.Concat(r.processFaults(), r.pointFaults(), r.database.Faults(), r.place.Faults(), r.operatorFaults(), r.sinkFaults()))
	}
	return slices.Concat(r.processFaults(), r.pointFaults(), r.database.Faults(), r.logFaults(), r.place.Faults(), r.operatorFaults())
}

// known makes sure that the faults that may come are known: a run without any would show that nothing goes wrong.
func (r *run) known() error {
	var names []string
	for _, f := range r.everyFault() {
		names = append(names, f.Name)
	}
	for _, name := range r.Only {
		if slices.Contains(names, name) {
			continue
		}
		fix := fmt.Sprintf("write some of %q", names)
		if strings.HasPrefix(name, pointPrefix) && !failpoint.Enabled {
			fix = "build this program with -tags postbag_failpoints"
		}
		return fmt.Errorf("chaos: -only: no fault of %s is called %q; %s", r.pair(), name, fix)
	}
	return nil
}

// inflict lets everything on the schedule happen, and what lasts throughout.
func (r *run) inflict(ctx context.Context) error {
	faults := r.faults()
	plan := Draw(faults, r.For, r.Seed)
	r.sayf("the schedule of seed %d:", r.Seed)
	if err := PrintSchedule(r.Log, plan); err != nil {
		return err
	}
	r.began = time.Now()
	whole := ctx
	ctx, cancel := context.WithDeadline(ctx, r.began.Add(r.For))
	defer cancel()
	table, rooms := map[string]Fault{}, map[Room][]Blow{}
	var all sync.WaitGroup
	for i, f := range faults {
		table[f.Name] = f
		if f.Throughout {
			seed := r.Seed + uint64(i)
			all.Go(func() { r.strike(ctx, f, Blow{For: r.For, Fault: f.Name, Room: f.Room, Seed: seed}) })
		}
	}
	for _, b := range plan {
		rooms[b.Room] = append(rooms[b.Room], b)
	}
	for _, blows := range rooms {
		all.Go(func() {
			for _, b := range blows {
				if Pause(ctx, time.Until(r.began.Add(b.At))) != nil {
					return
				}
				r.strike(ctx, table[b.Fault], b)
			}
		})
	}
	all.Wait()
	_ = Pause(ctx, time.Until(r.began.Add(r.For))) // it ends with its deadline
	return whole.Err()
}

// strike lets one fault happen and notes it.
func (r *run) strike(ctx context.Context, f Fault, b Blow) {
	whole := context.WithoutCancel(ctx) // what was begun is ended in order
	s := &Strike{Rand: rand.New(rand.NewPCG(b.Seed, 0)), For: b.For, run: r}
	from := time.Now()
	limit, cancel := context.WithTimeout(whole, 2*time.Minute)
	defer cancel()
	end, err := f.Begin(limit, s)
	if err == nil && f.Topic != "" {
		r.lookAtTopic(ctx, s, f.Topic)
	}
	if err == nil && end != nil {
		_ = Pause(ctx, b.For-time.Since(from)) // the end of the run ends it too
		err = end(limit)
	}
	h := Happening{Fault: f.Name, Room: f.Room, From: from, To: time.Now(), Repeats: f.Repeats, Stops: f.Stops && !s.idle, Topic: f.Topic, Throughout: f.Throughout, Idle: s.idle, Notes: s.notes}
	if err != nil {
		r.failf("%s: %v", f.Name, err)
	}
	r.happen(h)
	r.sayf("%s, over after %s%s", h.Fault, lasted(h.To.Sub(h.From)), parenthesis(h.Notes))
}

func (r *run) happen(h Happening) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.happened = append(r.happened, h)
}

// fell notes a process that ended by itself.
func (r *run) fell(c *crew, m *member, how error) {
	h := Happening{Fault: fmt.Sprintf("fall of a %s", c.job.Role), Room: Processes, From: time.Now(), Notes: []string{fmt.Sprintf("%s: %v", c.place(m.number), how)}}
	if h.To = h.From; c.job.Role == Relays {
		h.Repeats = OneRelay
	}
	r.happen(h)
	if exit, is := errors.AsType[*exec.ExitError](how); is && exit.ExitCode() == panicked {
		r.failf("%s panicked; its log is %s", c.place(m.number), c.log(m))
		return
	}
	r.sayf("%s ended: %v", c.place(m.number), how)
}

// drain stops the producers and waits until everything has been delivered.
func (r *run) drain(ctx context.Context) error {
	r.sayf("no more faults")
	_ = Pause(ctx, calm) // the load goes on over healthy servers
	r.unloaded = time.Now()
	r.overseer.cancel() // without load nothing has to be taken over
	if err := r.producers.stop(ctx); err != nil {
		r.failf("%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, mostPatience)
	defer cancel()
	r.sayf("no more load")
	if err := r.operator.awaitDrained(ctx); err != nil {
		return err
	}
	r.sayf("drained")
	if err := r.drainSink(ctx); err != nil {
		return err
	}
	return Pause(ctx, ttl) // what a relay still says that believes to have its lease
}

const (
	calm     = 3 * time.Second
	patience = 2 * time.Minute
	// mostPatience bounds how long a backlog may take that becomes less and less.
	mostPatience = 20 * time.Minute
)

// close ends everything that was started.
func (r *run) close(ctx context.Context) error {
	var errs []error
	if r.consumer != nil {
		errs = append(errs, r.consumer.stop())
	}
	if r.watcher != nil {
		errs = append(errs, r.watcher.stop(nil))
	}
	if r.overseer != nil {
		errs = append(errs, r.overseer.stop(nil, nil, time.Time{}))
	}
	if r.operator != nil {
		errs = append(errs, r.operator.stop())
	}
	for _, c := range []*crew{r.producers, r.crew, r.takers} {
		if c != nil {
			errs = append(errs, c.end(ctx))
		}
	}
	if r.place != nil {
		errs = append(errs, r.place.Close())
	}
	for _, d := range []Database{r.database, r.sink} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	return errors.Join(errs...)
}

// backlog is what the default subscription still has before it.
func backlog(v *store.Overview) (waiting int64, parked map[store.ParkState]int64) {
	for _, b := range v.Boxes {
		waiting += b.Scheduled
		for _, s := range b.Subscriptions {
			waiting += s.Backlog
			return waiting, s.Parked
		}
	}
	return waiting, nil
}

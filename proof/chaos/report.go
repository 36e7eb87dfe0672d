package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/postbag/postbag/proof/history"
)

// Report is what a run found.
type Report struct {
	Pair     string        `json:"pair"`
	Inbox    bool          `json:"inbox,omitempty"` // from the broker to the store
	Versions []string      `json:"versions"`
	Seed     uint64        `json:"seed"`
	For      time.Duration `json:"for"` // in nanoseconds, as all times are
	// OK: all promises were held, and nothing else went wrong.
	OK bool `json:"ok"`
	// Load is what the producers did and what arrived.
	Load Load `json:"load"`
	// Faults are all that came, in their order. Counts are how often each kind did and had an effect, and Idle how often it came and
	// had none: nothing went over the wire, nobody came to the point, no message was dead.
	Faults []Strikes      `json:"faults"`
	Counts map[string]int `json:"counts"`
	Idle   map[string]int `json:"idle"`
	// History is the verdict on each promise.
	History *history.Report `json:"history"`
	// Failures are what went wrong beside that: a process that did not end in order, a run that did not come to rest.
	Failures []string `json:"failures"`
	// Samples are throughput and backlog, one for each SampleEvery of the run.
	Samples []Sample `json:"samples"`
}

// Load is how much went through.
type Load struct {
	Relays       int `json:"relays"` // consumers, in a run of an inbox
	Producers    int `json:"producers"`
	Transactions int `json:"transactions"`
	Committed    int `json:"committed"` // messages
	RolledBack   int `json:"rolledBack"`
	Unknown      int `json:"unknown"`   // transactions whose commit got no answer, and none later
	Inherited    int `json:"inherited"` // transactions whose producer was killed, and whose fate the next one found out
	Arrived      int `json:"arrived"`   // deliveries, with those that came again; effects, in a run of an inbox
	Effects      int `json:"effects,omitempty"`
}

// Strikes is one fault that happened.
type Strikes struct {
	Fault string        `json:"fault"`
	Room  Room          `json:"room"`
	At    time.Duration `json:"at"` // since the run's beginning
	For   time.Duration `json:"for"`
	Notes []string      `json:"notes,omitempty"`
	// Throughout: it lasted for the whole run.
	Throughout bool `json:"throughout,omitempty"`
	// Idle: it had no effect.
	Idle bool `json:"idle,omitempty"`
}

// slack is how long after a fault it can still cause a duplicate: leases change hands, a destination is probed again, and a busy
// machine takes its time.
const slack = 3*ttl + 10*time.Second

// resume is within what deliveries go on after a fault: TTL + 5 s are promised, and a busy machine is given more.
const resume = ttl + 5*time.Second + 20*time.Second

// judge stops the relays, lets the checker judge, and writes the report.
func (r *run) judge(ctx context.Context, drained error) (*Report, error) {
	if drained != nil {
		r.failf("%v", drained)
	}
	if err := r.crew.stop(ctx); err != nil {
		r.failf("%v", err)
	}
	quiet, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := r.consumer.awaitQuiet(quiet, time.Second); err != nil {
		r.failf("what lies in the broker cannot be read to its end: %v", err)
	}
	r.judgeLedger(ctx)
	r.judgeTopics()
	r.judgeUnread()
	if err := errors.Join(r.consumer.stop(), r.watcher.stop(r.happened), r.overseer.stop(r.crew.deaths, r.happened, r.unloaded), r.operator.events.Close(), r.noteFaults()); err != nil {
		return nil, err
	}
	effects, err := r.judgeSink(ctx)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.events"))
	if err != nil {
		return nil, err
	}
	excused, err := r.excused()
	if err != nil {
		return nil, err
	}
	f, err := r.fatesOf(files)
	if err != nil {
		return nil, err
	}
	verdict, err := history.CheckFiles(files, history.Options{
		Subscription: ref.Subscription, Effects: effects,
		InFlight: inFlight, Slack: slack, Resume: resume, Takeover: takeover, ExactlyOnce: exactlyOnce(r.Broker), MayPend: drained != nil,
		OpenTransaction: mostOpen, LockWait: mostWaited, Lookup: r.lookup(ctx, f, excused, drained != nil), Lookups: 100_000,
		Skip:   f.supersedes,
		Unseen: func(id history.ID) bool { return excused[id] || f.filtered(id) },
	}, history.Space{})
	if err == nil {
		err = r.judgeReplays(f, files)
	}
	if err != nil {
		return nil, err
	}
	r.judgeSuperseded(ctx, f)
	return r.report(verdict, files)
}

// noteFaults writes the history of the faults: what hits several relays is several faults.
func (r *run) noteFaults() error {
	e, err := newEvents(filepath.Join(r.dir, "faults.events"), r.origin)
	if err != nil {
		return err
	}
	for _, h := range r.happened {
		f := history.Fault{Kind: h.Fault, Target: string(h.Room), Begin: e.clock.At(h.From), End: e.clock.At(h.To), Stops: h.Stops}
		switch h.Repeats {
		case NoRelay:
			f.Window = -1
		case OneRelay:
			f.Window = inFlight
		case EveryRelay:
			f.Window = inFlight * r.Relays
		}
		e.Break(f)
	}
	if r.consumer == nil {
		return e.Close()
	}
	e.noteResumes(resumesOf(r.happened, r.consumer.came))
	e.noteResumes(resumesOf(ofTopics(r.happened), r.consumer.branch))
	return e.Close()
}

func (r *run) report(verdict *history.Report, files []string) (*Report, error) {
	out := &Report{
		Pair: r.pair(), Inbox: r.Inbox, Versions: r.versions(), Seed: r.Seed, For: r.For,
		OK:       len(r.failures) == 0 && verdict.Held(),
		Load:     Load{Relays: r.Relays, Producers: r.Producers},
		Faults:   []Strikes{},
		Counts:   map[string]int{},
		Idle:     map[string]int{},
		History:  verdict,
		Failures: append([]string{}, r.failures...),
	}
	slices.SortFunc(r.happened, func(a, b Happening) int { return a.From.Compare(b.From) })
	for _, h := range r.happened {
		if h.Idle {
			out.Idle[h.Fault]++
		} else {
			out.Counts[h.Fault]++
		}
		out.Faults = append(out.Faults, Strikes{
			Fault: h.Fault, Room: h.Room, At: h.From.Sub(r.began), For: h.To.Sub(h.From), Notes: h.Notes, Throughout: h.Throughout, Idle: h.Idle,
		})
	}
	if err := out.measure(files, history.NewClock(r.origin).At(r.began)); err != nil {
		return nil, err
	}
	return out, out.write(r.dir)
}

// write puts the report's three forms into a folder.
func (r *Report) write(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	plain, err := os.Create(filepath.Join(dir, "report.txt"))
	if err != nil {
		return err
	}
	plot, err := os.Create(filepath.Join(dir, "report.svg"))
	if err != nil {
		return errors.Join(err, plain.Close())
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "report.json"), append(text, '\n'), 0o600),
		r.Text(plain), plain.Close(), r.Plot(plot), plot.Close(),
	)
}

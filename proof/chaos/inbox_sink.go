package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
)

// A run with a sink is one of an outbox, with consumers that take in from the broker what the relays deliver, and apply it in a database
// of their own. Each committed message must have its effect once, in the order of the commits of its key.

// startSink starts the database behind the broker, and the consumers.
func (r *run) startSink(ctx context.Context) (err error) {
	if r.Sink == nil {
		return nil
	}
	t := Terms{Dir: filepath.Join(r.dir, "sink"), Only: r.Only, Inbox: true, store: r.Sink.Name(), broker: r.Broker.Name()}
	if err := os.MkdirAll(t.Dir, 0o755); err != nil { //nolint:gosec // as the folder above it
		return fmt.Errorf("chaos: the folder for logs and the report cannot be made: %w; name another", err)
	}
	if r.sink, err = r.Sink.Start(ctx, t); err != nil {
		return fmt.Errorf("chaos: the database of the inbox does not start: %w", err)
	}
	r.sayf("applied in %s", r.sink.Version())
	return nil
}

// startTakers starts the consumers, if there are to be any.
func (r *run) startTakers() (err error) {
	if r.Sink == nil {
		return nil
	}
	job := r.job()
	job.Role, job.Store, job.From = Consumers, r.Sink.Name(), r.sink.DSN(Relays)
	r.takers, err = startCrew(r, job, r.Relays)
	return err
}

// consumerRoom is where things happen to the consumers behind a broker.
const consumerRoom Room = "consumer"

// sinkFaults are what happens behind the broker. They delay no delivery to it.
func (r *run) sinkFaults() (out []Fault) {
	for _, f := range consumerFaults(r.takers) {
		f.Room = consumerRoom
		out = append(out, f)
	}
	for _, f := range r.sink.Faults() {
		if f.Outbox || f.Throughout {
			continue
		}
		f.Name, f.Room = "inbox: "+f.Name, "inbox: "+f.Room
		f.Repeats, f.Stops = NoRelay, false
		out = append(out, f)
	}
	return out
}

// whole are the faults that leave what is taken in where it is.
func whole(all []Fault) []Fault {
	return slices.DeleteFunc(all, func(f Fault) bool { return f.Wipes })
}

// drainSink waits until everything that lies in the broker has been applied.
func (r *run) drainSink(ctx context.Context) error {
	if r.Sink == nil {
		return nil
	}
	if err := r.consumer.awaitQuiet(ctx, time.Second); err != nil {
		return err
	}
	t := newTally()
	if _, err := history.ReadFile(filepath.Join(r.dir, "consumer.events"), t); err != nil {
		return err
	}
	delivered := map[string]bool{}
	for id := range t.arrived {
		delivered[postbag.ID(id).String()] = true
	}
	if err := r.awaitApplied(ctx, delivered); err != nil {
		return err
	}
	r.sayf("applied")
	return Pause(ctx, echo)
}

// judgeSink ends the consumers and records what they have done. It returns what is promised of that.
func (r *run) judgeSink(ctx context.Context) (history.Effects, error) {
	if r.Sink == nil {
		return history.NoEffects, nil
	}
	if err := r.takers.stop(ctx); err != nil {
		r.failf("%v", err)
	}
	return history.OnceInOrder, r.noteEffects(ctx)
}

package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/outagelog"
	"github.com/postbag/postbag/prompostbag"
	"github.com/postbag/postbag/source"
)

const (
	// firstOpening and lastOpening bound the wait before a source is opened again.
	firstOpening = 100 * time.Millisecond
	lastOpening  = 5 * time.Second
	// closeTimeout bounds the closing of a source.
	closeTimeout = 5 * time.Second
)

// Options say what an Intake does. All are needed.
type Options struct {
	// Settings describe the source and the box. They were checked.
	Settings config.Intake
	// Store has the box. It stays open.
	Store *component.Store
	// Grace is how long the last batch may take.
	Grace time.Duration
	// Logger gets a line for each change of state.
	Logger *slog.Logger
}

// Intake takes the messages of one source into a box. Make it with New, and call Run once.
type Intake struct {
	o   Options
	log *slog.Logger

	opened atomic.Pointer[opened]
	ended  atomic.Bool
}

// opened is what an Intake has once its source was opened.
type opened struct {
	from     source.Source
	receiver component.Receiver
}

// New returns an intake, and does no I/O. It has no error because the settings were checked.
func New(o Options) *Intake {
	log := o.Logger.With("source", o.Settings.Name, "from", o.Settings.From.Kind)
	return &Intake{o: o, log: log}
}

// Run opens the source, and takes messages in until ctx ends. Then it finishes the batch
// that it has, within the grace, closes the source, and returns nil. A source that cannot be
// opened is tried again. It returns an error with the code exit.Usage for settings that can
// never work, exit.NotFound where the store has no such box, and exit.Failed for a message
// with a fault where these stop it.
func (in *Intake) Run(ctx context.Context) error {
	defer in.ended.Store(true)
	s := in.o.Settings
	if err := component.CheckSource(ctx, s); err != nil {
		return exit.With(exit.Of(err), fmt.Errorf("source %s: %w", s.Name, err))
	}
	if err := in.o.Store.HasBox(ctx, s.Box); err != nil {
		return exit.With(exit.Of(err), fmt.Errorf("source %s: box %s: %w; make it with postbag migrate up --box %s, or with create: true in the store", s.Name, s.Box, err, s.Box))
	}
	from, err := in.open(ctx)
	if err != nil {
		return nil // it was told to stop before there was anything to do
	}
	receiver, err := in.o.Store.Receive(from, s, in.o.Grace, in.o.Logger)
	if err != nil {
		in.close(from)
		return exit.With(exit.Usage, fmt.Errorf("source %s: %w", s.Name, err))
	}
	in.opened.Store(&opened{from, receiver})
	facts := []any{"box", s.Box}
	if listens, can := from.(interface{ Address() string }); can {
		facts = append(facts, "address", listens.Address())
	}
	in.log.Info("intake: takes messages in", facts...)
	err = receiver.Run(ctx)
	in.ended.Store(true)
	in.close(from)
	if err != nil {
		return exit.With(exit.Failed, fmt.Errorf("source %s: %w", s.Name, err))
	}
	in.log.Info("intake: ended", "stored", receiver.Stats().Stored)
	return nil
}

// open opens the source, and tries again until it works or ctx ends. It says why not once a
// minute, and at once when the reason is another one.
func (in *Intake) open(ctx context.Context) (source.Source, error) {
	wait := firstOpening
	var told outagelog.Kinds
	for {
		from, err := component.OpenSource(ctx, in.o.Settings, in.o.Store, in.fault)
		if err == nil {
			return from, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if told.News(time.Now(), err.Error()) {
			in.log.Warn("intake: the source cannot be opened; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
		wait = min(2*wait, lastOpening)
	}
}

// fault logs what no call of the source reports.
func (in *Intake) fault(err error) {
	in.log.Warn("intake: the source reports a fault", "error", err)
}

// close sends what is acknowledged, and gives back what is not. What the broker does not hear of comes again, and is dropped
// then: that is no failure.
func (in *Intake) close(from source.Source) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := from.Close(ctx); err != nil {
		in.log.Warn("intake: the source did not close well; its last messages may come again, and are not stored again", "error", err)
	}
}

// Open says whether the source is open and takes messages in.
func (in *Intake) Open() bool { return in.opened.Load() != nil && !in.ended.Load() }

// Name is the name of the source.
func (in *Intake) Name() string { return in.o.Settings.Name }

// Stats returns what it counted so far, for metrics. It is safe for concurrent use.
func (in *Intake) Stats() prompostbag.SourceStats {
	out := prompostbag.SourceStats{Source: in.o.Settings.Name, Box: in.o.Settings.Box, Open: in.Open()}
	if o := in.opened.Load(); o != nil {
		out.Received = o.receiver.Stats()
		if out.Open {
			out.From = o.from
		}
	}
	return out
}

// RunAll runs intakes until ctx ends, or one of them fails: then it stops the others, and
// returns the error. With none it waits for the end of ctx.
func RunAll(ctx context.Context, all []*Intake) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, in := range all {
		group.Go(func() {
			if errs[i] = in.Run(ctx); errs[i] != nil {
				cancel()
			}
		})
	}
	group.Wait()
	if len(all) == 0 {
		<-ctx.Done()
	}
	return errors.Join(errs...)
}

// Before runs take and deliver until ctx ends. Then take ends first, and deliver when that is
// done: what was taken in last, deliver may still send within its own grace. If one of the
// two ends earlier, the other ends too. It returns the errors of both.
func Before(ctx context.Context, take, deliver func(context.Context) error) error {
	taking, cancel := context.WithCancel(ctx)
	defer cancel()
	delivering, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	taken, delivered := make(chan error, 1), make(chan error, 1)
	go func() { taken <- take(taking) }()
	go func() { delivered <- deliver(delivering) }()
	select {
	case err := <-taken:
		stop()
		return errors.Join(err, <-delivered)
	case err := <-delivered:
		cancel()
		return errors.Join(err, <-taken)
	}
}

package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/admin"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/intake"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/prompostbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// betweenOpenings is how long a worker waits before it tries to open its store again.
const betweenOpenings = 5 * time.Second

// worker is the relay of one store. One that works beside others may begin without its store, which is then not there for
// commands and metrics either.
type worker struct {
	name          string // empty: the only one
	file          *config.File
	subscriptions []relay.Subscription
	offered       map[string]broker.Destination // that operators can add subscriptions for
	sources       []config.Intake
	logger        *slog.Logger
	observer      *prompostbag.Observer // nil: nobody asks for metrics

	opened    atomic.Pointer[opened]
	faultSaid atomic.Int64 // when a fault of the store was last logged
}

// opened is what a worker has once its store was opened.
type opened struct {
	store   *component.Store
	relay   *relay.Relay // nil: there is no subscription
	intakes []*intake.Intake
}

var errNotOpen = errors.New("the store could not be opened yet")

// open opens the store and makes the relay.
func (w *worker) open(ctx context.Context) error {
	var boxes []string
	for i := range w.subscriptions {
		boxes = append(boxes, w.subscriptions[i].Box)
		if to := w.subscriptions[i].DeadTo; to != "" {
			boxes = append(boxes, to)
		}
	}
	for i := range w.sources {
		boxes = append(boxes, w.sources[i].Box)
	}
	s, err := component.OpenStore(ctx, w.file.AllStores()[w.name], component.StoreOptions{
		Boxes: boxes, Listen: len(w.subscriptions) > 0, OnFault: w.storeFault, MoreConns: len(w.sources),
	})
	if err != nil {
		return err
	}
	var intakes []*intake.Intake
	for _, one := range w.sources {
		intakes = append(intakes, intake.New(intake.Options{Settings: one, Store: s, Grace: w.file.Grace, Logger: w.logger}))
	}
	if len(intakes) > 0 && len(w.subscriptions) == 0 {
		w.opened.Store(&opened{store: s, intakes: intakes})
		return nil
	}
	r, err := relay.New(s.Store, relay.Options{
		Subscriptions: w.subscriptions, Destinations: w.offered, Boxes: w.boxes(), Name: w.file.Name, TTL: w.file.TTL, Grace: w.file.Grace, PollMax: w.file.Poll,
		SettleEvery: w.file.SettleEvery, Keep: w.file.Keep,
		NoMaintenance: w.file.Maintenance != nil && !*w.file.Maintenance, Logger: w.logger, Hooks: w.hooks(),
	})
	if err != nil {
		return errors.Join(exit.With(exit.Usage, err), s.Close())
	}
	w.opened.Store(&opened{s, r, intakes})
	return nil
}

// hooks are what the relay tells what it does.
func (w *worker) hooks() []relay.Hooks {
	if w.observer == nil {
		return nil
	}
	return []relay.Hooks{w.observer.Hooks()}
}

// boxes returns the settings of the boxes that the relay may read. Where there is one store, those of the others are for
// subscriptions that operators add.
func (w *worker) boxes() map[string]relay.Box {
	boxes := boxesOf(w.file, w.subscriptions)
	if w.name != "" || len(w.offered) == 0 {
		return boxes
	}
	for name, box := range w.file.Boxes {
		boxes[name] = settingsOf(box)
	}
	return boxes
}

// boxesOf returns the settings of the boxes that subscriptions read: others are in other stores.
func boxesOf(file *config.File, subscriptions []relay.Subscription) map[string]relay.Box {
	boxes := make(map[string]relay.Box)
	for i := range subscriptions {
		if box, set := file.Boxes[subscriptions[i].Box]; set {
			boxes[subscriptions[i].Box] = settingsOf(box)
		}
	}
	return boxes
}

func settingsOf(box config.Box) relay.Box {
	return relay.Box{Headers: box.Headers, Retention: box.Retention.Lifetimes()}
}

// storeFault logs what no call of the store reports: once a minute at most, because one that is
// away has the same fault again and again.
func (w *worker) storeFault(err error) {
	now := time.Now().UnixNano()
	said := w.faultSaid.Load()
	if said > 0 && now-said < int64(time.Minute) || !w.faultSaid.CompareAndSwap(said, now) {
		return
	}
	w.logger.Warn("postbag: the store has a fault", "error", err)
}

// patient says whether the worker goes on without its store: others have work to do meanwhile.
func (w *worker) patient(err error, drain bool) bool {
	return w.name != "" && len(w.file.Stores) > 1 && !drain && exit.Of(err) != exit.Usage
}

// work delivers until ctx ends, or with drain until nothing is left, and logs when it begins and ends.
func (w *worker) work(ctx context.Context, drain bool) (err error) {
	var said time.Time
	for w.opened.Load() == nil {
		if err := w.open(ctx); err == nil {
			break
		} else if !w.patient(err, drain) {
			return err
		} else if ctx.Err() == nil && time.Since(said) >= time.Minute { // once a minute
			said = time.Now()
			w.logger.Warn("postbag: the store cannot be opened; trying again", "error", err, "in", betweenOpenings)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(betweenOpenings):
		}
	}
	w.logger.Info("postbag: starts", "version", thisBuild().Version)
	r := w.opened.Load().relay
	defer func() {
		switch {
		case err != nil:
		case r == nil, r.Stats().Graceful:
			w.logger.Info("postbag: shut down gracefully")
		default:
			w.logger.Warn("postbag: ended and could not give its leases back: the store did not answer; other relays take over when the leases run out")
		}
	}()
	if drain {
		return drained(r, r.Drain(ctx))
	}
	forgetting, done := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { w.forget(forgetting) })
	defer group.Wait()
	defer done()
	return w.opened.Load().run(ctx)
}

// run takes messages in and delivers until ctx ends. The intakes end first.
func (o *opened) run(ctx context.Context) error {
	take := func(ctx context.Context) error { return intake.RunAll(ctx, o.intakes) }
	if o.relay == nil {
		return take(ctx)
	}
	return intake.Before(ctx, take, o.relay.Run)
}

// forget removes consumers' marks whose time is over, until ctx ends, unless maintenance is somebody else's.
func (w *worker) forget(ctx context.Context) {
	f := w.opened.Load().store.Forgetter
	if f == nil || w.file.Maintenance != nil && !*w.file.Maintenance {
		return
	}
	err := inbox.Maintain(ctx, f, 0, func(err error) {
		w.logger.Warn("postbag: marks of consumers whose time is over cannot be removed; trying again", "error", err)
	})
	if err != nil {
		w.storeFault(err)
	}
}

func (w *worker) close() error {
	if o := w.opened.Load(); o != nil {
		return o.store.Close()
	}
	return nil
}

// shown is what the admin listener serves.
func (w *worker) shown() admin.Source {
	out := admin.Source{Name: w.name, Store: w, Wake: w.wake}
	if len(w.subscriptions) > 0 {
		out.Stats, out.Observer = w.stats, w.observer
	}
	if len(w.sources) > 0 {
		out.Intakes = w.taken
	}
	return out
}

// taken is the state of the sources. One whose store is not open yet is not open.
func (w *worker) taken() (all []prompostbag.SourceStats) {
	if o := w.opened.Load(); o != nil {
		for _, in := range o.intakes {
			all = append(all, in.Stats())
		}
		return all
	}
	for i := range w.sources {
		all = append(all, prompostbag.SourceStats{Source: w.sources[i].Name, Box: w.sources[i].Box})
	}
	return all
}

// sourcesOf are the sources whose boxes are in a store.
func sourcesOf(file *config.File, name string) (out []config.Intake) {
	for _, s := range file.Sources {
		if s.Store == name {
			out = append(out, s)
		}
	}
	return out
}

func (w *worker) stats() relay.Stats {
	if o := w.opened.Load(); o != nil && o.relay != nil {
		return o.relay.Stats()
	}
	return relay.Stats{}
}

// wake has the relay look at a box now, or at all of them. It reports whether it reads that
// box; a store that is not open yet is looked at once it is.
func (w *worker) wake(box string) bool {
	if o := w.opened.Load(); o != nil && o.relay != nil {
		return o.relay.Wake(box)
	}
	return slices.ContainsFunc(w.subscriptions, func(s relay.Subscription) bool { return box == "" || s.Box == box })
}

// Overview implements store.Inspector.
func (w *worker) Overview(ctx context.Context) (store.Overview, error) {
	if o := w.opened.Load(); o != nil {
		return o.store.Overview(ctx)
	}
	return store.Overview{}, errNotOpen
}

// List implements store.Inspector.
func (w *worker) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	if o := w.opened.Load(); o != nil {
		return o.store.List(ctx, q)
	}
	return nil, "", errNotOpen
}

// Show implements store.Inspector.
func (w *worker) Show(ctx context.Context, box string, id postbag.ID) ([]store.Item, error) {
	if o := w.opened.Load(); o != nil {
		return o.store.Show(ctx, box, id)
	}
	return nil, errNotOpen
}

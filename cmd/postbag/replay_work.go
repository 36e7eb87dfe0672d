package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// replaying is a replay at work in this process.
type replaying struct {
	terminal   *terminal.Terminal
	file       *config.File
	name       string // of the store
	store      *component.Store
	operations operations.Store

	subscription config.Subscription // whose messages come again
	to           string              // the name of the destination
	destination  broker.Destination  // nil: not open yet
	relay        *relay.Relay
}

// replaying opens the store, and reads the configuration that has the subscription and its destination.
func (f *storeFlags) replaying(ctx context.Context, c *terminal.Terminal) (*replaying, error) {
	where, err := f.where()
	if err != nil {
		return nil, err
	}
	if !f.config.given() {
		return nil, exit.Usagef("a replay delivers by the settings of the subscription and of its destination; pass the configuration with -c FILE")
	}
	w := &replaying{terminal: c, name: f.name}
	if w.file, err = f.config.read(false); err != nil {
		return nil, err
	}
	if w.name == "" {
		for only := range w.file.AllStores() { // where says that there is one
			w.name = only
		}
	}
	where.Create = false
	if w.store, err = component.OpenStore(ctx, where, component.StoreOptions{}); err != nil {
		return nil, err
	}
	w.operations = w.store.Operations()
	return w, nil
}

// configured finds the settings of the subscription, and of the destination: its own if the name is empty.
func (w *replaying) configured(of store.Ref, to string) error {
	i := slices.IndexFunc(w.file.Subscriptions, func(s config.Subscription) bool {
		return s.Box == of.Box && s.Name == of.Subscription && s.Store == w.name
	})
	if i < 0 {
		return exit.With(exit.NotFound, fmt.Errorf("the configuration has no subscription %s of box %s; name one that it has", of.Subscription, of.Box))
	}
	w.subscription, w.to = w.file.Subscriptions[i], to
	if to == "" {
		w.to = w.subscription.To
	}
	if _, there := w.file.Destinations[w.to]; !there {
		return exit.With(exit.NotFound, fmt.Errorf("the configuration has no destination %s; it has %s", terminal.Printable(w.to),
			strings.Join(slices.Sorted(maps.Keys(w.file.Destinations)), ", ")))
	}
	return nil
}

// open opens the destination, and makes the relay of a replay. So what is wrong with either is said before anything is
// written.
func (w *replaying) open(ctx context.Context, p *store.Replay) (err error) {
	if w.destination, err = component.OpenDestination(ctx, w.to, w.file.Destinations[w.to], w.terminal); err != nil {
		return err
	}
	s := subscription(w.subscription, w.destination)
	s.ToName, s.Replay, s.ExactlyOnce = w.to, p, false
	all := []relay.Subscription{s}
	w.relay, err = relay.New(w.store.Store, relay.Options{
		Subscriptions: all, Boxes: boxesOf(w.file, all), TTL: w.file.TTL, Grace: w.file.Grace, PollMax: w.file.Poll,
		SettleEvery: w.file.SettleEvery, NoMaintenance: true, Logger: newLogger(w.terminal, w.file.Log),
	})
	return exit.With(exit.Usage, err)
}

// close closes what was opened.
func (w *replaying) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var err error
	if w.destination != nil {
		err = w.destination.Close(ctx)
	}
	return errors.Join(err, w.store.Close())
}

// work delivers the messages of a replay until it is through, and removes it then.
func (w *replaying) work(ctx context.Context, a store.Audit, p *store.Replay) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		failed = w.relay.Run(running)
	}()
	v, err := w.watch(ctx, p, ended)
	stop()
	<-ended
	if err = errors.Join(err, failed); err != nil || v == nil {
		return err
	}
	if dead := v.Parked[store.ParkDead.String()]; v.State == operations.ReplayDead {
		behind := ""
		if n := v.Parked[store.ParkBlocked.String()]; n > 0 {
			behind = fmt.Sprintf(" and %s of their keys behind", terminal.Count(n, "message"))
		}
		return exit.With(exit.Failed, fmt.Errorf("replay %s is through but for %s%s: see postbag messages list --subscription %s --state dead; retry them and run postbag replay resume %s, or end it with postbag replay cancel %s",
			v.Name, terminal.Count(dead, "dead message"), behind, v.Name, v.Name, v.Name))
	}
	return endReplay(context.WithoutCancel(ctx), w.terminal, w.operations, a, p.Ref, "is through")
}

// replayLook is how often the store is asked how far a replay is.
const replayLook = 500 * time.Millisecond

// watch shows how far a replay is, until it is through, ctx ends or its relay does. It returns the replay if it is through.
func (w *replaying) watch(ctx context.Context, p *store.Replay, ended <-chan struct{}) (*operations.Replay, error) {
	progress := w.terminal.Progress("replayed seqs", int(p.Through-p.After))
	defer progress.End()
	tick := time.NewTicker(replayLook)
	defer tick.Stop()
	shown := p.After
	var before string // the counts of the look before, if it was dead then
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ended:
			return nil, nil //nolint:nilnil // the relay says why
		case <-tick.C:
		}
		v, err := w.operations.Replay(ctx, p.Ref)
		switch {
		case errors.Is(err, operations.ErrNotFound):
			return nil, exit.With(exit.Failed, fmt.Errorf("replay %s was ended by another command; what was sent until then stays sent", p.Ref.Subscription))
		case err != nil: // the relay waits for the store, and logs it
			continue
		case v.State == operations.ReplayThrough:
			return v, nil
		case v.State == operations.ReplayDead && before == v.Counts(): // twice: a row may change between two questions of one look
			return v, nil
		}
		before = ""
		if v.State == operations.ReplayDead {
			before = v.Counts()
		}
		progress.Add(int(v.Floor - shown))
		shown = v.Floor
	}
}

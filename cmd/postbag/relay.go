package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/admin"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/gcpacing"
	"github.com/postbag/postbag/prompostbag"
	"github.com/postbag/postbag/relay"
)

// closeTimeout bounds the closing of a destination.
const closeTimeout = 5 * time.Second

// runRelay delivers and takes messages in until ctx ends, or with drain delivers until nothing is left.
func runRelay(ctx context.Context, c *terminal.Terminal, file *config.File, drain bool) (err error) {
	defer gcpacing.Hold()()
	defer limitMemory(file)()
	logger := newLogger(c, file.Log)
	hearLibraries(logger)
	subscriptions, open, closeAll, err := openSubscriptions(ctx, c, file)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return stopped(ctx, drain, err)
	}
	tel, err := openTelemetry(ctx, file.OTel, logger)
	if err != nil {
		return err
	}
	defer tel.close()
	tel.trace(subscriptions)
	offered := tel.traced(offer(ctx, c, file, open, logger))
	var workers []*worker
	for _, name := range slices.Sorted(maps.Keys(file.AllStores())) {
		w := &worker{name: name, file: file, subscriptions: subscriptions[name], offered: offered, sources: sourcesOf(file, name), logger: logger}
		if len(file.Subscriptions) == 0 && len(w.sources) == 0 {
			continue // it is another process's
		}
		if file.Admin.Listen != "" {
			w.observer = prompostbag.NewObserver()
		}
		if name != "" {
			w.logger = logger.With("store", name)
		}
		defer func() { err = errors.Join(err, w.close()) }()
		if err := w.open(ctx); err != nil && !w.patient(err, drain) {
			return stopped(ctx, drain, err)
		}
		workers = append(workers, w)
		if err := tel.observe(w); err != nil {
			return exit.With(exit.Failed, err)
		}
	}
	sources := make([]admin.Source, len(workers))
	for i, w := range workers {
		sources[i] = w.shown()
	}
	pages, err := adminConsole(ctx, c, file, workers, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.close()) }()
	listener, err := admin.Start(file.Admin.Listen, consoleMayBeAt(file), sources, pages.Handler, logger)
	if err != nil && exit.Of(err) != exit.Usage {
		err = exit.With(exit.Failed, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.end(), listener.Close()) }()
	return workAll(ctx, workers, drain)
}

// stopped is what a relay ends with that did not get to open what it works with. One that
// was told to stop meanwhile ends well: it had nothing yet. A drain was ended before it
// was done.
func stopped(ctx context.Context, drain bool, err error) error {
	switch {
	case ctx.Err() == nil, exit.Of(err) == exit.Usage:
		return err
	case drain:
		return ctx.Err()
	default:
		return nil
	}
}

// workAll has all workers work until ctx ends or one of them fails.
func workAll(ctx context.Context, workers []*worker, drain bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, len(workers))
	for _, w := range workers {
		go func() { ended <- w.work(ctx, drain) }()
	}
	var errs []error
	for range workers {
		err := <-ended
		if errs = append(errs, err); err != nil {
			cancel()
		}
	}
	return errors.Join(errs...)
}

// drained says what a drain could not deliver: who waits for its end wants to
// know.
func drained(r *relay.Relay, err error) error {
	for _, s := range r.Stats().Subscriptions {
		if err == nil && s.Circuit != "closed" {
			err = exit.With(exit.Unavailable, fmt.Errorf("relay: the destination of %s does not take messages, and they wait: %s",
				s.Ref, s.LastError))
		}
	}
	if errors.Is(err, relay.ErrHeld) {
		err = exit.With(exit.Held, err)
	}
	return err
}

// openSubscriptions opens each destination once and wires the subscriptions of each store.
func openSubscriptions(ctx context.Context, c *terminal.Terminal, file *config.File) (map[string][]relay.Subscription, map[string]broker.Destination, func() error, error) {
	open := make(map[string]broker.Destination)
	closeAll := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		var errs []error
		for _, d := range open {
			errs = append(errs, d.Close(ctx))
		}
		return errors.Join(errs...)
	}
	out := make(map[string][]relay.Subscription)
	for _, s := range file.Subscriptions {
		if open[s.To] == nil {
			d, err := component.OpenDestination(ctx, s.To, file.Destinations[s.To], c)
			if err != nil {
				return nil, open, closeAll, err
			}
			open[s.To] = d
		}
		out[s.Store] = append(out[s.Store], subscription(s, open[s.To]))
	}
	return out, open, closeAll, nil
}

// offer returns the destinations that subscriptions can have which operators add. It opens those that no subscription of the
// file has, all at the same time: some wait for their server a while. One that cannot be opened is left out, since nothing
// needs it yet.
func offer(ctx context.Context, c *terminal.Terminal, file *config.File, open map[string]broker.Destination, logger *slog.Logger) map[string]broker.Destination {
	out := make(map[string]broker.Destination)
	if len(file.Subscriptions) == 0 {
		return out
	}
	type result struct {
		name string
		to   broker.Destination
		err  error
	}
	opened, n := make(chan result, len(file.Destinations)), 0
	for name, settings := range file.Destinations {
		switch {
		case component.Addable(settings) != "":
		case open[name] != nil:
			out[name] = open[name]
		default:
			n++
			go func() {
				d, err := component.OpenDestination(ctx, name, settings, c)
				opened <- result{name, d, err}
			}()
		}
	}
	for range n {
		one := <-opened
		if one.err != nil {
			logger.Warn("postbag: a destination that no subscription of the configuration has cannot be opened; operators cannot add subscriptions for it", "destination", one.name, "error", one.err)
			continue
		}
		open[one.name], out[one.name] = one.to, one.to
	}
	return out
}

// subscription translates the file's words; they were checked when it was read.
func subscription(s config.Subscription, to broker.Destination) relay.Subscription {
	orders := map[string]relay.Order{"key": relay.ByKey, "shard": relay.ByShard, "none": relay.Unordered}
	out := relay.Subscription{
		To: to, ToName: s.To, Box: s.Box, Name: s.Name, Headers: s.Headers, Types: s.Types, Where: s.Filter().Where, Shards: s.Shards,
		Order: orders[s.Order], ExactlyOnce: s.ExactlyOnce, Timeout: s.Timeout,
		Batch: s.Batch, RetryBatch: s.RetryBatch, InFlight: s.InFlight, MaxHeld: s.MaxHeld, Buffer: int(s.Buffer), Concurrency: s.Concurrency,
		Rate: relay.Rate{
			Messages: s.Rate.Messages, Bytes: float64(s.Rate.Bytes),
			Burst: s.Rate.Burst, BurstBytes: int(s.Rate.BurstBytes), Shared: s.Rate.Shared,
		},
	}
	out.Retry, out.Retries = retries(&s.Retry)
	out.Encoder, _ = s.Format.Encoder() // checked when it was read
	out.Cadence, _ = relay.ParseCadence(s.Cadence)
	if s.DeadTo != nil {
		out.DeadTo, out.DeadTopic = s.DeadTo.Box, s.DeadTo.Topic
	}
	out.OnReject = map[string]relay.OnReject{"skip": relay.Skip, "supersede": relay.Supersede}[s.OnReject]
	switch s.From {
	case "", "first":
	case "now":
		out.From = relay.Now()
	default:
		out.From.At, _ = s.Begins(time.Now()) // checked when it was read
	}
	return out
}

// retries translates the settings of retries. Where there are pauses, the defaults of min, max and factor mean nothing.
func retries(r *config.Retry) (relay.Retry, []relay.RetryRule) {
	all := relay.Retry{
		Min: r.Min, Max: r.Max, Factor: r.Factor, Pauses: r.Pauses,
		MaxAttempts: r.MaxAttempts, MaxAge: r.MaxAge, Quick: r.Quick,
	}
	if len(r.Pauses) > 0 {
		all.Min, all.Max, all.Factor = 0, 0, 0
	}
	var rules []relay.RetryRule
	for i := range r.Rules {
		one := &r.Rules[i]
		rule := relay.RetryRule{Types: one.Types, Retry: relay.Retry{
			Min: one.Min, Max: one.Max, Factor: one.Factor, Pauses: one.Pauses,
			MaxAttempts: one.MaxAttempts, MaxAge: one.MaxAge, Quick: one.Quick,
		}}
		if len(one.Errors) > 0 {
			rule.Errors = contains(one.Errors)
		}
		rules = append(rules, rule)
	}
	return all, rules
}

// contains returns what says whether an error contains one of the texts, whatever their case.
func contains(texts []string) func(error) bool {
	lower := make([]string, len(texts))
	for i, t := range texts {
		lower[i] = strings.ToLower(t)
	}
	return func(err error) bool {
		said := strings.ToLower(err.Error())
		return slices.ContainsFunc(lower, func(t string) bool { return strings.Contains(said, t) })
	}
}

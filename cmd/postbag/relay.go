package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/admin"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/relay"
)

// closeTimeout bounds the closing of a destination.
const closeTimeout = 5 * time.Second

// runRelay works until ctx ends, or with drain until nothing is left.
func runRelay(ctx context.Context, c *console.Console, file *config.File, drain bool) (err error) {
	logger := newLogger(c, file.Log)
	var boxes []string
	for _, s := range file.Subscriptions {
		boxes = append(boxes, s.Box)
	}
	s, err := component.OpenStore(ctx, file.Store, component.StoreOptions{
		Boxes: boxes, Listen: true, OnFault: func(err error) { logger.Warn("postbag: the store has a fault", "error", err) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	subscriptions, closeAll, err := openSubscriptions(ctx, c, file)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return err
	}
	r, err := relay.New(s.Store, relay.Options{
		Subscriptions: subscriptions, Name: file.Name, TTL: file.TTL, Grace: file.Grace, Keep: file.Keep,
		NoMaintenance: file.Maintenance != nil && !*file.Maintenance, Logger: logger,
	})
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	listener, err := admin.Start(file.Admin.Listen, r.Stats, s, logger)
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	return work(ctx, r, file, drain, logger)
}

// work delivers until ctx ends, or with drain until nothing is left, and logs when
// it begins and ends.
func work(ctx context.Context, r *relay.Relay, file *config.File, drain bool, logger *slog.Logger) (err error) {
	for _, s := range file.Subscriptions {
		logger.Info("postbag: begins to deliver", "subscription", s.Box+"/"+s.Name, "to", s.To, "version", thisBuild().Version)
	}
	defer func() {
		if err == nil {
			logger.Info("postbag: handed over and ended")
		}
	}()
	if drain {
		return drained(r, r.Drain(ctx))
	}
	return r.Run(ctx)
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
	return err
}

// openSubscriptions opens each destination once and wires the subscriptions.
func openSubscriptions(ctx context.Context, c *console.Console, file *config.File) ([]relay.Subscription, func() error, error) {
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
	var out []relay.Subscription
	for _, s := range file.Subscriptions {
		if open[s.To] == nil {
			d, err := component.OpenDestination(ctx, s.To, file.Destinations[s.To], c)
			if err != nil {
				return nil, closeAll, err
			}
			open[s.To] = d
		}
		out = append(out, subscription(s, open[s.To]))
	}
	return out, closeAll, nil
}

// subscription translates the file's words; they were checked when it was read.
func subscription(s config.Subscription, to broker.Destination) relay.Subscription {
	orders := map[string]relay.Order{"key": relay.ByKey, "shard": relay.ByShard, "none": relay.Unordered}
	out := relay.Subscription{
		To: to, Box: s.Box, Name: s.Name, Types: s.Types, Shards: s.Shards,
		Order: orders[s.Order], Timeout: s.Timeout,
		Batch: s.Batch, RetryBatch: s.RetryBatch, InFlight: s.InFlight, Concurrency: s.Concurrency,
		Retry: relay.Retry{
			Min: s.Retry.Min, Max: s.Retry.Max, Factor: s.Retry.Factor,
			MaxAttempts: s.Retry.MaxAttempts, Quick: s.Retry.Quick,
		},
	}
	if s.OnReject == "skip" {
		out.OnReject = relay.Skip
	}
	switch s.From {
	case "", "first":
	case "now":
		out.From = relay.Now()
	default:
		out.From.At, _ = time.Parse(time.RFC3339, s.From) // checked when it was read
	}
	return out
}

// newLogger logs to standard error, for standard output may be a destination. What
// looks like a secret in an error is taken out.
func newLogger(c *console.Console, l config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l.Level)) // checked when it was read; the zero level is info
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case error:
			a.Value = slog.StringValue(config.Redact(v.Error()))
		case string:
			a.Value = slog.StringValue(config.Redact(v))
		}
		return a
	}}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(c.Err, o))
	}
	return slog.New(slog.NewTextHandler(c.Err, o))
}

package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/admin"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/prompostbag"
	"github.com/postbag/postbag/store"
)

// metricsFlags say of which store metrics are served, and where.
type metricsFlags struct {
	store storeFlags
	admin string
	every time.Duration
	once  bool
	log   config.Log // of the file
}

func newMetricsCommand(c *terminal.Terminal) *cobra.Command {
	var f metricsFlags
	cmd := &cobra.Command{
		Use:   "metrics",
		Short: "Serve what the store knows as metrics, without a relay",
		Long: `Serve metrics for Prometheus until told to stop: backlog and its age, parked and dead messages,
what was delivered and discarded, relays, scheduled messages. They are read from the store, so
they are there when no relay runs, and they hold for all relays. A relay serves them too.

It listens at --admin, or at admin.listen of the file. However often scrapes come, the store is
asked at most once in the time of --every. It needs the rights of a console (postbag grants --for console).
With --once it prints the metrics and ends.`,
		Example: `  postbag metrics -c postbag.yaml --admin 9191
  postbag metrics --store-env DATABASE_URL --once`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if f.every < time.Second || f.every > time.Hour {
				return exit.Usagef("--every is %v; choose between 1s and 1h", f.every)
			}
			address, err := f.address()
			if err != nil {
				return err
			}
			s, err := f.store.open(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			if f.once {
				return printMetrics(cmd.Context(), c, s)
			}
			return f.serve(cmd.Context(), c, s, address)
		},
	}
	f.store.add(cmd)
	cmd.Flags().StringVar(&f.admin, "admin", "", "listen at this `address`; a bare port means loopback")
	cmd.Flags().BoolVar(&f.once, "once", false, "print the metrics and end")
	f.every = 15 * time.Second
	cmd.Flags().Var(duration.Flag(&f.every), "every", "ask the store at most once in this `time`")
	return cmd
}

// address returns where to listen, if the metrics are served, and notes how to log.
func (f *metricsFlags) address() (string, error) {
	if f.once {
		if f.admin != "" {
			return "", exit.Usagef("--once and --admin are both given; print the metrics, or serve them")
		}
		return "", nil
	}
	listen := f.admin
	if f.store.config.given() {
		file, err := f.store.config.read(false)
		if err != nil {
			return "", err
		}
		listen, f.log = cmp.Or(listen, file.Admin.Listen), file.Log
	}
	if listen == "" {
		return "", exit.Usagef("there is no address to serve metrics at; pass --admin ADDRESS, or set admin.listen in the file, or use --once")
	}
	address, mistake := config.ListenAddress(listen)
	if mistake != "" {
		return "", exit.Usagef("--admin %s", mistake)
	}
	return address, nil
}

// serve serves the metrics until ctx ends.
func (f *metricsFlags) serve(ctx context.Context, c *terminal.Terminal, s *component.Store, address string) error {
	listener, err := admin.Start(address, nil, []admin.Source{{Store: s, Every: f.every}}, nil, newLogger(c, f.log))
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	<-ctx.Done()
	return listener.Close()
}

// answered is a store that was asked already.
type answered struct {
	store.Inspector

	overview store.Overview
}

func (a answered) Overview(context.Context) (store.Overview, error) { return a.overview, nil }

// printMetrics writes the metrics of a store once, in the form that Prometheus reads, or as JSON.
func printMetrics(ctx context.Context, c *terminal.Terminal, s *component.Store) error {
	o, err := s.Overview(ctx)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(prompostbag.NewCollector(prompostbag.Options{Store: answered{overview: o}}))
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	shown := []metric{}
	for _, family := range families {
		if !c.JSON {
			if _, err := expfmt.MetricFamilyToText(c.Out, family); err != nil {
				return err
			}
			continue
		}
		for _, m := range family.GetMetric() {
			one := metric{Name: family.GetName(), Labels: map[string]string{}, Value: cmp.Or(m.GetGauge().GetValue(), m.GetCounter().GetValue())}
			for _, l := range m.GetLabel() {
				one.Labels[l.GetName()] = l.GetValue()
			}
			shown = append(shown, one)
		}
	}
	if c.JSON {
		return c.Emit(shown)
	}
	return nil
}

// metric is one of them in JSON.
type metric struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
}

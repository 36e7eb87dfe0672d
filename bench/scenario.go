package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// scenario is one measure: several ways to do the same work.
type scenario struct {
	name string
	what string
	goal goal
	long bool // only in the long form
	ways []way
	// done ends what all samples shared, and more returns what pages of a console took in all of them. Nil: nothing.
	done func(context.Context) error
	more func() []pageTimes
}

// goal is what is meant to be reached, see the performance page.
type goal struct {
	text  string
	reach func(r *result) (value float64, ok bool)
}

// way is one way to do a scenario's work. It runs once a round, on a fresh box.
type way struct {
	name string
	run  func(ctx context.Context, l *testbed) (sample, error)
}

// sample is what one run of a way found.
type sample struct {
	// Value is the measure, in Unit: messages a second mostly.
	Value float64 `json:"value"`
	// ServerCPU and ClientCPU are microseconds of CPU time a message.
	ServerCPU float64 `json:"server_cpu_us"`
	ClientCPU float64 `json:"client_cpu_us"`
	// Extra are further figures, by name.
	Extra map[string]float64 `json:"extra,omitempty"`
	// Pages are what pages of a console took.
	Pages []pageTimes `json:"pages,omitempty"`
}

// result is a scenario's samples.
type result struct {
	Name    string              `json:"name"`
	What    string              `json:"what"`
	Goal    string              `json:"goal"`
	Samples map[string][]sample `json:"samples"`
	Ways    []string            `json:"ways"`
	Value   float64             `json:"goal_value"`
	Reached bool                `json:"reached"`
	Pages   []pageTimes         `json:"pages,omitempty"`
}

// run does all ways of a scenario in interleaved rounds.
func (l *testbed) run(ctx context.Context, s *scenario) (r result, err error) {
	if s.done != nil {
		defer func() { err = errors.Join(err, s.done(context.WithoutCancel(ctx))) }()
	}
	r = result{Name: s.name, What: s.what, Goal: s.goal.text, Samples: map[string][]sample{}}
	for _, w := range s.ways {
		r.Ways = append(r.Ways, w.name)
	}
	for range l.settings.rounds {
		for _, w := range s.ways {
			if err := l.calm(ctx); err != nil {
				return r, err
			}
			l.profile.next(s.name, w.name)
			v, err := w.run(ctx, l)
			if err := errors.Join(err, l.profile.stop()); err != nil {
				return r, fmt.Errorf("%s: %w", w.name, err)
			}
			r.Samples[w.name] = append(r.Samples[w.name], v)
		}
	}
	if s.more != nil {
		r.Pages = s.more()
	}
	r.Value, r.Reached = s.goal.reach(&r)
	return r, nil
}

// median is that of a figure of a way's samples.
func (r *result) median(way string, of func(sample) float64) float64 {
	var all []float64
	for _, s := range r.Samples[way] {
		all = append(all, of(s))
	}
	return median(all)
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	if n := len(all); n%2 == 0 {
		return (all[n/2-1] + all[n/2]) / 2
	}
	return all[len(all)/2]
}

func value(s sample) float64 { return s.Value }

func extra(name string) func(sample) float64 {
	return func(s sample) float64 { return s.Extra[name] }
}

// atLeast is the goal that the median of a way is at least so many times that of
// another.
func atLeast(way, reference string, least float64) goal {
	return goal{
		text: fmt.Sprintf("%s ≥ %.2f × %s", way, least, reference),
		reach: func(r *result) (float64, bool) {
			v := r.median(way, value) / r.median(reference, value)
			return v, v >= least
		},
	}
}

// atMost is the goal that a figure of a way is at most so much.
func atMost(way, name string, most float64) goal {
	return goal{
		text: fmt.Sprintf("%s: %s ≤ %g", way, name, most),
		reach: func(r *result) (float64, bool) {
			v := r.median(way, extra(name))
			return v, v <= most
		},
	}
}

// neverMore is the goal that a figure is at most so much in every sample of every way.
func neverMore(name string, most float64) goal {
	return goal{
		text: fmt.Sprintf("all: %s ≤ %g", name, most),
		reach: func(r *result) (float64, bool) {
			worst := 0.0
			for _, samples := range r.Samples {
				for i := range samples {
					worst = max(worst, samples[i].Extra[name])
				}
			}
			return worst, worst <= most
		},
	}
}

func (r *result) print(w io.Writer) {
	_, _ = fmt.Fprintf(w, "\n%s: %s\n", r.Name, r.What)
	first := r.median(r.Ways[0], value)
	for _, name := range r.Ways {
		v := r.median(name, value)
		_, _ = fmt.Fprintf(w, "  %-22s %12.0f  %6.2f ×   server %6.2f µs  client %6.2f µs", name, v, v/max(first, 1e-9),
			r.median(name, func(s sample) float64 { return s.ServerCPU }), r.median(name, func(s sample) float64 { return s.ClientCPU }))
		for _, e := range extras(r.Samples[name]) {
			_, _ = fmt.Fprintf(w, "  %s %.3g", e, r.median(name, extra(e)))
		}
		_, _ = fmt.Fprintln(w)
	}
	for i := range r.Pages {
		_, _ = fmt.Fprintln(w, r.Pages[i].String())
	}
	verdict := "reached"
	if !r.Reached {
		verdict = "NOT REACHED"
	}
	_, _ = fmt.Fprintf(w, "  goal: %s: %.3g: %s\n", r.Goal, r.Value, verdict)
}

func extras(samples []sample) []string {
	var names []string
	for _, s := range samples {
		for name := range s.Extra {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// stopwatch measures the time and the CPU time of a piece of work.
type stopwatch struct {
	l              *testbed
	begun          time.Time
	server, client time.Duration
}

func (l *testbed) start() stopwatch {
	l.profile.start()
	return stopwatch{l: l, server: l.serverCPU(), client: clientCPU(), begun: time.Now()}
}

// stop returns the sample of n messages.
func (s stopwatch) stop(n int) sample {
	took := time.Since(s.begun)
	s.l.profile.end()
	per := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(max(n, 1)) }
	return sample{
		Value:     float64(n) / took.Seconds(),
		ServerCPU: per(s.l.serverCPU() - s.server),
		ClientCPU: per(clientCPU() - s.client),
		Extra:     map[string]float64{},
	}
}

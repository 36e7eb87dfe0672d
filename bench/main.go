package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/postbag/postbag/internal/gcpacing"
)

func main() {
	defer gcpacing.Hold()() // as the postbag command does
	var o settings
	run := flag.String("run", ".", "scenarios whose names match")
	flag.IntVar(&o.rounds, "rounds", 3, "interleaved rounds")
	flag.BoolVar(&o.full, "full", false, "the long form")
	flag.StringVar(&o.out, "out", "results", "folder for results")
	flag.StringVar(&o.profiles, "profiles", "", "folder for a CPU profile of each sample, for go tool pprof; none are made without one")
	flag.StringVar(&o.data, "data", "", "folder in which the stores of 15-console are kept, filled once and used again; without one they are made for this run")
	flag.IntVar(&o.messages, "messages", 0, "how many messages the store of 15-console has (default 50,000,000 on PostgreSQL, 10,000,000 elsewhere)")
	flag.DurationVar(&o.span, "span", time.Minute, "how long a sample of 15-console takes")
	var others peers
	flag.Var(&others, "peer", "`name=command` of a program that measures another outbox (peers/README.md); may be repeated")
	flag.Parse()
	for i := range scenarios {
		if scenarios[i].name == peerScenario {
			scenarios[i].ways = append(scenarios[i].ways, others...)
		}
	}
	pattern, err := regexp.Compile(*run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: -run:", err)
		os.Exit(2)
	}
	if err := asRelay(); !errors.Is(err, errNotRelay) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench: relay:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err = measure(ctx, &o, pattern)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// settings are what the command line says.
type settings struct {
	rounds int
	full   bool
	out    string
	// profiles is the folder for CPU profiles; none are made if it is empty.
	profiles string
	// data, messages and span are for the console's scenarios.
	data     string
	messages int
	span     time.Duration
}

// measure runs the scenarios that match and writes what they found.
func measure(ctx context.Context, o *settings, pattern *regexp.Regexp) error {
	l, err := newTestbed(ctx, o)
	if err != nil {
		return err
	}
	defer l.close()
	l.printHead()
	var all []result
	for _, s := range scenarios {
		if !pattern.MatchString(s.name) || s.long && !o.full {
			continue
		}
		r, err := l.run(ctx, &s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		r.print(os.Stdout)
		all = append(all, r)
	}
	return write(o.out, all, l)
}

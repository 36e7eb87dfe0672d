package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Main is the program: it runs the harness as its arguments say, and is itself the program of relays and producers. Whoever has a
// store or a broker of their own calls it from a main of theirs, with their adapters among the others. It returns the exit code: 0
// if all promises were held, 1 if not, 2 if the run could not be made.
func Main(args []string, out, diag io.Writer, stores []Store, brokers []Broker) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if text := os.Getenv(envJob); IsRole() {
		if err := beRole(ctx, text, out, stores, brokers); err != nil {
			_, _ = fmt.Fprintln(diag, err) // there is nowhere else to say it
			return 2
		}
		return 0
	}
	o, err := options(args, diag, stores, brokers)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	o.Log = out
	var r *Report
	if err == nil {
		r, err = Run(ctx, o)
	}
	if err != nil {
		_, _ = fmt.Fprintln(diag, err)
		return 2
	}
	_, _ = fmt.Fprintln(out)
	if err := r.Text(out); err != nil {
		return 2
	}
	_, _ = fmt.Fprintf(out, "\nthe report, its plot and all logs are in %s\nagain: -pair %s -seed %d -for %v\n", o.Dir, r.Pair, r.Seed, r.For)
	if !r.OK() {
		return 1
	}
	return 0
}

// options reads the arguments.
func options(args []string, diag io.Writer, stores []Store, brokers []Broker) (o Options, err error) {
	f := flag.NewFlagSet("postbag-chaos", flag.ContinueOnError)
	f.SetOutput(diag)
	pair := f.String("pair", "postgresql-nats", "a store and a broker: "+strings.Join(pairs(stores, brokers), ", "))
	f.DurationVar(&o.For, "for", time.Minute, "how long faults come")
	f.Uint64Var(&o.Seed, "seed", 0, "draws the schedule and the load (default: another each time)")
	f.IntVar(&o.Relays, "relays", 2, "processes")
	f.IntVar(&o.Producers, "producers", 2, "processes")
	f.IntVar(&o.Rate, "rate", 1000, "messages a second of all producers")
	f.StringVar(&o.Dir, "dir", "", "an empty folder for logs, events and the report (default: a new one for temporary files)")
	only := f.String("only", "", "names of faults, with commas between them, if not all shall come")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.Only = strings.FieldsFunc(*only, func(c rune) bool { return c == ',' })
	for o.Seed == 0 {
		o.Seed = rand.Uint64N(1 << 32)
	}
	if o.Store, o.Broker = find(*pair, stores, brokers); o.Store == nil {
		return o, fmt.Errorf("chaos: there is no pair %q; write one of %s", *pair, strings.Join(pairs(stores, brokers), ", "))
	}
	if o.Relays < 1 || o.Producers < 1 || o.Rate < o.Producers || o.For < time.Second {
		return o, errors.New("chaos: a run needs a relay, a producer, a message a second of each, and a second at least; write larger numbers")
	}
	if o.Dir == "" {
		o.Dir, err = os.MkdirTemp("", "postbag-chaos-")
		return o, err
	}
	return o, os.MkdirAll(o.Dir, 0o755) //nolint:gosec // servers under other accounts look into it
}

func pairs(stores []Store, brokers []Broker) (out []string) {
	for _, s := range stores {
		for _, b := range brokers {
			out = append(out, s.Name()+"-"+b.Name())
		}
	}
	return out
}

func find(pair string, stores []Store, brokers []Broker) (Store, Broker) {
	for _, s := range stores {
		for _, b := range brokers {
			if s.Name()+"-"+b.Name() == pair {
				return s, b
			}
		}
	}
	return nil, nil
}

// beRole is what a process does that the harness started.
func beRole(ctx context.Context, text string, log io.Writer, stores []Store, brokers []Broker) error {
	var job Job
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		return fmt.Errorf("chaos: the job of this process: %w", err)
	}
	s, b := find(job.Store+"-"+job.Broker, stores, brokers)
	switch {
	case s == nil:
		return errors.New("chaos: this program lacks the adapters of its job; start it with the same ones in every role")
	case job.Role == servers:
		return beServer(ctx, &job, b)
	case job.Role == Relays:
		return beRelay(ctx, &job, s, b, log)
	default:
		return beProducer(ctx, &job, s, b)
	}
}

// IsRole says whether this process is one that a run started, and has to call Main before all else.
func IsRole() bool { return os.Getenv(envJob) != "" }

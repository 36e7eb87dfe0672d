package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main is the program: it runs the harness as its arguments say, and is itself the program of relays and producers. Anyone who has a
// store or a broker of their own calls it from a main of theirs, with their adapters among the others. It returns the exit code: 0
// if all promises were held, 1 if not, 2 if the run could not be made. A process of a run that gives up returns 3: a panic ends with 2.
func Main(args []string, out, diag io.Writer, stores []Store, brokers []Broker) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if text := os.Getenv(envJob); IsRole() {
		if err := beRole(ctx, text, out, stores, brokers); err != nil {
			_, _ = fmt.Fprintln(diag, err) // there is nowhere else to say it
			return roleFailed
		}
		return 0
	}
	o, err := options(args, out, stores, brokers)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
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
	_, _ = fmt.Fprintf(out, "\nthe report, its plot and all logs are in %s\nthe same schedule again: %s\n", o.Dir, o.again())
	if !r.OK {
		return 1
	}
	return 0
}

// The exit codes of a process of a run that gave up, as when servers are away while it starts, and of one that panicked.
const roleFailed, panicked = 3, 2

// beRole is what a process does that the harness started.
func beRole(ctx context.Context, text string, log io.Writer, stores []Store, brokers []Broker) error {
	var job Job
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		return fmt.Errorf("chaos: the job of this process: %w", err)
	}
	s, b, _ := find(job.Store+"-"+job.Broker, stores, brokers)
	switch {
	case s == nil:
		return errors.New("chaos: this program lacks the adapters of its job; start it with the same ones in every role")
	case job.Role == servers:
		return beServer(ctx, &job, b)
	case job.Role == Relays:
		return beRelay(ctx, &job, s, b, log)
	case job.Role == Consumers:
		return beConsumer(ctx, &job, s, b, log)
	case job.Inbox:
		return beSender(ctx, &job, b)
	default:
		return beProducer(ctx, &job, s, b)
	}
}

// IsRole says whether this process is one that a run started, and has to call Main before all else.
func IsRole() bool { return os.Getenv(envJob) != "" }

// Postbag-mutation makes small changes all over the engine core and the code of
// positions, one at a time, and says which of them the tests and the simulator do
// not notice: see integration/mutation.
//
//	postbag-mutation                    all changes
//	postbag-mutation -every 10          one in ten
//	postbag-mutation -only snapshots    of the packages whose name has this in it
//
// Its exit code is 1 if less than the least share is noticed, and 2 if it was called
// wrongly.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"strings"
	"time"

	"github.com/postbag/postbag/integration/mutation"
)

func main() {
	every := flag.Int("every", 1, "try one change in so many")
	only := flag.String("only", "", "packages whose path has this in it; empty: all")
	parallel := flag.Int("parallel", 2, "how many are tried at a time")
	patience := flag.Duration("patience", time.Minute, "how long the tests may take with a change")
	least := flag.Float64("least", 75, "the least share that must be noticed, in percent")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil || flag.NArg() > 0 || *every < 1 || *parallel < 1 {
		_, _ = fmt.Fprintln(os.Stderr, "postbag-mutation: called wrongly, or not in a checkout; see -help:", err)
		os.Exit(2)
	}
	say := func(format string, about ...any) { _, _ = fmt.Fprintf(os.Stdout, format, about...) }
	b := &mutation.Bench{Top: strings.TrimSpace(string(top)), Every: *every, Parallel: *parallel, Patience: *patience, Say: say}
	code := 0
	for _, t := range mutation.Targets() {
		if !strings.Contains(path.Join(t.Module, t.Package), *only) {
			continue
		}
		began := time.Now()
		s, err := b.Try(ctx, &t)
		if err != nil {
			say("FAILED: %v\n", err)
			code = 1
			continue
		}
		share := 100 * float64(s.Changes-len(s.Survivors)) / float64(max(s.Changes, 1))
		say("%s: %d changes, %d not noticed, %.1f %% noticed, %.0f s\n", s.Target, s.Changes, len(s.Survivors), share, time.Since(began).Seconds())
		if share < *least {
			code = 1
		}
	}
	stop()
	os.Exit(code)
}
